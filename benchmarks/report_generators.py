"""The tables of trained generators."""

from typing import Any, Dict, List

from .tables import pair, table, times

Row = Dict[str, Any]


def generators_report(results: Dict[str, Any]) -> str:
    """How good generators are, by corpus, preset and number of keyphrases that were
    asked for, and how fast."""
    parts = ["## Generators"]
    parts += [results["about"]] if results.get("about") else []
    rows: List[Row] = results.get("quality", [])
    groups: Dict[Any, List[Row]] = {}
    for row in rows:
        key = (row["corpus"], row["preset"], row.get("k"))
        groups.setdefault(key, []).append(row)
    for (corpus, preset, k), group in groups.items():
        asked = "" if k is None else f", {k} keyphrases asked for"
        docs = group[0]["docs"]
        parts.append(f"### {corpus}, {docs} documents, preset `{preset}`{asked}")
        parts.append(_sets(group) if k is None else _asked(group, k))
    if results.get("speed"):
        parts += ["### How fast", _speed(results["speed"])]
    return "\n\n".join(parts)


def _sets(rows: List[Row]) -> str:
    """As One2Set and UniKeyphrase are evaluated."""
    header = [
        "generator",
        "present F1@5 / @M",
        "95 % of F1@M",
        "absent F1@5 / @M",
        "95 % of F1@M",
        "absent R@10 / @50",
        "95 % of R@10",
        "recall of all",
        "written: present / absent",
        "repeated words",
    ]
    cells = [
        [
            row["system"],
            pair(row, "present_f1@5", "present_f1@M"),
            _range(row, "present_f1@M"),
            pair(row, "absent_f1@5", "absent_f1@M"),
            _range(row, "absent_f1@M"),
            pair(row, "absent_r@10", "absent_r@50"),
            _range(row, "absent_r@10"),
            f"{row['all_r@M']:.2f}",
            pair(row, "present_count", "absent_count"),
            f"{row['dup_token_ratio']:.1f}",
        ]
        for row in rows
    ]
    return table(header, cells)


def _asked(rows: List[Row], k: int) -> str:
    """As PUSL is evaluated."""
    header = [
        "generator",
        f"B@{k}",
        "95 %",
        f"#K@{k}",
        "F1@O",
        "95 %",
        "absent R@10",
        "repeated words",
    ]
    cells = [
        [
            row["system"],
            f"{row[f'all_b@{k}']:.2f}",
            _range(row, f"all_b@{k}"),
            f"{row['all_count']:.2f}",
            f"{row['all_f1@O']:.2f}",
            _range(row, "all_f1@O"),
            f"{row['absent_r@10']:.2f}",
            f"{row['dup_token_ratio']:.1f}",
        ]
        for row in rows
    ]
    return table(header, cells)


def _speed(rows: List[Row]) -> str:
    names = ["one by one", "one slot at a time", "bare network"]
    cells = [
        [
            row["system"],
            row["docs"],
            row["device"],
            f"{row['ms/doc, batched']:.1f}",
            *(times(row.get(f"{name} / batched")) for name in names),
        ]
        for row in rows
    ]
    header = ["generator", "documents", "on", "ms a document, in batches"]
    return table([*header, *(f"{name}, times that" for name in names)], cells)


def _range(row: Row, metric: str) -> str:
    return "{:.1f} – {:.1f}".format(*row[f"{metric}_ci"])
