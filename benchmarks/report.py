"""Tables and plots, made from the JSON results."""

import json
import os
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, Dict, List, Optional

from .data import DATASETS, MEAN
from .plots import plot_length, plot_quality_speed
from .report_generators import generators_report
from .report_retrieval import indexing_report, plot_retrieval, retrieval_report
from .report_scale import (
    bits_report,
    capacity_report,
    encoders_report,
    plot_capacity,
    plot_soak,
    scale_report,
)
from .report_selector import selector_report
from .systems import PIPELINES, SYSTEMS
from .tables import pair, table, times, unique

Row = Dict[str, Any]
Results = Dict[str, Dict[str, Any]]

_HEAD = """# Benchmarks

Made by `python benchmarks/run.py all`; do not edit. See `benchmarks/README.md`
for what the columns mean.
"""


def read_results(folder: Path) -> Results:
    """All results of a folder by the name of their file, rows in a fixed order."""
    order = {name: i for i, name in enumerate([*DATASETS, *PIPELINES, *SYSTEMS])}
    results: Results = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf8"))
        for part in result.values():
            if isinstance(part, list):
                for key in ("system", "dataset"):
                    part.sort(key=lambda row: order.get(row.get(key), len(order)))
        results[path.stem] = result
    return results


def quality_report(rows: List[Row]) -> str:
    """F1@10 of every system on every dataset, with the mean of those English sets that
    all are run on, then a table for each dataset."""
    own = [row for row in rows if row["stems"] == row["lang"]]
    datasets = unique(own, "dataset")
    found = {(row["system"], row["dataset"]): row for row in own}
    overview = []
    for system in unique(own, "system"):
        scores = [found.get((system, dataset), {}).get("f1@10") for dataset in datasets]
        given = [found.get((system, dataset), {}).get("f1@10") for dataset in MEAN]
        average = mean(given) if None not in given else None
        cells = [None if score is None else f"{score:.2f}" for score in scores]
        overview.append([system, *cells, None if average is None else f"{average:.2f}"])
    header = ["system", *datasets, f"mean of {len(MEAN)}"]
    parts = ["## Quality: F1@10, all gold", table(header, overview)]
    for dataset in datasets:
        of_set = [row for row in rows if row["dataset"] == dataset]
        for stems in unique(of_set, "stems"):
            chosen = [row for row in of_set if row["stems"] == stems]
            title = f"### {dataset}, {max(row['docs'] for row in chosen)} documents"
            if chosen[0]["lang"] != "en":
                title += f", stems: {stems}"
            parts += [title, _quality_table(chosen)]
    return "\n\n".join(parts)


def _quality_table(rows: List[Row]) -> str:
    header = [
        "system",
        "F1@5 / @10",
        "95 % of F1@10",
        "present F1@5 / @10",
        "micro F1@5 / @10 / @15",
        "R@50",
        "F1@10 − YAKE (p)",
    ]
    cells = []
    most = max(row["docs"] for row in rows)
    for row in rows:
        difference = row.get("difference")
        fewer = f" ({row['docs']} documents)" if row["docs"] < most else ""
        cells.append(
            [
                row["system"] + fewer,
                pair(row, "f1@5", "f1@10"),
                "{:.1f} – {:.1f}".format(*row["f1@10_ci"]),
                pair(row, "present_f1@5", "present_f1@10"),
                pair(row, "micro_f1@5", "micro_f1@10", "micro_f1@15"),
                f"{row['r@50']:.2f}",
                f"{difference['f1@10']:+.2f} ({difference['p']:.3f})"
                if difference
                else None,
            ]
        )
    return table(header, cells)


def speed_report(results: Row) -> str:
    """Speed for each set, the cost of rankers over the tagger, and memory."""
    parts = ["## Speed, one core"]
    rows = results.get("rows", [])
    header = [
        "system",
        "docs/s (range)",
        "words/s",
        "docs/CPU-s",
        "× YAKE",
        "× YAKE (CPU)",
        "load s",
        "peak MB",
    ]
    for dataset in unique(rows, "dataset"):
        chosen = [row for row in rows if row["dataset"] == dataset]
        first = chosen[0]
        parts.append(
            f"### {dataset}: {first['passes']} passes of {first['docs']} documents, "
            f"{first['words']} words in all"
        )
        cells = [
            [
                row["system"],
                f"{row['docs/s']:.1f} ({{:.1f}} – {{:.1f}})".format(
                    *row["docs/s_range"]
                ),
                row["words/s"],
                row["docs/cpu_s"],
                times(row["ratio"]),
                times(row["ratio_cpu"]),
                row.get("load_s"),
                row.get("peak_mb"),
            ]
            for row in chosen
        ]
        parts.append(table(header, cells))
    if results.get("overhead"):
        parts.append("### What a ranker adds to the time of the tagger, per cent")
        cells = [
            [
                r["system"],
                r["dataset"],
                f"{r['percent']:.1f}",
                f"{r['percent_cpu']:.1f}",
            ]
            for r in results["overhead"]
        ]
        parts.append(table(["system", "documents", "wall", "CPU"], cells))
    if results.get("network"):
        parts.append("### The whole pipe, in times of its token encoder alone")
        cells = [
            [
                r["system"],
                r["dataset"],
                *(times(r[key]) for key in ("ratio", "ratio_cpu", "ratio_by_layer")),
            ]
            for r in results["network"]
        ]
        names = ["wall", "CPU", "CPU, encoder layer by layer"]
        parts.append(table(["system", "documents", *names], cells))
    if results.get("memory"):
        parts.append("### Memory in MB after so many short documents")
        marks = [n for n, _ in results["memory"][0]["rss_mb"]]
        cells = [
            [row["system"], *(mb for _, mb in row["rss_mb"])]
            for row in results["memory"]
        ]
        parts.append(table(["system", *map(str, marks)], cells))
    return "\n\n".join(parts)


def length_report(rows: List[Row]) -> str:
    """Microseconds a word against the length of the document."""
    words = [point["words"] for point in rows[0]["points"]]
    cells = [
        [row["system"], *(point["us/word"] for point in row["points"])] for row in rows
    ]
    header = ["system", *(f"{n} words" for n in words)]
    title = "## Time against length: microseconds a word, one document"
    return f"{title}\n\n{table(header, cells)}"


def heads_report(rows: List[Row]) -> str:
    """The heads over one encoder: mean and standard deviation over the seeds."""
    parts = ["## The heads of the JointKPE family, trained alike"]
    for dataset in unique(rows, "dataset"):
        cells = []
        of_set = [row for row in rows if row["dataset"] == dataset]
        for encoder in unique(of_set, "encoder"):
            of_encoder = [row for row in of_set if row["encoder"] == encoder]
            for head in unique(of_encoder, "head"):
                runs = [row for row in of_encoder if row["head"] == head]
                cells.append([encoder, head, len(runs)])
                for name in ("f1@5", "f1@10", "present_f1@5", "present_f1@10"):
                    values = [run[name] for run in runs]
                    spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
                    cells[-1].append(f"{mean(values):.2f}{spread}")
                cells[-1].append(median(run["minutes"] for run in runs))
        header = ["encoder", "head", "seeds", "F1@5", "F1@10"]
        header += ["present F1@5", "present F1@10", "minutes"]
        parts += [f"### {dataset}", table(header, cells)]
    return "\n\n".join(parts)


def prompts_report(rows: List[Row]) -> str:
    """Ranking by prompts against the public way and the bare network."""
    cells = [
        [
            row["system"],
            row["docs"],
            f"{row['occurrences/doc']:.0f}",
            f"{row['docs/s']:.2f}",
            f"{row['literal docs/s']:.3f}",
            f"{row['ratio']:.1f}",
            times(row["of network"]),
            f"{row['difference']:.1e}",
        ]
        for row in rows
    ]
    header = ["ranker", "documents", "occurrences each", "docs/s", "public way, docs/s"]
    header += ["×", "in times of the bare network", "greatest difference of scores"]
    title = f"## Ranking by prompts: a model of T5-small's size on {rows[0]['dataset']}"
    return f"{title}\n\n{table(header, cells)}"


def rankers_report(rows: List[Row], about: Optional[str]) -> str:
    """The rankers on the papers' datasets."""
    parts = ["## Rankers on the same noun phrases: F1@5 / @10 / @15, promptrank_micro"]
    parts += [about] if about else []
    datasets = unique(rows, "dataset")
    found = {(row["system"], row["dataset"]): row for row in rows}
    cells = []
    for system in unique(rows, "system"):
        own = [found.get((system, dataset)) for dataset in datasets]
        scores = [pair(r, "f1@5", "f1@10", "f1@15") if r else None for r in own]
        cells.append([system, *scores, *(r["docs/CPU-s"] if r else None for r in own)])
    header = ["ranker", *datasets, *(f"docs/CPU-s, {name}" for name in datasets)]
    parts.append(table(header, cells))
    for dataset in datasets:
        of_set = [row for row in rows if row["dataset"] == dataset]
        cells = [
            [
                row["system"],
                *("{:.1f} – {:.1f}".format(*row[f"f1@{k}_ci"]) for k in (5, 10, 15)),
                pair(row, "macro_f1@5", "macro_f1@10", "macro_f1@15"),
            ]
            for row in of_set
        ]
        header = ["ranker", "95 % of F1@5", "of F1@10", "of F1@15"]
        header.append("mean over documents")
        title = f"### {dataset}, {of_set[0]['docs']} documents"
        parts += [title, table(header, cells)]
    return "\n\n".join(parts)


def environment_report(results: Results) -> str:
    """Processor and versions, once for every kind of result."""
    lines = ["## Where it ran"]
    for name, result in results.items():
        found = result.get("environment")
        if found:
            versions = ", ".join(f"{k} {v}" for k, v in found["packages"].items())
            lines.append(
                f"* {name}: {found['processor']} ({', '.join(found['flags'])}), "
                f"{found['threads']} thread, {found['system']}, Python "
                f"{found['python']}, {versions}."
            )
    return "\n".join(lines)


def write_report(results_dir: Path, path: Path) -> None:
    """Write the Markdown report, and the plots beside the results.

    results_dir (Path): Folder of the JSON files; the plots go there.
    path (Path): The Markdown file.
    """
    results = read_results(results_dir)
    parts = [_HEAD.rstrip()]
    quality = results.get("quality", {}).get("rows", [])
    speed = results.get("speed", {})
    length = results.get("long", {}).get("rows", [])
    heads = results.get("heads", {}).get("rows", [])
    prompts = results.get("prompts", {}).get("rows", [])
    rankers = results.get("rankers", {})

    def picture(name: str, alt: str, drawn: bool) -> None:
        if drawn:
            link = Path(os.path.relpath(results_dir / name, path.parent)).as_posix()
            parts.append(f"![{alt}]({link})")

    if quality and speed.get("rows"):
        drawn = plot_quality_speed(
            quality, speed["rows"], results_dir / "quality_speed.png"
        )
        picture("quality_speed.png", "Quality against speed", drawn)
    if quality:
        parts.append(quality_report(quality))
    if speed:
        parts.append(speed_report(speed))
    if heads:
        parts.append(heads_report(heads))
    if prompts:
        parts.append(prompts_report(prompts))
    if rankers.get("rows"):
        parts.append(rankers_report(rankers["rows"], rankers.get("about")))
    if results.get("generators"):
        parts.append(generators_report(results["generators"]))
    if results.get("selector"):
        parts.append(selector_report(results["selector"]))
    retrieval = results.get("retrieval", {}).get("rows", [])
    if retrieval:
        parts.append(retrieval_report(results["retrieval"]))
        drawn = plot_retrieval(retrieval, results_dir / "retrieval.png")
        picture("retrieval.png", "What keyphrases gain in retrieval", drawn)
    if results.get("indexing"):
        parts.append(indexing_report(results["indexing"]["rows"]))
    capacity = results.get("capacity", {}).get("rows", [])
    if capacity:
        parts.append(capacity_report(capacity))
        drawn = plot_capacity(capacity, results_dir / "capacity.png")
        picture("capacity.png", "What ten million documents cost", drawn)
    if results.get("encoders"):
        parts.append(encoders_report(results["encoders"]["rows"]))
    if results.get("bits"):
        parts.append(bits_report(results["bits"]["rows"]))
    scale = results.get("scale", {})
    if scale:
        parts.append(scale_report(scale))
    if scale.get("soak"):
        drawn = plot_soak(scale["soak"], results_dir / "soak.png")
        picture("soak.png", "Memory and speed while a million documents go by", drawn)
    if length:
        parts.append(length_report(length))
        drawn = plot_length(length, results_dir / "length.png")
        picture("length.png", "Time against length", drawn)
    parts.append(environment_report(results))
    path.write_text("\n\n".join(parts) + "\n", encoding="utf8")
