"""What 16 bits change: the keyphrases of the same pipes in 32 bits and in 16.

python benchmarks/bits.py [--encoder ENCODER] [--extractor PIPELINE]
    [--generator PIPELINE] [--limit N] [--output benchmarks/results]

ENCODER is a folder of an encoder of transformers, for EmbedRank; the pipelines are
trained ones, an extractor over an encoder and a generator. The pipe `keyphrase` is
always there. Of each document the first ten keyphrases are compared, and of all
documents F1@5 and F1@10, with a paired bootstrap over documents. Goes to bits.json.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_thread  # noqa: E402

single_thread()

import spacy  # noqa: E402
from spacy.language import Language  # noqa: E402

from benchmarks.data import Corpus, read_corpus  # noqa: E402
from benchmarks.report import write_report  # noqa: E402
from spacy_keyphrase.evaluation import compare, score  # noqa: E402

DATASETS = ("inspec/test", "semeval2017/all", "duc2001/test")
OF_GENERATORS = ("acmdl/valid",)
CUTOFFS = (5, 10)


class System(NamedTuple):
    """A pipe in both precisions.

    source (str): A factory of a blank pipeline, or the folder of a pipeline.
    whole (Mapping[str, Any]): Its settings in 32 bits.
    half (Mapping[str, Any]): Its settings in 16 bits.
    datasets (Sequence[str]): What it reads.
    """

    source: str
    whole: Mapping[str, Any]
    half: Mapping[str, Any]
    datasets: Sequence[str] = DATASETS

    def load(self, settings: Mapping[str, Any]) -> Language:
        """The pipeline with some settings."""
        if Path(self.source).is_dir():
            return spacy.load(self.source, config=dict(settings))
        nlp = spacy.blank("en")
        nlp.add_pipe(self.source, config=dict(settings))
        return nlp


def make_systems(options: argparse.Namespace) -> Dict[str, System]:
    """Those for which there is what they read with."""
    systems = {"keyphrase": System("keyphrase", {}, {"mixed_precision": True})}
    if options.encoder:
        settings = []
        for dtype in ("float32", "bfloat16"):
            ranker = {"@keyphrase_rankers": "spacy_keyphrase.EmbedRank.v1"}
            ranker.update({"model": options.encoder, "dtype": dtype})
            settings.append({"ranker": ranker})
        systems["EmbedRank"] = System("keyphrase_ranker", *settings)
    if options.extractor:
        name = "components.keyphrase_extractor.model.tok2vec.mixed_precision"
        systems["extractor over an encoder"] = System(
            options.extractor, {name: False}, {name: True}
        )
    if options.generator:
        name = "components.keyphrase_generator.model.mixed_precision"
        systems["generator"] = System(
            options.generator, {name: False}, {name: True}, OF_GENERATORS
        )
    return systems


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / "bits.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    for name, system in make_systems(options).items():
        pipelines = system.load(system.whole), system.load(system.half)
        for dataset in system.datasets:
            corpus = read_corpus(dataset, options.limit)
            row = {"system": name, "dataset": dataset, **measure(pipelines, corpus)}
            print(row, flush=True)
            rows = [
                old
                for old in result.get("rows", [])
                if (old["system"], old["dataset"]) != (name, dataset)
            ]
            result = {"rows": [*rows, row], "environment": environment()}
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")
    if options.output == HERE / "results":
        write_report(options.output, HERE / "RESULTS.md")


def measure(pipelines: Tuple[Language, Language], corpus: Corpus) -> Dict[str, Any]:
    """In per cent: F1 in 32 bits, what 16 bits change of it, and the share of documents
    whose first ten keyphrases are the same, and in the same order."""
    whole, half = (
        [[k.text for k in doc._.keyphrases] for doc in nlp.pipe(corpus.texts)]
        for nlp in pipelines
    )
    first, then = (
        score(found, corpus.gold, corpus.texts, k=CUTOFFS) for found in (whole, half)
    )
    row: Dict[str, Any] = {"docs": len(corpus)}
    for k in CUTOFFS:
        found = compare(first, then, f"all_f1@{k}")
        row[f"f1@{k}"] = _percent(first[f"all_f1@{k}"])
        row[f"f1@{k} change"] = _percent(found.difference)
        row[f"f1@{k} change ci"] = [_percent(found.low), _percent(found.high)]
    pairs = [(a[:10], b[:10]) for a, b in zip(whole, half)]
    row["same"] = _percent(sum(set(a) == set(b) for a, b in pairs) / len(pairs))
    row["same order"] = _percent(sum(a == b for a, b in pairs) / len(pairs))
    return row


def _percent(value: Any) -> float:
    return round(100 * (value or 0.0), 2)


def _parse(arguments: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/bits.py", description="What 16 bits change."
    )
    for name in ("--encoder", "--extractor", "--generator"):
        parser.add_argument(name)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
