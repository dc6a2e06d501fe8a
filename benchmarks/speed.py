"""How fast: systems in turn on the same documents, on one core."""

import gc
import time
from statistics import median
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

from .data import Corpus
from .peers import Unavailable
from .process import in_fresh_process
from .systems import System, make_system

BASELINE = "yake"
TAGGER = "tagger"
SETS = {"inspec/test": 100, "duc2001/test": 30}
MEMORY = ("tokenizer", "tagger", "yake", "ours-blank", "ours-tagged")

Row = Dict[str, Any]
Say = Callable[[str], None]
Times = Dict[str, List[Tuple[float, float]]]


def load_systems(names: Iterable[str], say: Say) -> Dict[str, System]:
    """The systems that can run here; the others are named with the reason."""
    loaded: Dict[str, System] = {}
    for name in names:
        system = make_system(name)
        try:
            system.load()
        except Unavailable as reason:
            say(f"{name}: skipped: {reason}")
        else:
            loaded[name] = system
    return loaded


def timed(system: System, texts: Sequence[str]) -> Tuple[float, float]:
    """Wall-clock and processor seconds of one pass over the texts."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    system.extract(texts)
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    # A coarse clock may not have moved.
    return max(seconds[0], 1e-9), max(seconds[1], 1e-9)


def interleave(systems: Dict[str, System], texts: Sequence[str], passes: int) -> Times:
    """Time systems in turn, pass after pass, after one pass to warm up.

    systems (Dict[str, System]): Loaded systems by name.
    texts (Sequence[str]): The documents.
    passes (int): Passes that count.
    RETURNS (Times): For each system (wall, processor) seconds of each pass.
    """
    times: Times = {name: [] for name in systems}
    for i in range(passes + 1):
        for name, system in systems.items():
            seconds = timed(system, texts)
            if i:
                times[name].append(seconds)
    return times


def run_speed(
    systems: Dict[str, System], corpus: Corpus, passes: int, say: Say
) -> Tuple[List[Row], List[Row]]:
    """The speed of systems on one set, and what rankers add to the tagger.

    systems (Dict[str, System]): Loaded systems by name.
    corpus (Corpus): The documents.
    passes (int): Passes that count, three or more.
    say (Callable[[str], None]): Called with each line of progress.
    RETURNS (Tuple[List[Row], List[Row]]): Rows of speed, rows of overhead.
    """
    times = interleave(systems, corpus.texts, passes)
    words = sum(len(text.split()) for text in corpus.texts)
    rows: List[Row] = []
    for name, passed in times.items():
        walls, cpus = [wall for wall, _ in passed], [cpu for _, cpu in passed]
        row = {
            "system": name,
            "dataset": corpus.name,
            "docs": len(corpus),
            "words": words,
            "passes": passes,
            "docs/s": len(corpus) / median(walls),
            "docs/s_range": [len(corpus) / max(walls), len(corpus) / min(walls)],
            "words/s": words / median(walls),
            "docs/cpu_s": len(corpus) / median(cpus),
            "ratio": _ratio(times, BASELINE, name, 0),
            "ratio_cpu": _ratio(times, BASELINE, name, 1),
        }
        rows.append(row)
        say(f"{name:22} {corpus.name:14} {row['docs/s']:8.1f} docs/s")
    overheads: List[Row] = []
    if TAGGER in times:
        for name in times:
            if name.startswith(("ours-", "ptr-")) and name != "ours-blank":
                row = {"system": name, "dataset": corpus.name}
                for key, which in (("percent", 0), ("percent_cpu", 1)):
                    row[key] = 100 * (_ratio(times, name, TAGGER, which) - 1)
                overheads.append(row)
    return rows, overheads


def _ratio(times: Times, above: str, below: str, which: int) -> Any:
    """Median over passes of one system's time in that of another."""
    if above not in times:
        return None
    pairs = zip(times[above], times[below], strict=True)
    return median(a[which] / b[which] for a, b in pairs)


def footprint(name: str, dataset: str, limit: int) -> Row:
    """Start-up time and peak memory of one system in a fresh process."""
    return in_fresh_process("footprint", name, dataset, str(limit))


def memory(name: str, say: Say) -> Row:
    """Memory of one system over many short documents, in a fresh process."""
    row = in_fresh_process("memory", name)
    marks = "  ".join(f"{n}: {mb} MB" for n, mb in row["rss_mb"])
    say(f"{name:22} {marks}")
    return row
