"""How fast documents are indexed with their keyphrases in Haystack.

python benchmarks/indexing.py [--docs 1000] [--output benchmarks/results]

In turn, on the same abstracts and one thread: `nlp.pipe` of the bundled pipeline, with
its keyphrases read; `KeyphraseExtractor` with the same pipeline; a Haystack pipeline of
it and a writer to the store in memory, with the network, with its products in 16 bits,
and without it; and YAKE. Medians of rounds, on documents all new, so that nobody gains
by remembering a text. Goes to indexing.json.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Callable, Dict, List, Optional, Sequence

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_core, single_thread  # noqa: E402

single_thread()

from benchmarks.data import shared_dir  # noqa: E402

ROUNDS = 5


def main() -> None:
    """Run the command line."""
    options = _parse()
    single_core()
    result = {"rows": measure(options.docs), "environment": environment()}
    print(json.dumps(result["rows"], indent=1))
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "indexing.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def measure(n: int) -> List[Dict[str, Any]]:
    """Documents a second of each way, and its time in times of that of `nlp.pipe`."""
    import spacy
    from haystack import Document, Pipeline
    from haystack.components.writers import DocumentWriter
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    from haystack_kp import KeyphraseExtractor
    from spacy_keyphrase.corpora import read_corpus

    path = shared_dir() / "data" / "acmdl" / "train.jsonl.gz"
    texts = [d.text for d, _ in zip(read_corpus(path), range((ROUNDS + 1) * n))]
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    extractor = KeyphraseExtractor()
    extractor.warm_up()

    def make_indexing(**settings: Any) -> Any:
        indexing = Pipeline()
        indexing.add_component("keyphrases", KeyphraseExtractor(**settings))
        indexing.add_component("write", DocumentWriter(InMemoryDocumentStore()))
        indexing.connect("keyphrases.documents", "write.documents")
        return indexing

    bundled = make_indexing()
    half = make_indexing(settings={"mixed_precision": True})
    statistical = make_indexing(settings={"method": "statistical"})

    def pipe(batch: Sequence[str]) -> None:
        for doc in nlp.pipe(batch, batch_size=64):
            [(k.text, k.score) for k in doc._.keyphrases]

    def component(batch: Sequence[str]) -> None:
        extractor.run([Document(content=text) for text in batch])

    def index(indexing: Any, batch: Sequence[str]) -> None:
        documents = [Document(content=text) for text in batch]
        indexing.run({"keyphrases": {"documents": documents}})

    ways: Dict[str, Callable[[Sequence[str]], None]] = {
        "nlp.pipe": pipe,
        "KeyphraseExtractor": component,
        "indexed": partial(index, bundled),
        "indexed, 16 bits": partial(index, half),
        "indexed, statistical": partial(index, statistical),
    }
    try:
        import yake
    except ImportError:
        print("YAKE is not installed and left out.")
    else:
        extract = yake.KeywordExtractor(top=10).extract_keywords
        ways["YAKE"] = lambda batch: [extract(text) for text in batch][:0]
    for run in ways.values():
        run(texts[:n])
    seconds: Dict[str, List[float]] = {name: [] for name in ways}
    for i in range(1, ROUNDS + 1):
        for name, run in ways.items():
            batch = texts[i * n : (i + 1) * n]
            started = time.perf_counter()
            run(batch)
            seconds[name].append(time.perf_counter() - started)
    return [
        {
            "system": name,
            "docs": n,
            "docs/s": round(n / median(own), 1),
            "time / nlp.pipe": _ratio(own, seconds["nlp.pipe"]),
        }
        for name, own in seconds.items()
    ]


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return round(median(a / b for a, b in zip(own, other)), 3)


def _parse(arguments: Optional[Sequence[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/indexing.py", description="Indexing with keyphrases."
    )
    parser.add_argument("--docs", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
