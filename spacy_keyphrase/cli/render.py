"""``spacy keyphrase render``: an HTML page to look at."""

from itertools import islice
from pathlib import Path
from typing import Annotated, List, Optional

import spacy
import typer
from spacy.tokens import Doc

from ..corpora import ReadReport, make_gold_doc
from ..keyphrase import KEY
from ..render import render_page
from ._inputs import peek_lang, read_inputs
from ._options import (
    ConfigFile,
    InputFormat,
    Inputs,
    Lang,
    MinScore,
    OnError,
    OnErrorOption,
    Pipeline,
    TopN,
)
from ._output import open_output
from ._pipeline import load_extractor
from ._run import command, counted, say, say_skipped


@command
def render_cli(
    inputs: Inputs,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page.", show_default=False)
    ],
    gold: Annotated[
        bool, typer.Option("--gold", help="Show the corpus's own keyphrases.")
    ] = False,
    title: Annotated[
        Optional[str], typer.Option("--title", help="Title of the page.")
    ] = None,
    pipeline: Pipeline = None,
    config: ConfigFile = None,
    lang: Lang = None,
    top_n: TopN = None,
    min_score: MinScore = None,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Annotated[
        int,
        typer.Option("--limit", min=0, help="First so many documents; 0 for all."),
    ] = 100,
) -> None:
    """
    Write an HTML page with the keyphrases marked in the texts and listed beside
    them.
    """
    report = ReadReport()
    documents = read_inputs(inputs, input_format, lang, on_error, 0, report)
    used_lang, documents = peek_lang(documents, lang)
    chosen = list(islice(documents, limit or None))
    more = limit and next(documents, None) is not None
    docs: List[Doc] = []
    key = KEY
    with open_output(output) as write:
        if gold:
            nlp = spacy.blank(used_lang)
            nlp.max_length = 1_000_000_000
            docs = [make_gold_doc(document, nlp) for document in chosen]
        else:
            extractor = load_extractor(pipeline, config, used_lang, top_n, min_score)
            docs = [extractor.trim(doc) for _, doc in extractor.run(chosen)]
            key = extractor.key
        for document, doc in zip(chosen, docs, strict=True):
            doc.user_data["title"] = document.title or document.id
        write(render_page(docs, key=key, title=title))
    say_skipped(report)
    say(f"Wrote {counted(len(docs), 'document')} to {output}.")
    if more:
        say(f"There are more than {limit}: use --limit for a longer page.")
