"""``spacy keyphrase evaluate``: precision, recall and F1 of a system."""

import json
from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional, Tuple

import typer

from ..evaluation import Scores, confidence_interval, get_preset
from ..evaluation.matching import KINDS
from ..evaluation.metrics import K
from ._corpora import NamedCorpus, find_corpora
from ._options import (
    BatchSize,
    ConfigFile,
    GpuId,
    InputFormat,
    Lang,
    Limit,
    MinScore,
    NProcess,
    OnError,
    OnErrorOption,
    OutputFile,
    Pipeline,
    Report,
    TopN,
    check_input,
    check_path,
)
from ._output import open_output
from ._pipeline import load_extractor, use_gpu
from ._predicted import Reading, check_predictions, predict
from ._run import command
from ._scoring import check_preset, parse_ks
from ._table import format_table

HEADER = ("corpus", "docs", "gold", "kind", "k", "P", "R", "F1", "95 % CI")
ALIGNED = "lrrlrrrrr"


@command
def evaluate_cli(
    gold: Annotated[
        List[Path],
        typer.Argument(
            metavar="GOLD",
            help="Corpora with gold keyphrases; a folder of JSON lines stands for its "
            "files.",
            callback=check_input,
            show_default=False,
        ),
    ],
    predictions: Annotated[
        Optional[Path],
        typer.Option(
            "--predictions",
            help="Keyphrases of another run, as extract writes them with --format "
            "jsonl, instead of running a pipeline.",
            callback=check_path,
            show_default=False,
        ),
    ] = None,
    pipeline: Pipeline = None,
    config: ConfigFile = None,
    preset: Annotated[
        str,
        typer.Option("--preset", help="Evaluation convention.", callback=check_preset),
    ] = "default",
    cutoffs: Annotated[
        str,
        typer.Option(
            "--k", help="Cutoffs: numbers, M (all predictions), O (as many as gold)."
        ),
    ] = "5,10,M",
    kinds: Annotated[
        str, typer.Option("--kind", help="Which keyphrases: all, present, absent.")
    ] = "all",
    split: Annotated[
        str,
        typer.Option("--split", help="Only files of this name, such as test."),
    ] = "",
    lang: Lang = None,
    top_n: TopN = None,
    min_score: MinScore = None,
    format: Annotated[
        Report, typer.Option("--format", help="A table, or one JSON object a corpus.")
    ] = Report.table,
    output: OutputFile = None,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    n_process: NProcess = 1,
    batch_size: BatchSize = 64,
    gpu_id: GpuId = -1,
) -> None:
    """
    Score a pipeline, or the keyphrases of another run, against gold keyphrases:
    precision, recall and F1 in percent, with a 95 % bootstrap confidence interval
    of F1. One preset holds for the whole table.
    """
    use_gpu(gpu_id, n_process)
    ks = parse_ks(cutoffs)
    wanted = parse_kinds(kinds)
    corpora = find_corpora(gold, tuple(filter(None, split.split(","))))
    check_predictions(predictions, bool(pipeline or config), len(corpora))
    reading = Reading(input_format, lang, on_error, limit)
    if top_n is None:
        top_n = max([10, *(k for k in ks if isinstance(k, int))])
    rows: List[Tuple[str, ...]] = []
    systems: Dict[str, None] = {}
    with open_output(output) as write:
        try:
            for corpus in corpora:
                predicted = predict(
                    corpus,
                    preset,
                    reading,
                    predictions,
                    lambda lang: load_extractor(
                        pipeline, config, lang, top_n, min_score
                    ),
                    n_process=n_process,
                    batch_size=batch_size,
                )
                predicted.gold.check(str(corpus.path))
                systems[predicted.system] = None
                scores = predicted.gold.score(predicted.found, ks, predicted.lang)
                if format is Report.jsonl:
                    write(to_line(corpus, scores, ks, predicted.system, predicted.lang))
                else:
                    rows += to_rows(corpus, scores, ks, wanted)
        finally:
            if rows:
                average = get_preset(preset).average
                about = f"preset {preset}, {average}; system {', '.join(systems)}"
                write(format_table(HEADER, rows, ALIGNED) + about + "\n")


def parse_kinds(text: str) -> List[str]:
    """Kinds of keyphrases between commas."""
    wanted = text.replace(" ", "").split(",")
    for kind in wanted:
        if kind not in KINDS:
            raise typer.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}.")
    return wanted


def to_rows(
    corpus: NamedCorpus, scores: Scores, ks: List[K], kinds: List[str]
) -> List[Tuple[str, ...]]:
    """A row of the table for each kind and cutoff."""
    rows = []
    for kind in kinds:
        gold = scores[f"{kind}_gold"]
        for k in ks:
            values = [scores[f"{kind}_{metric}@{k}"] for metric in ("p", "r", "f1")]
            interval = "-"
            if values[2] is not None:
                bounds = confidence_interval(scores, f"{kind}_f1@{k}")
                interval = f"{percent(bounds.low)}-{percent(bounds.high)}"
            rows.append(
                (
                    corpus.name,
                    str(scores.n_docs),
                    "-" if gold is None else f"{gold:.2f}",
                    kind,
                    str(k),
                    *map(percent, values),
                    interval,
                )
            )
    return rows


def percent(value: Optional[float]) -> str:
    """A score in percent; "-" where it is undefined."""
    return "-" if value is None else f"{100 * value:.2f}"


def to_line(
    corpus: NamedCorpus, scores: Scores, ks: List[K], system: str, lang: str
) -> str:
    """All the scores of a corpus as one line of JSON."""
    intervals: Dict[str, Any] = {}
    for kind in KINDS:
        for metric in ("p", "r", "f1"):
            for k in ks:
                name = f"{kind}_{metric}@{k}"
                if scores[name] is not None:
                    bounds = confidence_interval(scores, name)
                    intervals[name] = [bounds.low, bounds.high]
    record = {
        "corpus": corpus.name,
        "system": system,
        "lang": lang,
        **scores.to_dict(),
        "intervals": intervals,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"
