"""``spacy keyphrase curve``: a training run as a plot."""

from pathlib import Path
from typing import Annotated, List

import typer

from ._options import check_input
from ._run import command, say


@command
def curve_cli(
    logs: Annotated[
        List[Path],
        typer.Argument(
            metavar="LOG",
            help="training/log.jsonl of one run or of several.",
            callback=check_input,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Image: .png, .svg or .pdf.")
    ] = Path("curve.png"),
) -> None:
    """
    Plot the loss and the scores of training runs by step. Needs matplotlib.
    """
    from ..training.curve import plot_curves

    plot_curves(logs, output)
    say(f"Wrote {output}.")
