"""``spacy keyphrase phrases``: the keyphrases that a corpus has."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Dict

import typer

from ..corpora import read_corpus
from ..normalize import get_normalizer
from ._inputs import peek_lang
from ._options import Corpus, InputFormat, Lang
from ._progress import Progress
from ._run import command, say


@command
def phrases_cli(
    corpus: Corpus,
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="Text file.", show_default=False),
    ],
    least: Annotated[
        int, typer.Option("--least", min=1, help="In so many documents at least.")
    ] = 3,
    lang: Lang = None,
    input_format: InputFormat = "auto",
) -> None:
    """
    Write the gold keyphrases of a corpus, one a line, those of most documents first,
    for a generator that is to keep known absent keyphrases only:
    [initialize.components.keyphrase_generator] phrases = OUTPUT. Phrases of the same
    stems are one, in the form met first.
    """
    used_lang, documents = peek_lang(read_corpus(corpus, input_format), lang)
    form = get_normalizer(used_lang).form
    counts: Counter[str] = Counter()
    first: Dict[str, str] = {}
    with Progress() as progress:
        for document in progress.over(documents):
            forms = {form(text): " ".join(text.split()) for text in document.keyphrases}
            forms.pop("", None)
            counts.update(forms.keys())
            for key, text in forms.items():
                first.setdefault(key, text)
    phrases = [first[key] for key, n in counts.most_common() if n >= least]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(text + "\n" for text in phrases), encoding="utf8")
    say(f"Wrote {len(phrases):,} phrases to {output}.")
