"""Plots of training runs."""

from itertools import cycle
from pathlib import Path
from typing import Any, Dict, List, Sequence

import srsly  # type: ignore[import-untyped]

_LINES = ("-", "--", ":", "-.")


def plot_curves(logs: Sequence[Path], output: Path) -> None:
    """Draw the loss and the scores of training runs by step.

    logs (Sequence[Path]): Logs of `spacy keyphrase train`, or those that spaCy's
        ConsoleLogger writes to its `output_file`.
    output (Path): Image to write, of the kind that its name ends with: png, svg, pdf.
    RAISES: ImportError without matplotlib, ValueError at a file that is no such log.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator
    except ImportError as error:
        raise ImportError(
            'The plot needs matplotlib: pip install "spacy-keyphrase[plot]".'
        ) from error
    runs = [_read(path) for path in logs]
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes: Any = figure.subplots(2, 1, sharex=True)
    for i, (path, run) in enumerate(zip(logs, runs)):
        label = path.parent.name if path.name == "log.jsonl" else path.stem
        prefix = f"{label} " if len(logs) > 1 else ""
        _draw(axes, run, prefix, f"C{i}")
    axes[0].set_ylabel("loss of an update")
    axes[0].set_yscale("log")
    axes[0].yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    axes[0].yaxis.set_major_formatter("{x:g}")
    axes[0].yaxis.set_minor_formatter("{x:g}")
    axes[1].set_ylabel("score on the development set, %")
    axes[1].set_xlabel("step")
    for one in axes:
        one.grid(True, alpha=0.25)
        one.legend(fontsize=8, frameon=False)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)


def _draw(axes: Any, run: List[Dict[str, Any]], prefix: str, color: str) -> None:
    """A run has a colour, each of its losses and scores a kind of line."""
    steps = [line["step"] for line in run]
    # A loss is the sum since the evaluation before.
    updates = [b - a for a, b in zip([-1, *steps], steps)]
    look = {"color": color, "marker": "o", "markersize": 3}
    for name, line_style in zip(run[-1]["losses"], cycle(_LINES)):
        losses = [line["losses"].get(name, 0) / n for line, n in zip(run, updates)]
        axes[0].plot(steps, losses, line_style, label=prefix + name, **look)
    drawn: List[List[float]] = []
    styles = cycle(_LINES)
    for name in run[-1]["scores"]:
        scores = [100 * line["scores"].get(name, 0) for line in run]
        if scores in drawn:
            continue  # @M where there are never more than @10
        drawn.append(scores)
        axes[1].plot(steps, scores, next(styles), label=prefix + name, **look)
        best = max(range(len(run)), key=scores.__getitem__)
        axes[1].annotate(
            f"{scores[best]:.1f}",
            (steps[best], scores[best]),
            textcoords="offset points",
            xytext=(0, 5),
            ha="center",
            fontsize=8,
        )


def _read(path: Path) -> List[Dict[str, Any]]:
    try:
        lines: List[Dict[str, Any]] = list(srsly.read_jsonl(path))
        for line in lines:
            line["step"] + 0, line["losses"].items(), line["scores"].items()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no log of a training run.") from error
    if not lines:
        raise ValueError(f"{path} is empty: the run has not been evaluated yet.")
    # spaCy's logger gives per cent.
    if max(value for line in lines for value in line["scores"].values() or [0]) > 1:
        for line in lines:
            line["scores"] = {name: v / 100 for name, v in line["scores"].items()}
    return lines
