"""Quality and speed of this package and its peers.

python benchmarks/run.py quality|speed|long|prompts|all|report [--systems yake,ours]
    [--datasets inspec/test,duc2001/test] [--limit N] [--output benchmarks/results]
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_core, single_thread  # noqa: E402

single_thread()

from benchmarks import length, speed  # noqa: E402
from benchmarks.data import DATASETS, read_corpus  # noqa: E402
from benchmarks.quality import run_quality  # noqa: E402
from benchmarks.report import write_report  # noqa: E402
from benchmarks.systems import PIPELINES, SYSTEMS, make_system  # noqa: E402

RESULTS = HERE / "results"


def main(arguments: Optional[List[str]] = None) -> None:
    """Run the command line.

    arguments (Optional[List[str]]): The arguments; None takes the process's own.
    """
    options = _parse(arguments)
    for name in options.systems or ():
        make_system(name)  # an unknown name is said before anything runs
    commands: Dict[str, Callable[[argparse.Namespace], None]]
    commands = {
        "quality": _quality,
        "speed": _speed,
        "long": _long,
        "prompts": _prompts,
    }
    for name, command in commands.items():
        if options.command in (name, "all"):
            command(options)
    if options.output:
        inside = options.output.resolve() == RESULTS
        path = (HERE if inside else options.output) / "RESULTS.md"
        write_report(options.output, path)
        print(f"Report: {path}")


def _parse(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run.py", description="Quality and speed against the peers."
    )
    parser.add_argument(
        "command",
        choices=["quality", "speed", "long", "prompts", "all", "report"],
    )
    parser.add_argument("--systems", type=_names, help="comma-separated; all if absent")
    parser.add_argument("--datasets", type=_names, help="such as inspec/test,taln/fr")
    parser.add_argument("--limit", type=int, help="the first so many documents")
    parser.add_argument("--passes", type=int, default=5, help="timed passes (speed)")
    parser.add_argument(
        "--output",
        type=Path,
        help="folder of the results; benchmarks/results, or with --limit none",
    )
    options = parser.parse_args(arguments)
    if options.output is None and options.limit is None:
        options.output = RESULTS
    if options.passes < 3:
        parser.error("--passes is 3 or more")
    return options


def _names(text: str) -> List[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _quality(options: argparse.Namespace) -> None:
    corpora = [
        read_corpus(name, options.limit or DATASETS.get(name))
        for name in options.datasets or DATASETS
    ]
    for rows in run_quality(options.systems or list(SYSTEMS), corpora, _say):
        # After every dataset, so that a later failure loses nothing.
        _save(options.output, "quality", rows=rows)


def _speed(options: argparse.Namespace) -> None:
    single_core()
    systems = speed.load_systems(options.systems or [*SYSTEMS, *PIPELINES], _say)
    for dataset in options.datasets or speed.SETS:
        corpus = read_corpus(dataset, options.limit)
        given = corpus, options.passes, speed.SETS.get(dataset, 50), _say
        rows = speed.run_speed(systems, *given)
        overhead = speed.run_overhead(systems, *given)
        network = speed.run_network(systems, *given)
        for row in rows:
            row.update(speed.footprint(row["system"], dataset, row["docs"]))
        _save(options.output, "speed", rows=rows, overhead=overhead, network=network)
    if not options.limit:
        memory = [speed.memory(name, _say) for name in speed.MEMORY if name in systems]
        _save(options.output, "speed", memory=memory)


def _long(options: argparse.Namespace) -> None:
    single_core()
    systems = speed.load_systems(options.systems or length.SYSTEMS, _say)
    texts = length.synthetic_texts()
    rows = list(length.run_length(systems, texts, _say))
    _save(options.output, "long", rows=rows)


def _prompts(options: argparse.Namespace) -> None:
    try:
        from benchmarks.prompts import run_prompts
    except ImportError as reason:
        _say(f"prompts: skipped: {reason}")
        return
    single_core()
    for row in run_prompts(options.limit or 50, options.passes, _say):
        _save(options.output, "prompts", rows=[row])


def _say(line: str) -> None:
    print(line, flush=True)


_KEY = ("system", "dataset", "stems")


def _save(folder: Optional[Path], name: str, **parts: List[Dict[str, Any]]) -> None:
    """Add rows to a results file; a row of the same system and dataset is replaced."""
    if folder is None:
        return
    path = folder / f"{name}.json"
    result = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    result["environment"] = environment()
    for part, rows in parts.items():
        merged = {_key(row): row for row in result.get(part, [])}
        merged.update({_key(row): row for row in rows})
        result[part] = list(merged.values())
    folder.mkdir(parents=True, exist_ok=True)
    written = json.dumps(result, indent=1, ensure_ascii=False)
    path.write_text(written + "\n", encoding="utf8")


def _key(row: Dict[str, Any]) -> "tuple[Any, ...]":
    return tuple(row.get(name) for name in _KEY)


if __name__ == "__main__":
    main()
