"""Tables and plots of what many documents take."""

from pathlib import Path
from typing import Any, Dict, List

from .plots import new_figure, save_figure
from .tables import table

Row = Dict[str, Any]
# Dollars for a core and an hour, a round figure for rented machines; for what it costs
# elsewhere multiply.
PRICE = 0.04
TEN_MILLION = 10_000_000


def scale_report(results: Row) -> str:
    """Jobs with workers, and a million documents."""
    parts = ["## Jobs"]
    if results.get("workers"):
        rows = [
            [
                row["way"],
                row["docs/s"],
                f"{row['times nlp.pipe']:.2f}",
                f"{row['times one']:.2f}" if "times one" in row else "",
                row["start"],
            ]
            for row in results["workers"]
        ]
        header = ["", "documents a second", "times `nlp.pipe`", "times one worker"]
        header.append("start, seconds")
        parts.append(table(header, rows))
    soak = results.get("soak")
    if soak:
        parts.append(
            f"{soak['docs']:,} documents of {soak['sentences']} sentences through one "
            f"worker: {soak['written']:,} rows written, {soak['set aside']:,} set "
            f"aside, {soak['once']:,} there once; {soak['docs/s']:.0f} documents a "
            "second."
        )
    return "\n\n".join(parts)


def capacity_report(rows: List[Row]) -> str:
    """What was measured, and what follows from it."""
    parts = ["## Capacity", "### Measured: one core, one thread"]
    header = ["pipe", "documents", "words each", "documents a second"]
    header += ["load, seconds", "memory, MB"]
    names = ["pipe", "kind", "words", "docs/s", "load", "peak_mb"]
    cells = [[row[name] for name in names] for row in rows]
    parts.append(table(header, cells))
    parts.append(f"### Computed, at {PRICE} dollars for a core and an hour")
    header = ["pipe", "documents", "a day and core", "cores for 10 M in a day"]
    header += ["10 M, dollars", "1,000 M, dollars"]
    parts.append(table(header, [_compute(row) for row in rows]))
    return "\n\n".join(parts)


def encoders_report(rows: List[Row]) -> str:
    """An encoder in fewer bits, and outside of torch."""
    header = ["", "texts x sub-tokens", "milliseconds", "times 32 bits", "cosine"]
    cells = [
        [
            row["way"],
            " x ".join(map(str, row["shape"])),
            f"{row['ms']:.0f}",
            f"{row['times 32 bits']:.2f}",
            f"{row['cosine']:.4f}",
        ]
        for row in rows
    ]
    return "## An encoder in fewer bits\n\n" + table(header, cells)


def bits_report(rows: List[Row]) -> str:
    """What 16 bits change of the keyphrases."""
    header = ["", "dataset", "documents", "F1@5", "change", "F1@10", "change"]
    header += ["same ten, %", "in the same order, %"]
    cells = []
    for row in rows:
        cell = [row["system"], row["dataset"], row["docs"]]
        for k in (5, 10):
            # Never "-0.00".
            values = [row[f"f1@{k} change"], *row[f"f1@{k} change ci"]]
            change, low, high = (f"{value + 0.0:+.2f}" for value in values)
            change = f"{change} ({low} to {high})"
            cell += [f"{row[f'f1@{k}']:.2f}", change]
        cells.append([*cell, f"{row['same']:.1f}", f"{row['same order']:.1f}"])
    return "## Keyphrases in 16 bits\n\n" + table(header, cells)


def _compute(row: Row) -> List[str]:
    a_day = row["docs/s"] * 86_400
    hours = TEN_MILLION / row["docs/s"] / 3600
    return [
        row["pipe"],
        row["kind"],
        f"{_two(a_day):,}",
        f"{TEN_MILLION / a_day:,.1f}",
        f"{_two(hours * PRICE):,}",
        f"{_two(100 * hours * PRICE):,}",
    ]


def _two(value: float) -> float:
    """Two digits are meant."""
    rounded = float(f"{value:.2g}")
    return int(rounded) if rounded >= 10 else rounded


def plot_soak(soak: Row, path: Path) -> bool:
    """Memory and speed against the documents that went by."""
    figure = new_figure()
    if figure is None:
        return False
    documents, memory, rates = zip(*soak["points"])
    axes = figure.subplots()
    axes.plot([n / 1000 for n in documents], memory, color="tab:blue")
    axes.set_ylim(0, max(memory) * 1.5)
    axes.set_xlabel("thousand documents")
    axes.set_ylabel("resident memory, MB", color="tab:blue")
    speed = axes.twinx()
    speed.plot([n / 1000 for n in documents], rates, color="tab:orange", linewidth=0.8)
    speed.set_ylim(0, max(rates) * 1.2)
    speed.set_ylabel("documents a second", color="tab:orange")
    return save_figure(figure, axes, path)


def plot_capacity(rows: List[Row], path: Path) -> bool:
    """Dollars for ten million documents, pipe by pipe."""
    figure = new_figure()
    if figure is None:
        return False
    axes = figure.subplots()
    names = list(dict.fromkeys(row["pipe"] for row in rows))
    for kind, color in (("abstracts", "tab:blue"), ("papers", "tab:orange")):
        own = [row for row in rows if row["kind"] == kind]
        cost = [TEN_MILLION / row["docs/s"] / 3600 * PRICE for row in own]
        places = [names.index(row["pipe"]) for row in own]
        words = own[0]["words"] if own else 0
        label = f"{kind} ({words:,} words)"
        axes.plot(cost, places, "o", color=color, label=label)
        for x, y in zip(cost, places):
            axes.annotate(
                f"{_two(x):,}",
                (x, y),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"dollars for 10 million, at {PRICE} a core and hour")
    axes.legend(fontsize=8, frameon=False)
    return save_figure(figure, axes, path)
