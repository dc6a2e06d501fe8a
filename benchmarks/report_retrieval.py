"""The tables and the plot of retrieval."""

from pathlib import Path
from typing import Any, Dict, List

from .plots import OURS, THEIRS, new_figure, save_figure
from .tables import table, unique

Row = Dict[str, Any]
RANKER = "keyphrase ranker"


def retrieval_report(results: Dict[str, Any]) -> str:
    """What keyphrases gain, by collection and retriever."""
    parts = ["## Retrieval"]
    parts += [results["about"]] if results.get("about") else []
    rows: List[Row] = results["rows"]
    header = ["retriever", "with", "nDCG@10", "gain", "p", "MAP", "gain", "p"]
    header += ["Recall@100", "gain", "documents for the plain recall@10"]
    for collection in unique(rows, "collection"):
        group = [row for row in rows if row["collection"] == collection]
        filters = [row for row in group if row["with"] == "filter"]
        group = [row for row in group if row["with"] != "filter"]
        parts.append(f"### {collection}, {group[0]['queries']} queries")
        cells = [
            [
                row["retriever"],
                row["with"],
                f"{row['nDCG@10']:.4f}",
                *_gain(row, "nDCG@10"),
                f"{row['MAP']:.4f}",
                *_gain(row, "MAP"),
                f"{row['Recall@100']:.4f}",
                _gain(row, "Recall@100")[0],
                10 if row["with"] == "plain" else row.get("context"),
            ]
            for row in group
        ]
        parts.append(table(header, cells))
        parts += [
            f"A filter by the keyphrases of the query leaves {_left(row, 'documents')} "
            f"of the first 100 documents by {row['retriever']}, and "
            f"{_left(row, 'relevant')} of the relevant ones among them."
            for row in filters
        ]
    return "\n\n".join(parts)


def _left(row: Row, what: str) -> str:
    return f"{100 * row[f'{what} left']:.0f} %"


def _gain(row: Row, metric: str) -> List[Any]:
    gain = row.get(f"{metric}, gain")
    return (
        [None, None] if gain is None else [f"{gain:+.4f}", f"{row[f'{metric}, p']:.4f}"]
    )


def indexing_report(rows: List[Row]) -> str:
    """How fast documents are indexed with keyphrases."""
    header = ["", "documents a second", "time, in times of nlp.pipe"]
    cells = [
        [row["system"], f"{row['docs/s']:.0f}", f"{row['time / nlp.pipe']:.2f}"]
        for row in rows
    ]
    return "## Indexing in Haystack\n\n" + table(header, cells)


def plot_retrieval(rows: List[Row], path: Path) -> bool:
    """nDCG@10 of each retriever, plain and ranked again by keyphrases.

    rows (List[Row]): Rows of the results.
    path (Path): The picture to write.
    RETURNS (bool): False where there was nothing to draw, or nothing to draw with.
    """
    figure = new_figure()
    if figure is None or not rows:
        return False
    axes = figure.subplots()
    values = {(r["collection"], r["retriever"], r["with"]): r for r in rows}
    pairs = [(c, r) for c, r, way in values if way == "plain" and "/" not in c]
    ticks = []
    for place, (collection, retriever) in enumerate(pairs):
        # A little room between collections.
        x = place + 0.6 * unique(rows, "collection").index(collection)
        ticks.append(x)
        plain = values[collection, retriever, "plain"]["nDCG@10"]
        row = values.get((collection, retriever, RANKER))
        axes.bar(x - 0.2, plain, 0.38, color=THEIRS, label="plain" if not place else "")
        if row is None:
            continue
        label = "ranked again by keyphrases" if not place else ""
        axes.bar(x + 0.2, row["nDCG@10"], 0.38, color=OURS, label=label)
        p = row["nDCG@10, p"]
        mark = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "n.s."
        axes.text(x + 0.2, row["nDCG@10"] + 0.005, mark, ha="center", fontsize=8)
    axes.set_xticks(ticks, [retriever for _, retriever in pairs], fontsize=8)
    for collection in dict.fromkeys(collection for collection, _ in pairs):
        own = [x for x, (name, _) in zip(ticks, pairs) if name == collection]
        place = (sum(own) / len(own), -0.1)
        axes.text(*place, collection, transform=axes.get_xaxis_transform(), ha="center")
    axes.set_ylabel("nDCG@10")
    axes.set_title("What keyphrases gain (* p < .05, ** p < .01, *** p < .001)")
    axes.legend(fontsize=8, frameon=False)
    return save_figure(figure, axes, path)
