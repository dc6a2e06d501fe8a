"""Answers of models that write freely, as far as they can be trusted: what is not of
the form that was asked for is no answer."""

import json
import re
from typing import Any, List, Sequence, Union

from .questions import Answer, Labelled, Labels, Listing, Malformed

_FENCE = re.compile(r"```(?:\w+)?\s*(.*?)```", re.DOTALL)
_LABELS = {"t": True, "true": True, "yes": True, "f": False, "false": False}
_LABELS["no"] = False
# "1. T", "2: robot arm - F", "(3) T".
_NUMBERED = re.compile(r"\(?(\d+)[.):]?\s+(?:.*\W)?(\w+)\W?")
_BULLET = re.compile(r"^(?:[-*•]|\(?\d+[.):])\s*")
_SHOWN = 60


def read_reply(reply: str, form: Union[Labels, Listing]) -> Answer:
    """An answer from what a model wrote.

    reply (str): What it wrote: JSON as the schema of the form has it, or what models
        write instead that can mean only one thing.
    form (Union[Labels, Listing]): What was asked for.
    RAISES: Malformed where it is nothing of the kind, or has not as many labels as
        there are candidates.
    """
    fenced = _FENCE.search(reply)
    reply = (fenced.group(1) if fenced else reply).strip()
    if not reply:
        raise Malformed("the answer is empty")
    if isinstance(form, Labels):
        return Labelled(_read_labels(reply, form.n))
    return _read_numbers(reply, form) if form.numbers else _read_phrases(reply, form)


def _read_labels(reply: str, n: int) -> List[bool]:
    words = _load(reply, "labels")
    if words is None:
        words = _numbered(reply) or re.split(r"[\s,;]+", reply.strip(" .[]"))
    labels = [_label(word) for word in words]
    if any(label is None for label in labels):
        raise Malformed(f"the answer is no list of T and F: {_shorten(reply)}")
    if len(labels) != n:
        raise Malformed(f"the answer has {len(labels)} labels for {n} candidates")
    return [bool(label) for label in labels]


def _numbered(reply: str) -> List[str]:
    """The labels of lines that are numbered from 1 on; none, if they are not."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    found = [_NUMBERED.fullmatch(line) for line in lines]
    numbers = [int(match.group(1)) if match else 0 for match in found]
    if numbers != list(range(1, len(lines) + 1)):
        return []
    return [match.group(2) for match in found if match]


def _label(word: Any) -> Any:
    if isinstance(word, bool):
        return word
    return _LABELS.get(word.strip().lower()) if isinstance(word, str) else None


def _read_numbers(reply: str, form: Listing) -> List[int]:
    numbers = _load(reply, form.name)
    if numbers is None:
        if not re.fullmatch(r"[\d\s,;.\[\]]+", reply):
            raise Malformed(f"the answer is no list of numbers: {_shorten(reply)}")
        numbers = re.findall(r"\d+", reply)
    try:
        return [int(number) for number in numbers]
    except (TypeError, ValueError) as error:
        shown = _shorten(reply)
        raise Malformed(f"the answer is no list of numbers: {shown}") from error


def _read_phrases(reply: str, form: Listing) -> List[str]:
    phrases = _load(reply, form.name)
    if phrases is None:
        lines = [line for line in reply.splitlines() if line.strip()]
        parts: Sequence[str] = lines if len(lines) > 1 else re.split("[,;]", reply)
        phrases = [_BULLET.sub("", part.strip()) for part in parts]
    if not all(isinstance(phrase, str) for phrase in phrases):
        raise Malformed(f"the answer is no list of phrases: {_shorten(reply)}")
    return [phrase.strip(" \t.\"'*`") for phrase in phrases]


def _load(reply: str, name: str) -> Any:
    """The list that JSON holds, by itself or under a name; None, if it is no JSON."""
    start = min((i for i in map(reply.find, "{[") if i >= 0), default=-1)
    if start < 0:
        return None
    try:
        data, _ = json.JSONDecoder().raw_decode(reply[start:])
    except ValueError:
        return None
    if isinstance(data, dict):
        data = data.get(name)
    if not isinstance(data, list):
        raise Malformed(f"the answer has no list of {name}: {_shorten(reply)}")
    return data


def _shorten(reply: str) -> str:
    shown = " ".join(reply.split())
    return repr(shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…")
