"""OpenKP: web pages with up to three keyphrases each."""

from pathlib import Path
from typing import Iterator, List

from .context import MalformedError, ReadContext
from .document import KeyphraseDocument
from .formats import Format, Probe, Record
from .records import (
    check_text,
    clean_phrases,
    get_extra,
    get_id,
    get_text,
    read_records,
)


def _detect(probe: Probe) -> bool:
    # The public test part has no KeyPhrases.
    return "text" in probe.record and not {"KeyPhrases", "VDOM"}.isdisjoint(
        probe.record
    )


def _phrases(record: Record) -> List[str]:
    """The gold is a list of lists of words."""
    value = record.get("KeyPhrases")
    if value is None:
        return []
    if not isinstance(value, list) or not all(
        isinstance(words, list) and all(isinstance(word, str) for word in words)
        for words in value
    ):
        raise MalformedError("field 'KeyPhrases' must be a list of lists of words")
    return clean_phrases([check_text(" ".join(words), "KeyPhrases") for words in value])


def _build(record: Record, default_id: str, context: ReadContext) -> KeyphraseDocument:
    return KeyphraseDocument(
        id=get_id(record, "url", default_id),
        text=get_text(record, "text", required=True),
        keyphrases=_phrases(record),
        lang=context.lang,
        # The layout of the page is many times as large as its text.
        extra=get_extra(record, "url", "text", "KeyPhrases", "VDOM"),
    )


def read_openkp(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """JSON lines with url, text, VDOM and KeyPhrases (lists of words), as OpenKP.

    Xiong et al. (2019), "Open Domain Web Keyphrase Extraction Beyond Language
    Modeling". The url is the identifier; VDOM, the page layout, is left out.
    """
    return read_records(path, context, _build)


FORMAT = Format(
    "openkp",
    read_openkp,
    _detect,
    "JSON lines: url, text, KeyPhrases",
    _build,
)
