"""Documents from the paths of a command line."""

import sys
from itertools import chain, islice
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Tuple

from ..corpora import KeyphraseDocument, ReadReport, read_corpus, read_stream
from ._options import OnError


def read_inputs(
    paths: Iterable[Path],
    format: str,
    lang: Optional[str],
    on_error: OnError,
    limit: int,
    report: ReadReport,
) -> Iterator[KeyphraseDocument]:
    """The documents of all paths, one after the other.

    paths (Iterable[Path]): Files, folders, and "-" for standard input, which is
        plain text unless a format is named.
    format (str): A corpus format, or "auto" to tell it for each path.
    lang (Optional[str]): Language of documents that do not say theirs.
    on_error (OnError): What to do at a malformed record.
    limit (int): Stop after so many; 0 for no limit.
    report (ReadReport): Counts what was read and skipped.
    YIELDS (KeyphraseDocument): The documents.
    """
    documents = chain.from_iterable(
        _read(path, format, lang or "en", on_error, report) for path in paths
    )
    return islice(documents, limit or None)


def _read(
    path: Path, format: str, lang: str, on_error: OnError, report: ReadReport
) -> Iterator[KeyphraseDocument]:
    if str(path) == "-":
        return read_stream(
            sys.stdin.buffer,
            "text" if format == "auto" else format,
            lang=lang,
            on_error=on_error.value,
            report=report,
        )
    return read_corpus(path, format, lang=lang, on_error=on_error.value, report=report)


def peek_lang(
    documents: Iterator[KeyphraseDocument], lang: Optional[str]
) -> Tuple[str, Iterator[KeyphraseDocument]]:
    """The language to use, and all the documents again.

    documents (Iterator[KeyphraseDocument]): The documents.
    lang (Optional[str]): The language that the user gave, which wins.
    """
    first: List[KeyphraseDocument] = list(islice(documents, 1))
    found = first[0].lang if first else "en"
    return lang or found, chain(first, documents)
