"""The unified form: id, title, text, keyphrases, lang."""

from pathlib import Path
from typing import Iterator

from .context import ReadContext
from .document import KeyphraseDocument
from .formats import Format, Probe, Record
from .records import get_extra, get_id, get_phrases, get_text, read_records


def _detect(probe: Probe) -> bool:
    # Without a record in it, JSON lines are an empty corpus of this format.
    is_empty = not probe.record and not probe.suffixes.isdisjoint((".jsonl", ".ndjson"))
    return "text" in probe.record or is_empty


def _build(record: Record, default_id: str, context: ReadContext) -> KeyphraseDocument:
    return KeyphraseDocument(
        id=get_id(record, "id", default_id),
        title=get_text(record, "title"),
        text=get_text(record, "text", required=True),
        keyphrases=get_phrases(record, "keyphrases"),
        lang=get_text(record, "lang") or context.lang,
        extra=get_extra(record, "id", "title", "text", "keyphrases", "lang"),
    )


def read_jsonl(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """JSON lines with the fields text, keyphrases, and optionally id, title, lang.

    `text` holds title and body. Keyphrases are strings, or objects with a field
    "text" as `Keyphrase.to_dict` writes them; left out, there is no gold.
    """
    return read_records(path, context, _build)


FORMAT = Format(
    "jsonl",
    read_jsonl,
    _detect,
    "JSON lines: text, keyphrases, id, title, lang",
    _build,
)
