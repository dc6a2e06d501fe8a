"""The tables of selectors."""

from typing import Any, Dict, List

from .tables import pair, table

Row = Dict[str, Any]


def selector_report(results: Dict[str, Any]) -> str:
    """How good selectors are, how fast a model labels here, and how well calls to a
    server keep it busy."""
    parts = ["## Selectors"]
    parts += [results["about"]] if results.get("about") else []
    rows: List[Row] = results.get("quality", [])
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        group = [row for row in rows if row["corpus"] == corpus]
        parts.append(f"### {corpus}, {group[0]['docs']} documents")
        parts.append(_quality(group))
    if results.get("local"):
        parts += ["### A language model that runs here", _local(results["local"])]
    if results.get("chat"):
        parts += ["### Calls to a server", _chat(results["chat"])]
    return "\n\n".join(parts)


def _quality(rows: List[Row]) -> str:
    cells = [
        [
            row["system"],
            pair(row, "all_f1@5", "all_f1@M"),
            "{:.1f} – {:.1f}".format(*row["all_f1@M_ci"]),
            pair(row, "present_f1@5", "present_f1@M"),
            pair(row, "absent_f1@5", "absent_f1@M"),
            f"{row['all_count']:.2f}",
            # Of nothing written there is nothing to say.
            f"{row['dup_token_ratio']:.1f}" if row["all_count"] else None,
            f"{row['emb_sim']:.3f}" if row["all_count"] and "emb_sim" in row else None,
        ]
        for row in rows
    ]
    header = ["system", "F1@5 / @M", "95 % of F1@M", "present F1@5 / @M"]
    header += ["absent F1@5 / @M", "written", "repeated words", "similarity"]
    return table(header, cells)


def _local(values: Row) -> str:
    counts = values["seconds by candidates"]
    first = (
        f"{values['docs']} documents with {values['candidates']} candidates each, a "
        f"model of {values['weights'] / 1e6:.0f} million weights; the loop runs the "
        "model on the document with each candidate."
    )
    ways = [
        [
            way,
            f"{values[f'docs/s, {way}']:.2f}",
            "1" if way == "loop" else f"{values[f'{way} / loop']:.1f}",
        ]
        for way in ("loop", "in sequence", "independent")
    ]
    grown = [[n, f"{seconds:.1f}"] for n, seconds in counts.items()]
    return "\n\n".join(
        [
            first,
            table(["labels", "documents a second", "times the loop"], ways),
            table(["candidates", "seconds in sequence"], grown),
        ]
    )


def _chat(values: Row) -> str:
    first = (
        f"{values['docs']} documents, {values['workers']} calls at a time, each "
        f"answered after {1000 * values['latency']:.0f} ms: at least "
        f"{values['least seconds']:.2f} s."
    )
    cells = [
        [name, f"{values[f'{name}, seconds']:.2f}", f"{values[f'{name} / least']:.2f}"]
        for name in ("first run", "from the cache")
    ]
    return f"{first}\n\n{table(['', 'seconds', 'times the least'], cells)}"
