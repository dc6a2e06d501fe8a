"""The two plots of the report; without matplotlib there are none."""

from pathlib import Path
from typing import Any, Dict, List

Row = Dict[str, Any]

OURS, THEIRS = "#b4123f", "#52606d"
# Ours under the styles of other datasets.
OTHER_STYLES = ("ours-author", "ours-tags", "ours-news")


def plot_quality_speed(quality: List[Row], speed: List[Row], path: Path) -> bool:
    """Documents a second against F1@10 on the same dataset.

    quality (List[Row]): Rows of the quality results.
    speed (List[Row]): Rows of the speed results.
    path (Path): The picture to write.
    RETURNS (bool): False where there was nothing to draw, or nothing to draw with.
    """
    dataset = "inspec/test"
    f1 = {r["system"]: r["f1@10"] for r in quality if r["dataset"] == dataset}
    points = [
        (row["docs/s"], f1[row["system"]], row["system"])
        for row in speed
        if row["dataset"] == dataset
        and row["system"] in f1
        and row["system"] not in OTHER_STYLES
    ]
    figure = new_figure()
    if figure is None or not points:
        return False
    axes = figure.subplots()
    points.sort(key=lambda point: -point[1])
    placed: List[Any] = []
    for docs, score, name in points:
        color = OURS if name.startswith("ours") else THEIRS
        axes.scatter(docs, score, color=color, s=36, zorder=3)
        # A label goes below those beside it that it would cover.
        height = score
        for other_docs, other in placed:
            if 1 / 2.4 < docs / other_docs < 2.4 and height > other - 1:
                height = min(height, other - 1)
        placed.append((docs, height))
        axes.annotate(
            name,
            (docs, score),
            (docs * 1.12, height),
            color=color,
            fontsize=8,
            va="center",
        )
    axes.set_xscale("log")
    axes.set_xlim(right=4 * max(docs for docs, _, _ in points))
    axes.margins(y=0.1)
    axes.set_xlabel("documents per second, one core")
    axes.set_ylabel("F1@10, all gold")
    axes.set_title(f"{dataset}: quality against speed")
    return save_figure(figure, axes, path)


def plot_length(rows: List[Row], path: Path) -> bool:
    """Microseconds a word against words: a linear system draws a flat line.

    rows (List[Row]): Rows of the length results.
    path (Path): The picture to write.
    RETURNS (bool): False where there was nothing to draw, or nothing to draw with.
    """
    figure = new_figure()
    if figure is None or not rows:
        return False
    axes = figure.subplots()
    styles = ["-", "--", ":", "-."]
    counts = {OURS: 0, THEIRS: 0}
    for row in rows:
        points = [point for point in row["points"] if point["us/word"] is not None]
        color = OURS if row["system"].startswith("ours") else THEIRS
        style, shade = divmod(counts[color], len(styles))
        counts[color] += 1
        axes.plot(
            [point["words"] for point in points],
            [point["us/word"] for point in points],
            color=color,
            linestyle=styles[shade],
            alpha=1 - 0.35 * style,
            marker="o",
            markersize=3,
            label=row["system"],
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("words in the document")
    axes.set_ylabel("microseconds per word, one core")
    axes.set_title("Time against length")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return save_figure(figure, axes, path)


def new_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(8, 5), layout="constrained")


def save_figure(figure: Any, axes: Any, path: Path) -> bool:
    axes.grid(True, alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return True
