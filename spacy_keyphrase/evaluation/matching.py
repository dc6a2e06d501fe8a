"""From lists of strings to lists of hits: normalise, deduplicate, drop invalid
predictions, and split by presence in the source."""

from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from ..normalize import contains_form, get_normalizer, split_words
from .presets import Preset

KINDS = ("all", "present", "absent")

Source = Union[str, Sequence[str]]


class Matched(NamedTuple):
    """The keyphrases of one kind in one document.

    forms (List[str]): Predictions in order, as they are compared.
    counted (List[bool]): False for a repetition, which only takes up a place.
    hits (List[bool]): Whether each prediction is a gold keyphrase.
    gold (List[str]): Gold keyphrases, as they are compared.
    n_rows (int): Predictions before deduplication and filters.
    """

    forms: List[str]
    counted: List[bool]
    hits: List[bool]
    gold: List[str]
    n_rows: int


class Row(NamedTuple):
    form: str
    keep: bool
    counted: bool


def make_form(preset: Preset, lang: str = "en") -> Callable[[str], str]:
    """How a preset writes a phrase or a text before comparing it.

    preset (Preset): The convention.
    lang (str): Language of the stems.
    RETURNS (Callable[[str], str]): From a text to its words, joined by a space.
    """
    normalizer = get_normalizer(lang)
    if preset.words == "tokens":
        if preset.stem:
            return lambda text: normalizer.join(text.split())
        return lambda text: " ".join(text.lower().split())
    if preset.stem:
        return normalizer.form

    def unstemmed(text: str) -> str:
        text = text.lower()
        return " ".join(split_words(text) or text.split())

    return unstemmed


def match_document(
    predictions: Sequence[str],
    references: Sequence[str],
    source: Optional[Source],
    preset: Preset,
    form: Callable[[str], str],
) -> Dict[str, Matched]:
    """Match the predictions of one document, by kind.

    predictions (Sequence[str]): Predicted keyphrases, best first.
    references (Sequence[str]): Gold keyphrases.
    source (Optional[Source]): The text, or its sections, across which no phrase
        is found. Without it only the kind "all" is returned.
    preset (Preset): The convention.
    form (Callable[[str], str]): The result of `make_form`.
    RETURNS (Dict[str, Matched]): "all", and with a source "present", "absent".
    """
    rows = _rows(predictions, preset, form)
    gold = [phrase for phrase in map(form, references) if phrase]
    if preset.dedup_gold:
        gold = list(dict.fromkeys(gold))
    matched = {"all": _select(rows, gold)}
    if source is not None:
        texts = [
            form(part) for part in ([source] if isinstance(source, str) else source)
        ]
        phrases = dict.fromkeys([row.form for row in rows] + gold)
        if preset.presence == "substring":
            present = {p for p in phrases if p and any(p in text for text in texts)}
        else:
            present = {p for p in phrases if any(contains_form(p, t) for t in texts)}
        matched["present"] = _select(
            [row for row in rows if row.form in present],
            [phrase for phrase in gold if phrase in present],
        )
        matched["absent"] = _select(
            [row for row in rows if row.form not in present],
            [phrase for phrase in gold if phrase not in present],
        )
    return matched


def _rows(
    predictions: Sequence[str], preset: Preset, form: Callable[[str], str]
) -> List[Row]:
    pairs = [(form(phrase), phrase) for phrase in predictions]
    pairs = [pair for pair in pairs if pair[0]]
    if preset.empty_line and not pairs:
        pairs = [("", "")]
    invalid = frozenset(preset.invalid)
    seen = set()
    had_one_word = False
    rows: List[Row] = []
    for phrase, surface in pairs:
        keep = counted = True
        if preset.dedup != "none":
            key = phrase if preset.dedup == "form" else surface.lower()
            counted = key not in seen
            keep = counted or preset.cut == "rows"
            seen.add(key)
        if invalid and not invalid.isdisjoint(phrase.split(" ")):
            keep = False
        if preset.one_word and " " not in phrase:
            # An invalid or repeated word takes the only place, too.
            keep = keep and not had_one_word
            had_one_word = True
        rows.append(Row(phrase, keep, counted))
    return rows


def _select(rows: List[Row], gold: List[str]) -> Matched:
    kept = [row for row in rows if row.keep]
    right = frozenset(gold)
    return Matched(
        forms=[row.form for row in kept],
        counted=[row.counted for row in kept],
        hits=[row.counted and row.form in right for row in kept],
        gold=gold,
        n_rows=len(rows),
    )
