"""``spacy keyphrase convert``: a corpus as .spacy files."""

from itertools import islice
from pathlib import Path
from random import Random
from typing import Annotated, Optional

import spacy
import typer

from ..corpora import ReadReport, convert
from ._inputs import peek_lang, read_inputs
from ._options import Corpus, InputFormat, Lang, Limit, OnError, OnErrorOption
from ._progress import Progress
from ._run import command, say, say_skipped


@command
def convert_cli(
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Argument(
            help="A path ending in .spacy, which becomes a folder of shards if the "
            "corpus is large; any other path becomes a folder.",
            show_default=False,
        ),
    ],
    input_format: InputFormat = "auto",
    lang: Lang = None,
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    skip: Annotated[
        int,
        typer.Option(
            "--skip",
            min=0,
            help="Leave out the first so many documents; --limit counts those after.",
        ),
    ] = 0,
    max_docs_per_file: Annotated[
        int, typer.Option("--max-docs-per-file", min=1, help="Size of a shard.")
    ] = 5000,
    shuffle: Annotated[
        Optional[int],
        typer.Option(
            "--shuffle",
            metavar="SEED",
            help="Write the documents in random order, for training: a corpus that is "
            "sorted by venue or by date is learned from worse. All are in memory then.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is at the output.")
    ] = False,
) -> None:
    """
    Convert a corpus to spaCy's training format. Gold keyphrases that occur in the
    text become spans in doc.spans["keyphrases"]; absent ones are in the attributes
    of that group.
    """
    read = ReadReport()
    last = skip + limit if limit else 0
    documents = read_inputs([corpus], input_format, lang, on_error, last, read)
    documents = islice(documents, skip, None)
    used_lang, documents = peek_lang(documents, lang)
    if shuffle is not None:
        drawn = list(documents)
        Random(shuffle).shuffle(drawn)
        documents = iter(drawn)
    nlp = spacy.blank(used_lang)
    nlp.max_length = 1_000_000_000
    with Progress() as progress:
        report = convert(
            documents,
            nlp,
            output,
            max_docs_per_file=max_docs_per_file,
            overwrite=overwrite,
            progress=progress.update,
        )
    say_skipped(read)
    files = "1 file" if len(report.files) == 1 else f"{len(report.files)} files"
    say(
        f"Wrote {report.documents} documents with {report.present} present and "
        f"{report.absent} absent keyphrases to {output} ({files})."
    )
