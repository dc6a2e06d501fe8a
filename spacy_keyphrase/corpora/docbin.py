"""``.spacy`` files: spaCy's own training format."""

from pathlib import Path
from typing import Iterator, Optional

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..keyphrase import KEY, get_keyphrases
from .context import ReadContext
from .document import KeyphraseDocument
from .files import stem_of, walk
from .formats import Format, Probe

SUFFIX = ".spacy"


def _detect(probe: Probe) -> bool:
    return SUFFIX in probe.suffixes


def load_docbin(file: Path, context: ReadContext) -> Optional[DocBin]:
    """One shard, or None where it is damaged and was skipped."""
    try:
        return DocBin().from_disk(file)
    except Exception as error:
        context.malformed(
            str(file), f"not a file that spaCy's DocBin wrote ({error}); write it again"
        )
        return None


def to_document(doc: Doc, default_id: str, lang: str) -> KeyphraseDocument:
    """A doc's text and keyphrases as a corpus document."""
    attrs = doc.spans[KEY].attrs if KEY in doc.spans else {}
    gold = attrs.get("gold")
    if gold is None:
        gold = [phrase.text for phrase in get_keyphrases(doc)]
    return KeyphraseDocument(
        id=attrs.get("id", default_id),
        title=doc.text[: attrs.get("title_length", 0)],
        text=doc.text,
        keyphrases=list(gold),
        lang=lang,
    )


def read_spacy(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """A .spacy file (DocBin), or a folder of them, with keyphrases on the docs."""
    for file in walk(path, (SUFFIX,)):
        shard = load_docbin(file, context)
        if shard is not None:
            # A vocabulary per shard: one for all would grow with the corpus.
            for i, doc in enumerate(shard.get_docs(Vocab()), start=1):
                yield to_document(doc, f"{stem_of(file)}:{i}", context.lang)


FORMAT = Format("spacy", read_spacy, _detect, ".spacy files")
