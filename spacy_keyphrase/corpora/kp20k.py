"""KP20k and its kin (KPTimes, Inspec, Krapivin ...) as OpenNMT-kpg ships them."""

from pathlib import Path
from typing import Iterator

from .context import MalformedError, ReadContext
from .document import KeyphraseDocument, join_title
from .formats import Format, Probe, Record
from .records import get_extra, get_id, get_phrases, get_text, read_records

GOLD_FIELDS = ("keywords", "keyword")


def _detect(probe: Probe) -> bool:
    return "abstract" in probe.record and "text" not in probe.record


def _build(record: Record, default_id: str, context: ReadContext) -> KeyphraseDocument:
    if record.get("title") is None and record.get("abstract") is None:
        fields = ", ".join(record) or "none"
        raise MalformedError(
            f"no field 'title' and no field 'abstract'; the fields are: {fields}"
        )
    gold = next((name for name in GOLD_FIELDS if record.get(name) is not None), "")
    title = get_text(record, "title").strip()
    return KeyphraseDocument(
        id=get_id(record, "id", default_id),
        title=title,
        text=join_title(title, get_text(record, "abstract")),
        keyphrases=get_phrases(record, gold, separator=";"),
        lang=context.lang,
        extra=get_extra(record, "id", "title", "abstract", gold),
    )


def read_kp20k(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """JSON lines with title, abstract and keywords (or keyword), as KP20k.

    Meng et al. (2017), "Deep Keyphrase Generation". The keywords are a list, or
    one string with semicolons between them.
    """
    return read_records(path, context, _build)


FORMAT = Format(
    "kp20k",
    read_kp20k,
    _detect,
    "JSON lines: title, abstract, keywords",
    _build,
)
