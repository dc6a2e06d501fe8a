"""``spacy keyphrase compare``: is one system better than another?"""

import re
from pathlib import Path
from typing import Annotated, List

import typer

from ..corpora import ReadReport
from ..evaluation import compare
from ._inputs import peek_lang, read_inputs
from ._options import (
    Corpus,
    InputFormat,
    Lang,
    Limit,
    OnError,
    OnErrorOption,
    OutputFile,
    check_path,
)
from ._output import open_output
from ._run import command, say_skipped
from ._scoring import Gold, align, check_preset, parse_ks, read_predictions
from ._table import format_table

HEADER = ("metric", "A", "B", "B - A", "95 % CI", "p")


@command
def compare_cli(
    gold: Corpus,
    predictions_a: Annotated[
        Path,
        typer.Argument(
            help="Keyphrases of the first system, as extract writes them.",
            callback=check_path,
            show_default=False,
        ),
    ],
    predictions_b: Annotated[
        Path,
        typer.Argument(
            help="Keyphrases of the second system.",
            callback=check_path,
            show_default=False,
        ),
    ],
    metrics: Annotated[
        str, typer.Option("--metric", "-m", help="Scores to compare, between commas.")
    ] = "all_f1@5,all_f1@10",
    preset: Annotated[
        str,
        typer.Option("--preset", help="Evaluation convention.", callback=check_preset),
    ] = "default",
    lang: Lang = None,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    output: OutputFile = None,
) -> None:
    """
    Compare two systems on the same documents: the difference of their scores with a
    95 % interval (paired bootstrap), and the two-sided p-value of a permutation
    test.
    """
    names = metrics.replace(" ", "").split(",")
    ks = parse_ks(",".join(re.findall(r"@(\w+)", metrics)) or "10")
    report = ReadReport()
    documents = read_inputs([gold], input_format, lang, on_error, limit, report)
    used_lang, documents = peek_lang(documents, lang)
    kept = Gold(preset)
    for document in documents:
        kept.add(document)
    kept.check(str(gold))
    scores = [
        kept.score(align(read_predictions(path), kept.ids, path), ks, used_lang)
        for path in (predictions_a, predictions_b)
    ]
    rows: List[List[str]] = []
    for name in names:
        if name not in scores[0].values:
            raise typer.BadParameter(
                f"there is no score {name!r}; an example is all_f1@10."
            )
        found = compare(scores[0], scores[1], name)
        rows.append(
            [
                name,
                f"{100 * found.a:.2f}",
                f"{100 * found.b:.2f}",
                f"{100 * found.difference:+.2f}",
                f"{100 * found.low:+.2f} to {100 * found.high:+.2f}",
                f"{found.p_value:.3f}" if found.p_value >= 0.001 else "< 0.001",
            ]
        )
    say_skipped(report)
    with open_output(output) as write:
        write(format_table(HEADER, rows, "lrrrrr"))
        write(f"preset {preset}, {scores[0].average}; {len(kept.ids)} documents\n")
        write(f"A: {predictions_a}\nB: {predictions_b}\n")
