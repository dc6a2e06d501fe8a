"""The corpus reader of training configs: examples, one at a time."""

import random
import warnings
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Optional, TypeVar, Union

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from ..keyphrase import KEY, get_keyphrases, set_keyphrases
from .context import OnError, ReadReport, make_context
from .converter import make_gold_doc
from .docbin import SUFFIX, load_docbin
from .files import walk
from .formats import get_format
from .read import read_corpus

ItemT = TypeVar("ItemT")


def create_corpus(
    path: Optional[Union[str, Path]],
    format: str = "auto",
    key: str = KEY,
    max_length: int = 0,
    limit: int = 0,
    shuffle_buffer: int = 0,
    seed: int = 0,
    on_error: OnError = "raise",
    style: Optional[str] = None,
    candidates: Optional[str] = None,
) -> Callable[[Language], Iterable[Example]]:
    """Stream examples with gold keyphrases from a corpus of any known format.

    path (Optional[Union[str, Path]]): File or folder, ``.spacy`` or one of the
        text formats.
    format (str): Name of a format, or "auto".
    key (str): Key of the span group that holds the gold.
    max_length (int): Documents of more tokens are left out, and a warning
        says how many. 0 means no limit.
    limit (int): Stop after so many examples. 0 means no limit.
    shuffle_buffer (int): Shuffle within a buffer of so many examples, anew in
        every pass. With `[training] max_epochs = -1`, where spaCy streams the
        corpus, the order is the reader's to change. 0 keeps it.
    seed (int): Seed of the shuffling.
    on_error (OnError): "raise" at a malformed record, or "skip" it with a
        warning that counts them.
    style (Optional[str]): Name of the convention that the gold follows, for models
        that learn several; it is put in the group's attributes.
    candidates (Optional[str]): Key of a span group with what another pipe has found
        (`scripts/candidates.py` makes such corpora): it becomes the keyphrases of the
        predicted doc, for selectors to learn from.
    RETURNS (Callable[[Language], Iterable[Example]]): The reader.
    """
    if path is None:
        raise ValueError(
            "The corpus reader spacy_keyphrase.Corpus.v1 has no path. Set it in the "
            "config or on the command line, as in --paths.train corpus/train.spacy."
        )
    return KeyphraseCorpus(
        path,
        format=format,
        key=key,
        max_length=max_length,
        limit=limit,
        shuffle_buffer=shuffle_buffer,
        seed=seed,
        on_error=on_error,
        style=style,
        candidates=candidates,
    )


registry.readers("spacy_keyphrase.Corpus.v1", func=create_corpus)


class KeyphraseCorpus:
    """Examples of a corpus, streamed: one shard or one record is in memory.

    See `create_corpus` for the settings.
    """

    def __init__(
        self,
        path: Union[str, Path],
        *,
        format: str = "auto",
        key: str = KEY,
        max_length: int = 0,
        limit: int = 0,
        shuffle_buffer: int = 0,
        seed: int = 0,
        on_error: OnError = "raise",
        style: Optional[str] = None,
        candidates: Optional[str] = None,
    ):
        settings = {
            "max_length": max_length,
            "limit": limit,
            "shuffle_buffer": shuffle_buffer,
        }
        for name, value in settings.items():
            if value < 0:
                raise ValueError(f"{name} is {value}; it must be 0 (off) or more.")
        make_context("en", on_error, None)
        self.path = Path(path)
        self.format = format
        self.key = key
        self.max_length = max_length
        self.limit = limit
        self.shuffle_buffer = shuffle_buffer
        self.seed = seed
        self.on_error = on_error
        self.style = style
        self.candidates = candidates
        self.passes = 0
        # Number of this process and how many there are: each has examples of its own.
        self.shard = (0, 1)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples.

        nlp (Language): The pipeline whose tokenizer makes the docs.
        YIELDS (Example): The gold is on `reference`; `predicted` is a fresh doc, with
            candidates if these are asked for.
        """
        if not self.path.exists():
            raise FileNotFoundError(f"There is no corpus at {self.path}.")
        report = ReadReport()
        examples = self._examples(nlp, report)
        if self.shuffle_buffer:
            rng = random.Random(f"{self.seed}:{self.passes}")
            examples = shuffled(examples, self.shuffle_buffer, rng)
        self.passes += 1
        yield from examples
        if report.skipped:
            warnings.warn(
                f"{report.skipped} malformed records of {self.path} were skipped; the "
                f"first: {report.messages[0]}",
                stacklevel=2,
            )

    def _examples(self, nlp: Language, report: ReadReport) -> Iterator[Example]:
        yielded = too_long = with_gold = 0
        for reference in self._references(nlp, report):
            if not len(reference):
                continue
            if self.max_length and len(reference) > self.max_length:
                too_long += 1
                continue
            if self.style is not None and self.key in reference.spans:
                reference.spans[self.key].attrs["style"] = self.style
            with_gold += self.key in reference.spans and bool(
                len(reference.spans[self.key])
                or reference.spans[self.key].attrs.get("phrases")
            )
            rank, size = self.shard
            if yielded % size == rank:
                yield self._example(nlp, reference)
            yielded += 1
            if self.limit and yielded >= self.limit:
                break
        if too_long:
            warnings.warn(
                f"{too_long} documents of {self.path} have more than {self.max_length} "
                "tokens (max_length) and were left out.",
                stacklevel=2,
            )
        if yielded and not with_gold:
            warnings.warn(
                f"No document of {self.path} has gold keyphrases in "
                f"doc.spans[{self.key!r}]: there is nothing to learn from.",
                stacklevel=2,
            )

    def _example(self, nlp: Language, reference: Doc) -> Example:
        predicted = _without_gold(nlp, reference)
        if self.candidates is not None and self.candidates in reference.spans:
            found = get_keyphrases(reference, self.candidates)
            pairs = [(phrase.text, phrase.score) for phrase in found]
            set_keyphrases(predicted, pairs, self.key)
        return Example(predicted, reference)

    def _references(self, nlp: Language, report: ReadReport) -> Iterator[Doc]:
        if get_format(self.format, self.path).name == "spacy":
            context = make_context(nlp.lang or "en", self.on_error, report)
            for file in walk(self.path, (SUFFIX,)):
                shard = load_docbin(file, context)
                if shard is not None:
                    yield from shard.get_docs(nlp.vocab)
        else:
            for document in read_corpus(
                self.path,
                self.format,
                lang=nlp.lang or "en",
                on_error=self.on_error,
                report=report,
            ):
                yield make_gold_doc(document, nlp, key=self.key)


def _without_gold(nlp: Language, reference: Doc) -> Doc:
    """The same text as a new doc, as `spacy.Corpus.v1` makes it."""
    if not reference.has_unknown_spaces:
        return nlp.make_doc(reference.text)
    return Doc(nlp.vocab, words=[token.text for token in reference])


def shuffled(items: Iterable[ItemT], size: int, rng: random.Random) -> Iterator[ItemT]:
    """Shuffle a stream: what comes next is drawn from the `size` items at hand."""
    buffer: List[ItemT] = []
    for item in items:
        if len(buffer) < size:
            buffer.append(item)
            continue
        i = rng.randrange(size)
        yield buffer[i]
        buffer[i] = item
    rng.shuffle(buffer)
    yield from buffer
