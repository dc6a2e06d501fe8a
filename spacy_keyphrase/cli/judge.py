"""``spacy keyphrase judge``: what a language model thinks of keyphrases."""

import json
from pathlib import Path
from typing import Annotated, Any, List, Optional, Sequence

import typer
from spacy.util import load_config, registry

from ..evaluation import Judgement, judge
from ..selectors.questions import Answer, Asked, Question
from ._corpora import find_corpora
from ._options import (
    BatchSize,
    ConfigFile,
    GpuId,
    InputFormat,
    Lang,
    Limit,
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
from ._progress import Progress
from ._run import command, say
from ._table import format_table

HEADER = ("corpus", "docs", "phrases", "share", "%", "95 % CI")
ALIGNED = "lrrlrr"
# What the shares are called.
NAMES = {
    "relevant": "relevant",
    "universe": "known labels",
    "rel": "both (Rel)",
    "gold": "gold",
    "agreement": "agreement with gold",
    "kappa": "kappa",
}


@command
def judge_cli(
    corpora: Annotated[
        List[Path],
        typer.Argument(
            metavar="CORPUS",
            help="Corpora; a folder of JSON lines stands for its files.",
            callback=check_input,
            show_default=False,
        ),
    ],
    model: Annotated[
        Path,
        typer.Option(
            "--model",
            help="Config file with a section [model]: who judges.",
            callback=check_path,
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
    universe: Annotated[
        Optional[Path],
        typer.Option(
            "--universe",
            help="File of all known labels, one a line.",
            callback=check_path,
            show_default=False,
        ),
    ] = None,
    lang: Lang = None,
    top_n: TopN = None,
    format: Annotated[
        Report, typer.Option("--format", help="A table, or one JSON object a corpus.")
    ] = Report.table,
    output: OutputFile = None,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    batch_size: BatchSize = 64,
    gpu_id: GpuId = -1,
) -> None:
    """
    Have a language model say of every keyphrase of a pipeline, or of another run,
    whether it is relevant to its document, without gold; where there is gold, say how
    far the model agrees with it.
    """
    use_gpu(gpu_id)
    found = find_corpora(corpora, ())
    check_predictions(predictions, bool(pipeline or config), len(found))
    reading = Reading(input_format, lang, on_error, limit)
    labels = None if universe is None else universe.read_text("utf8").splitlines()
    judges = load_judge(model)
    with open_output(output) as write:
        for corpus in found:
            predicted = predict(
                corpus,
                "default",
                reading,
                predictions,
                lambda lang: load_extractor(pipeline, config, lang, top_n, None),
                batch_size=batch_size,
            )
            gold = predicted.gold
            result = judge(
                gold.sources,
                [phrases[: top_n or None] for phrases in predicted.found],
                lambda questions: ask(judges, questions, batch_size),
                universe=labels,
                references=gold.references if any(gold.references) else None,
                lang=predicted.lang,
            )
            if result.failed:
                say(f"No usable answer for {len(result.failed)} documents.")
            if format is Report.jsonl:
                record = {"corpus": corpus.name, **result.to_dict()}
                write(json.dumps(record, ensure_ascii=False) + "\n")
            else:
                write(to_table(corpus.name, result))


def load_judge(path: Path) -> Any:
    """The model of a config file."""
    config = load_config(path)
    if "model" not in config:
        raise typer.BadParameter(f"{path} has no section [model].")
    model = registry.resolve({"model": config["model"]})["model"]
    if "asks" not in model.attrs:
        raise typer.BadParameter(
            f"the model of {path} answers no questions; its architecture must be that "
            "of a selector, such as spacy_keyphrase.ChatLM.v1."
        )
    return model


def ask(model: Any, questions: Sequence[Question], batch_size: int) -> List[Answer]:
    """The answers to questions, with progress."""
    answers: List[Answer] = []
    with Progress(total=len(questions)) as progress:
        for i in range(0, len(questions), batch_size):
            answers += model.predict(Asked(questions[i : i + batch_size]))
            progress.update(len(answers))
    return answers


def to_table(name: str, result: Judgement) -> str:
    """Shares in percent."""
    rows = []
    for key, value in result.values.items():
        shown, interval = "-", "-"
        if value is not None:
            low, high = result.intervals[key]
            shown = f"{100 * value:.2f}"
            interval = f"{100 * low:.2f}-{100 * high:.2f}"
        docs, phrases = str(result.n_docs), str(result.n_phrases)
        rows.append((name, docs, phrases, NAMES[key], shown, interval))
    return format_table(HEADER, rows, ALIGNED)
