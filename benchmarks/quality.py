"""How good: every system on every dataset, by one evaluator."""

import time
from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

from spacy_keyphrase.evaluation import (
    Scores,
    compare,
    confidence_interval,
    get_preset,
    score,
)

from .data import Corpus
from .peers import Phrases, Unavailable
from .systems import System, make_system

BASELINE = "yake"
METRIC = "all_f1@10"
CUTOFFS = (5, 10, 15, 50)

Row = Dict[str, Any]
Say = Callable[[str], None]


def run_quality(
    systems: Sequence[str], corpora: Sequence[Corpus], say: Say
) -> Iterator[List[Row]]:
    """Evaluate systems, one after the other.

    systems (Sequence[str]): Names of systems.
    corpora (Sequence[Corpus]): The datasets.
    say (Callable[[str], None]): Called with each line of progress.
    YIELDS (List[Row]): The rows of one system on one dataset.
    """
    baseline: Dict[Tuple[str, str], Scores] = {}
    # First, so that the others can be compared with it.
    for name in sorted(systems, key=lambda name: name != BASELINE):
        system = make_system(name)
        try:
            system.load()
        except Unavailable as reason:
            say(f"{name}: skipped: {reason}")
            continue
        for corpus in corpora:
            if not system.supports(corpus.lang):
                continue
            rows: List[Row] = []
            for row, scores in evaluate(name, system, corpus):
                key = corpus.name, row["stems"]
                if name == BASELINE:
                    baseline[key] = scores
                elif key in baseline:
                    row["difference"] = _difference(baseline[key], scores)
                rows.append(row)
                say(_line(row))
            yield rows


def evaluate(name: str, system: System, corpus: Corpus) -> Iterator[Tuple[Row, Scores]]:
    """Run a system on a dataset and score it.

    A language other than English is scored twice: with its own stems, and with
    Porter's, which other evaluators use throughout.

    name (str): Name of the system.
    system (System): The system, loaded.
    corpus (Corpus): The dataset.
    YIELDS (Tuple[Row, Scores]): The row of a table, and what it is made of.
    """
    start = time.perf_counter()
    predictions = system.extract(corpus.texts, corpus.lang)
    seconds = time.perf_counter() - start
    for stems in dict.fromkeys([corpus.lang, "en"]):
        values, scores = measure(predictions, corpus, stems)
        row = {
            "system": name,
            "dataset": corpus.name,
            "lang": corpus.lang,
            "stems": stems,
            "docs": len(corpus),
            **values,
            "predicted": sum(map(len, predictions)) / max(1, len(corpus)),
            "seconds": seconds,
        }
        yield row, scores


def measure(
    predictions: Sequence[Phrases], corpus: Corpus, stems: str
) -> Tuple[Row, Scores]:
    """The metrics of one row, in per cent.

    predictions (Sequence[Phrases]): Phrases of each document, best first.
    corpus (Corpus): Texts and gold keyphrases.
    stems (str): Language of the stems that decide equality.
    RETURNS (Tuple[Row, Scores]): The row and the macro scores.
    """

    def scored(**changes: Any) -> Scores:
        preset = replace(get_preset("default"), **changes)
        given = (predictions, corpus.gold, corpus.texts)
        return score(*given, preset=preset, k=CUTOFFS, lang=stems)

    # A document without any gold at all counts as 0, one without present gold is
    # not counted among the present.
    every = scored(zero_gold="include")
    present = scored(zero_gold="skip")
    micro = scored(average="micro", denominator="soft", zero_gold="include")
    interval = confidence_interval(every, METRIC)
    row: Row = {
        **{f"f1@{k}": _percent(every[f"all_f1@{k}"]) for k in (5, 10)},
        "f1@10_ci": [_percent(interval.low), _percent(interval.high)],
        **{f"present_f1@{k}": _percent(present[f"present_f1@{k}"]) for k in (5, 10)},
        **{f"micro_f1@{k}": _percent(micro[f"all_f1@{k}"]) for k in (5, 10, 15)},
        "r@50": _percent(every["all_r@50"]),
    }
    return row, every


def _difference(baseline: Scores, scores: Scores) -> Row:
    found = compare(baseline, scores, METRIC)
    return {
        "to": BASELINE,
        "f1@10": _percent(found.difference),
        "ci": [_percent(found.low), _percent(found.high)],
        "p": found.p_value,
    }


def _percent(value: Any) -> float:
    return round(100 * (value or 0.0), 2)


def _line(row: Row) -> str:
    low, high = row["f1@10_ci"]
    return (
        f"{row['system']:22} {row['dataset']:20} {row['stems']}  "
        f"F1@5 {row['f1@5']:5.2f}  F1@10 {row['f1@10']:5.2f} [{low:.1f}, {high:.1f}]  "
        f"R@50 {row['r@50']:5.2f}  {row['seconds']:.1f} s"
    )
