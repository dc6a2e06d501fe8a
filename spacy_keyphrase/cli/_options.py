"""Options that several commands share."""

from enum import Enum
from pathlib import Path
from typing import Annotated, List, Optional

import typer

from ..corpora import FORMATS

FORMAT_NAMES = ", ".join(["auto", *FORMATS])


class Output(str, Enum):
    """How `extract` writes."""

    table = "table"
    jsonl = "jsonl"
    html = "html"
    parquet = "parquet"


class Report(str, Enum):
    """How a command reports figures."""

    table = "table"
    jsonl = "jsonl"


class OnError(str, Enum):
    """What to do at a malformed record."""

    stop = "raise"
    skip = "skip"


def check_input(paths: List[Path]) -> List[Path]:
    """Paths that exist, or "-"."""
    for path in paths:
        if str(path) != "-" and not path.exists():
            raise typer.BadParameter(f"there is nothing at {path}.")
    return paths


def check_path(path: Optional[Path]) -> Optional[Path]:
    """A path that exists."""
    if path is not None and not path.exists():
        raise typer.BadParameter(f"there is nothing at {path}.")
    return path


def check_format(name: str) -> str:
    """The name of a corpus format, or "auto"."""
    if name != "auto" and name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {FORMAT_NAMES}.")
    return name


def check_n_process(n: int) -> int:
    """A number of processes, or -1."""
    if n == 0 or n < -1:
        raise typer.BadParameter(f"{n} is neither a number of processes nor -1.")
    return n


Inputs = Annotated[
    List[Path],
    typer.Argument(
        metavar="INPUT",
        help="Files or folders, of text or of any corpus format; - for standard input.",
        callback=check_input,
        show_default=False,
    ),
]
Corpus = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS",
        help="File or folder of any corpus format.",
        callback=check_path,
        show_default=False,
    ),
]
Pipeline = Annotated[
    Optional[str],
    typer.Option(
        "--pipeline",
        "-p",
        help="Name or path of a spaCy pipeline; one without keyphrases gets the "
        "default component at its end. Default: a blank pipeline with it.",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    Optional[Path],
    typer.Option(
        "--config",
        "-c",
        help="Config file to build the pipeline from, instead of --pipeline.",
        callback=check_path,
        show_default=False,
    ),
]
Lang = Annotated[
    Optional[str],
    typer.Option(
        "--lang",
        "-l",
        help="Language of blank pipelines. Default: what the first document says, "
        "or else English.",
        show_default=False,
    ),
]
TopN = Annotated[
    Optional[int],
    typer.Option(
        "--top-n",
        "-n",
        min=0,
        help="At most so many keyphrases a document; 0 for all. Default: the "
        "pipeline's own.",
        show_default=False,
    ),
]
MinScore = Annotated[
    Optional[float],
    typer.Option("--min-score", help="Lowest score to keep.", show_default=False),
]
InputFormat = Annotated[
    str,
    typer.Option(
        "--input-format",
        "-f",
        help=f"Corpus format: {FORMAT_NAMES}.",
        callback=check_format,
    ),
]
OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="Stop at a malformed record, or skip and count."),
]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="First so many documents only; 0 for all.")
]
NProcess = Annotated[
    int,
    typer.Option(
        "--n-process",
        help="Processes to run in; -1 for one on each core.",
        callback=check_n_process,
    ),
]
GpuId = Annotated[
    int, typer.Option("--gpu-id", "-g", help="ID of the GPU; -1 for the CPU.")
]
BatchSize = Annotated[
    int, typer.Option("--batch-size", min=1, help="Documents in a batch.")
]
OutputFile = Annotated[
    Optional[Path],
    typer.Option(
        "--output",
        "-o",
        help="File to write, complete or not at all; standard output by default.",
        show_default=False,
    ),
]
