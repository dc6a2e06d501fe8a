"""``spacy keyphrase words``: the words that a generator trained from scratch knows."""

from pathlib import Path
from typing import Annotated, Iterator, List

import typer

from ..corpora import read_corpus
from ._options import Corpus, InputFormat
from ._progress import Progress
from ._run import command, say


@command
def words_cli(
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="Text file.", show_default=False),
    ],
    size: Annotated[
        int, typer.Option("--size", min=1, help="How many words at most.")
    ] = 50_000,
    input_format: InputFormat = "auto",
) -> None:
    """
    Write the most frequent words of a corpus, one a line, for a generator that is
    trained from scratch: [initialize.components.keyphrase_generator] words = OUTPUT.
    """
    from ..generation.vocabulary import SPECIAL, Vocabulary, read_document, read_phrase

    def texts(progress: Progress) -> Iterator[List[str]]:
        for document in progress.over(read_corpus(corpus, input_format)):
            yield read_document(document.text)
            yield from map(read_phrase, document.keyphrases)

    with Progress() as progress:
        found = Vocabulary.of_texts(texts(progress), size + len(SPECIAL))
    words = found.words[len(SPECIAL) :]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(word + "\n" for word in words), encoding="utf8")
    say(f"Wrote {len(words):,} words to {output}.")
