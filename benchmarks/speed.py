"""How fast: systems in turn on the same documents, on one core."""

import gc
import time
from functools import partial
from statistics import median
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

import spacy
from spacy.util import minibatch

from spacy_keyphrase.models.slices import represent

from .data import Corpus
from .peers import Phrases, Unavailable
from .process import in_fresh_process
from .systems import System, Tagged, make_system, read_keyphrases

BASELINE = "yake"
# Documents in one pass.
SETS = {"inspec/test": 80, "duc2001/test": 50}
MEMORY = ("tokenizer", "tagger", "yake", "ours", "ours-statistical", "ours-tagged")

# Documents in a batch, as of `nlp.pipe`, and how often the faster is looked for.
BATCH, REPEATS = 64, 3

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


def interleave(systems: Dict[str, System], passes: Sequence[Sequence[str]]) -> Times:
    """Time systems in turn, pass after pass, each pass on other documents: what a
    system remembers of a text must not help it.

    systems (Dict[str, System]): Loaded systems by name.
    passes (Sequence[Sequence[str]]): The documents of each pass; the first only warms
        up.
    RETURNS (Times): For each system the seconds of each later pass.
    """
    times: Times = {name: [] for name in systems}
    for i, texts in enumerate(passes):
        for name, system in systems.items():
            seconds = timed(partial(system.extract, texts))
            if i:
                times[name].append(seconds)
    return times


def split_passes(corpus: Corpus, passes: int, size: int) -> List[List[str]]:
    """As many passes and one to warm up, of so many documents each, all different."""
    if len(corpus) < (passes + 1) * size:
        size = len(corpus) // (passes + 1)
    if not size:
        raise ValueError(f"{corpus.name} has too few documents for {passes} passes.")
    return [corpus.texts[i * size : (i + 1) * size] for i in range(passes + 1)]


def run_speed(
    systems: Dict[str, System], corpus: Corpus, passes: int, size: int, say: Say
) -> List[Row]:
    """The speed of systems on one set.

    systems (Dict[str, System]): Loaded systems by name.
    corpus (Corpus): The documents.
    passes (int): Passes that count, after one to warm up.
    size (int): Documents in a pass.
    say (Callable[[str], None]): Called with each line of progress.
    RETURNS (List[Row]): One row a system.
    """
    texts = split_passes(corpus, passes, size)
    docs = len(texts[0])
    words = [sum(len(text.split()) for text in of_pass) for of_pass in texts[1:]]
    times = interleave(systems, texts)
    rows: List[Row] = []
    for name, passed in times.items():
        walls, cpus = [wall for wall, _ in passed], [cpu for _, cpu in passed]
        row = {
            "system": name,
            "dataset": corpus.name,
            "docs": docs,
            "words": sum(words),
            "passes": passes,
            "docs/s": docs / median(walls),
            "docs/s_range": [docs / max(walls), docs / min(walls)],
            "words/s": median(n / wall for n, wall in zip(words, walls, strict=True)),
            "docs/cpu_s": docs / median(cpus),
            "ratio": _ratio(times, BASELINE, name, 0),
            "ratio_cpu": _ratio(times, BASELINE, name, 1),
        }
        rows.append(row)
        say(f"{name:22} {corpus.name:14} {row['docs/s']:8.1f} docs/s")
    return rows


def run_overhead(
    systems: Dict[str, System], corpus: Corpus, passes: int, size: int, say: Say
) -> List[Row]:
    """What our rankers add to the time of the tagger that they need.

    Each ranker runs on docs that are tagged already: the difference of the times
    of two whole pipelines would drown in their noise.

    systems (Dict[str, System]): Loaded systems by name; only ours with a tagger run.
    corpus (Corpus): The documents.
    passes (int): Passes that count, after one to warm up.
    size (int): Documents in a pass, other ones each time.
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
    for i, texts in enumerate(split_passes(corpus, passes, size) if pipes else ()):
        docs: List[Any] = []
        tagging = timed(partial(_tag, tagger, texts, docs))
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


def run_network(
    systems: Dict[str, System], corpus: Corpus, passes: int, size: int, say: Say
) -> List[Row]:
    """What the whole pipe of the bundled network takes, in times of its token encoder
    alone on the same docs, which are tokenised before: as thinc predicts, and layer by
    layer as the pipe does.

    systems (Dict[str, System]): Loaded systems by name; only `ours` runs.
    corpus (Corpus): The documents.
    passes (int): Passes that count, after one to warm up.
    size (int): Documents in a pass, other ones each time.
    say (Callable[[str], None]): Called with each line of progress.
    RETURNS (List[Row]): One row, or none.
    """
    if "ours" not in systems:
        return []
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("keyphrase")
    encoder = pipe.model.get_ref("tok2vec")
    ratios: List[Seconds] = []
    ratios_by_layer: List[float] = []
    for i, texts in enumerate(split_passes(corpus, passes, size)):
        docs = list(nlp.tokenizer.pipe(texts))
        batches = list(minibatch(docs, BATCH))
        whole, alone, by_layer = (
            # The faster of a few: what else the machine does only ever adds.
            _fastest([timed(run) for _ in range(REPEATS)])
            for run in (
                partial(_rank, pipe, docs),
                partial(_encode, encoder.predict, batches),
                partial(_encode, partial(represent, encoder), batches),
            )
        )
        if i:
            ratios.append((whole[0] / alone[0], whole[1] / alone[1]))
            ratios_by_layer.append(whole[1] / by_layer[1])
    wall, cpu = (median(values) for values in zip(*ratios, strict=True))
    row = {
        "system": "ours",
        "dataset": corpus.name,
        "ratio": wall,
        "ratio_cpu": cpu,
        "ratio_by_layer": median(ratios_by_layer),
    }
    say(f"{'ours':22} {corpus.name:14} {cpu:8.2f} times its token encoder")
    return [row]


def _encode(predict: Callable[[Any], Any], batches: List[List[Any]]) -> None:
    for batch in batches:
        predict(batch)


def _fastest(times: List[Seconds]) -> Seconds:
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


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
