"""Plain text, one document a file; no gold."""

from pathlib import Path
from typing import Iterator

from .context import ReadContext
from .document import KeyphraseDocument
from .files import read_text, walk
from .folders import document_id
from .formats import Format, Probe

SUFFIXES = (".txt", ".text", ".md", ".rst")


def _detect(probe: Probe) -> bool:
    return not probe.suffixes.isdisjoint(SUFFIXES)


def read_plain_text(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """Plain text files, one document each, without keyphrases."""
    for file in walk(path, SUFFIXES):
        text = read_text(file, context)
        if text is not None:
            yield KeyphraseDocument(document_id(file, path), text, lang=context.lang)


FORMAT = Format("text", read_plain_text, _detect, "plain text files, one document each")
