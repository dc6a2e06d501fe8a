"""Keyphrases in the meta of a document: plain JSON, in fields named after one key."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, Union

from spacy_keyphrase.normalize import get_normalizer

Format = Literal["list", "scores", "text", "records", "flat"]
Policy = Literal["replace", "keep", "merge"]
FORMATS: tuple[str, ...] = ("list", "scores", "text", "records", "flat")
POLICIES: tuple[str, ...] = ("replace", "keep", "merge")
SEPARATOR = "; "
Range = tuple[int, int]


class Phrase(NamedTuple):
    """A keyphrase of a document.

    text (str): As it is shown.
    score (float): Higher is better.
    form (str): Its stems, which decide equality.
    offsets (Optional[tuple[tuple[int, int], ...]]): Where it is in the content, first
        character and the one behind the last; empty if it is absent, None if it is not
        known.
    source (str): The pipe that found it.
    """

    text: str
    score: float
    form: str
    offsets: Optional[tuple[Range, ...]] = None
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        data: dict[str, Any] = {"text": self.text, "score": _rounded(self.score)}
        data["normal_form"] = self.form
        if self.offsets is not None:
            data["is_present"] = bool(self.offsets)
            data["offsets"] = [list(offset) for offset in self.offsets]
        return {**data, "source": self.source}


def names(key: str) -> dict[str, str]:
    """The fields of each format under a key; "flat" ones begin with its name."""
    return {
        "list": key,
        "scores": f"{key}_scores",
        "text": f"{key}_text",
        "records": f"{key}_records",
        "flat": f"{key}_has_",
    }


def flat_name(key: str, form: str) -> str:
    """The name of the field that is true where a document has a keyphrase.

    key (str): Of the keyphrases.
    form (str): The stems of the keyphrase.
    """
    return names(key)["flat"] + re.sub(r"\W+", "_", form).strip("_")


def has_phrases(meta: Mapping[str, Any], key: str) -> bool:
    """Whether there are keyphrases under a key, in any format."""
    fields = names(key)
    flat = fields.pop("flat")
    return any(name in meta for name in fields.values()) or any(
        name.startswith(flat) for name in meta
    )


def read(meta: Mapping[str, Any], key: str, lang: str = "en") -> list[Phrase]:
    """The keyphrases under a key, in the format that tells most.

    meta (Mapping[str, Any]): Of a document.
    key (str): Of the keyphrases.
    lang (str): Language of the stems.
    RAISES: ValueError where something else is there.
    """
    fields = names(key)
    form = get_normalizer(lang).form
    try:
        if fields["records"] in meta:
            return [_from_record(record, form) for record in meta[fields["records"]]]
        if fields["list"] in meta:
            texts = meta[fields["list"]]
            if isinstance(texts, str):
                texts = [texts]
            scores = meta.get(fields["scores"]) or [0.0] * len(texts)
            pairs = zip(texts, scores, strict=True)
            return [Phrase(text, float(score), form(text)) for text, score in pairs]
        texts = (meta.get(fields["text"]) or "").split(SEPARATOR)
        return [Phrase(text, 0.0, form(text)) for text in texts if text]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise ValueError(f"meta[{key!r}] does not hold keyphrases: {error}") from error


def _from_record(record: Any, form: Any) -> Phrase:
    if isinstance(record, str):
        return Phrase(record, 0.0, form(record))
    offsets = record.get("offsets")
    found = None if offsets is None else tuple((int(a), int(b)) for a, b in offsets)
    return Phrase(
        record["text"],
        float(record.get("score") or 0.0),
        record.get("normal_form") or form(record["text"]),
        found,
        record.get("source") or "",
    )


def write(
    meta: Mapping[str, Any], key: str, phrases: Sequence[Phrase], formats: Iterable[str]
) -> dict[str, Any]:
    """A copy of the meta with keyphrases, those that were there replaced.

    meta (Mapping[str, Any]): Of a document.
    key (str): Of the keyphrases.
    phrases (Sequence[Phrase]): The best first.
    formats (Iterable[str]): Which are written.
    """
    fields = names(key)
    old = {*fields.values()}
    written: dict[str, Any] = {
        name: value
        for name, value in meta.items()
        if name not in old and not name.startswith(fields["flat"])
    }
    for kind in formats:
        if kind == "list":
            written[fields[kind]] = [phrase.text for phrase in phrases]
        elif kind == "scores":
            written[fields[kind]] = [_rounded(phrase.score) for phrase in phrases]
        elif kind == "text":
            written[fields[kind]] = SEPARATOR.join(phrase.text for phrase in phrases)
        elif kind == "records":
            written[fields[kind]] = [phrase.to_dict() for phrase in phrases]
        else:
            for phrase in phrases:
                written[flat_name(key, phrase.form)] = True
    return written


def merge(first: Iterable[Phrase], second: Iterable[Phrase]) -> list[Phrase]:
    """Both, the better of equal ones; the best first, or in the order given where none
    has a score."""
    found: dict[str, Phrase] = {}
    for phrase in (*first, *second):
        known = found.get(phrase.form)
        if known is None or phrase.score > known.score:
            found[phrase.form] = phrase
    return sorted(found.values(), key=lambda phrase: -phrase.score)


def check_formats(formats: Union[str, Sequence[str]]) -> list[str]:
    """The formats that are asked for.

    RAISES: ValueError where there is none of this name.
    """
    asked = [formats] if isinstance(formats, str) else list(formats)
    unknown = [kind for kind in asked if kind not in FORMATS]
    if unknown or not asked:
        message = f"formats is {asked}; use some of {', '.join(FORMATS)}."
        raise ValueError(message)
    return asked


def check_policy(existing: str) -> str:
    """What becomes of keyphrases that are there.

    RAISES: ValueError where there is no such policy.
    """
    if existing not in POLICIES:
        message = f"existing is {existing!r}; use one of {', '.join(POLICIES)}."
        raise ValueError(message)
    return existing


def _rounded(score: float) -> float:
    """Without the last digits, which depend on what else was in the batch: ids of
    chunks are made of the meta, and are to be the same when a text is indexed again."""
    return round(score, 3)
