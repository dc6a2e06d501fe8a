"""How fast: systems in turn on the same documents, on one core."""

import gc
import time
from functools import partial
from statistics import median
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

from .data import Corpus
from .peers import Phrases, Unavailable
from .process import in_fresh_process
from .systems import System, Tagged, make_system, read_keyphrases

BASELINE = "yake"
SETS = {"inspec/test": 100, "duc2001/test": 30}
MEMORY = ("tokenizer", "tagger", "yake", "ours-blank", "ours-tagged")

Row = Dict[str, Any]
Say = Callable[[str], None]
Seconds = Tuple[float, float]  # wall-clock, processor
Times = Dict[str, List[Seconds]]


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


def timed(work: Callable[[], Any]) -> Seconds:
    """Wall-clock and processor seconds that something takes."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    # A coarse clock may not have moved.
    return max(seconds[0], 1e-9), max(seconds[1], 1e-9)


def interleave(systems: Dict[str, System], texts: Sequence[str], passes: int) -> Times:
    """Time systems in turn, pass after pass.

    systems (Dict[str, System]): Loaded systems by name.
    texts (Sequence[str]): The documents.
    passes (int): Passes after the first, in which the texts are new to a system.
    RETURNS (Times): For each system the seconds of each pass.
    """
    for system in systems.values():
        system.extract(["Start what is made at the first document."])
    times: Times = {name: [] for name in systems}
    for _ in range(passes + 1):
        for name, system in systems.items():
            times[name].append(timed(partial(system.extract, texts)))
    return times


def run_speed(
    systems: Dict[str, System], corpus: Corpus, passes: int, say: Say
) -> List[Row]:
    """The speed of systems on one set.

    systems (Dict[str, System]): Loaded systems by name.
    corpus (Corpus): The documents.
    passes (int): Passes that count, after one to warm up.
    say (Callable[[str], None]): Called with each line of progress.
    RETURNS (List[Row]): One row a system.
    """
    all_times = interleave(systems, corpus.texts, passes)
    first = {name: passed[:1] for name, passed in all_times.items()}
    times = {name: passed[1:] for name, passed in all_times.items()}
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
            "ratio_first_cpu": _ratio(first, BASELINE, name, 1),
        }
        rows.append(row)
        say(f"{name:22} {corpus.name:14} {row['docs/s']:8.1f} docs/s")
    return rows


def run_overhead(
    systems: Dict[str, System], corpus: Corpus, passes: int, say: Say
) -> List[Row]:
    """What our rankers add to the time of the tagger that they need.

    Each ranker runs on docs that are tagged already: the difference of the times
    of two whole pipelines would drown in their noise.

    systems (Dict[str, System]): Loaded systems by name; only ours with a tagger run.
    corpus (Corpus): The documents.
    passes (int): Passes that count, after one to warm up.
    say (Callable[[str], None]): Called with each line of progress.
    RETURNS (List[Row]): One row a system, in per cent.
    """
    tagger = Tagged(None)
    tagger.load()
    pipes = {
        name: tagger.nlp.create_pipe(system.pipe, config=system.config())
        for name, system in systems.items()
        if isinstance(system, Tagged) and system.pipe
    }
    shares: Dict[str, List[Seconds]] = {name: [] for name in pipes}
    for i in range(passes + 1 if pipes else 0):
        docs: List[Any] = []
        tagging = timed(partial(_tag, tagger, corpus.texts, docs))
        for name, pipe in pipes.items():
            copies = [doc.copy() for doc in docs]
            spent = timed(partial(_rank, pipe, copies))
            if i:
                shares[name].append((spent[0] / tagging[0], spent[1] / tagging[1]))
    rows: List[Row] = []
    for name, passed in shares.items():
        wall, cpu = (100 * median(values) for values in zip(*passed, strict=True))
        rows.append(
            {
                "system": name,
                "dataset": corpus.name,
                "percent": wall,
                "percent_cpu": cpu,
            }
        )
        say(f"{name:22} {corpus.name:14} {cpu:8.1f} % over the tagger")
    return rows


def _tag(tagger: Tagged, texts: Sequence[str], docs: List[Any]) -> None:
    docs.extend(tagger.nlp.pipe(texts))


def _rank(pipe: Any, docs: List[Any]) -> List[Phrases]:
    return read_keyphrases(pipe.pipe(docs))


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
