"""The Porter stemmer as the keyphrase literature uses it.

Porter (1980), "An algorithm for suffix stripping", with the departures that
NLTK's ``PorterStemmer`` makes in its default mode: published keyphrase scores
rest on those stems ("dying" -> "die", "sky" -> "sky", "survey" -> "survey").
The tests hold it equal to NLTK on every word of the benchmark corpora. It is
written out here because importing NLTK costs a second and 75 MB at start-up.
"""

from typing import Callable, Dict, List, Optional, Tuple

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

_Condition = Callable[[str], bool]
_Rules = List[Tuple[str, str]]


def _shape(word: str) -> str:
    """The word as a string of ``c`` (consonant) and ``v`` (vowel)."""
    shape: List[str] = []
    previous = "v"
    for char in word:
        if char in "aeiou" or (char == "y" and previous == "c" and shape):
            previous = "v"
        else:
            previous = "c"
        shape.append(previous)
    return "".join(shape)


def _measure(stem: str) -> int:
    """Porter's m: the number of vowel-consonant sequences in the stem."""
    return _shape(stem).count("vc")


def _ends_cvc(stem: str) -> bool:
    shape = _shape(stem)
    if len(stem) == 2:
        return shape == "vc"
    return shape[-3:] == "cvc" and stem[-1] not in "wxy"


def _ends_double_consonant(stem: str) -> bool:
    return len(stem) > 1 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c"


def _rewrite(word: str, rules: _Rules, condition: _Condition) -> str:
    """Apply the first rule whose suffix matches, if its stem allows it."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: len(word) - len(suffix)]
            return stem + replacement if condition(stem) else word
    return word


def _by_last_letter(rules: _Rules) -> Dict[str, _Rules]:
    """Index the rules by the last letter of their suffix, order kept."""
    index: Dict[str, _Rules] = {}
    for rule in rules:
        index.setdefault(rule[0][-1], []).append(rule)
    return index


_STEP_2 = _by_last_letter(
    [
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
        ("fulli", "ful"),
    ]
)
_STEP_3 = _by_last_letter(
    [
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    ]
)
_STEP_4 = _by_last_letter(
    [
        (suffix, "")
        for suffix in [
            "al",
            "ance",
            "ence",
            "er",
            "ic",
            "able",
            "ible",
            "ant",
            "ement",
            "ment",
            "ent",
            "ion",
            "ou",
            "ism",
            "ate",
            "iti",
            "ous",
            "ive",
            "ize",
        ]
    ]
)


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem: Optional[str] = None
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            stem = word[: -len(suffix)]
            break
    if stem is None:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double_consonant(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    if _measure(stem) == 1 and _ends_cvc(stem):
        return stem + "e"
    return stem


def _derivation(word: str) -> str:
    """Step 2, where "-alli" feeds the step again and "-logi" becomes "-log"."""
    while word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    rules = _STEP_2.get(word[-1:], [])
    return _rewrite(word, rules, lambda stem: _measure(stem) > 0)


def _final_e_and_ll(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_cvc(stem)):
            word = stem
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def porter_stem(word: str) -> str:
    """Stem one word.

    word (str): The word; it is lower-cased first.
    RETURNS (str): Its stem, as NLTK's ``PorterStemmer().stem(word)``.
    """
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past_and_progressive(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _derivation(word)
    word = _rewrite(word, _STEP_3.get(word[-1:], []), lambda s: _measure(s) > 0)
    if word.endswith("ion"):
        if _measure(word[:-3]) > 1 and word[-4] in "st":
            word = word[:-3]
    else:
        word = _rewrite(word, _STEP_4.get(word[-1:], []), lambda s: _measure(s) > 1)
    return _final_e_and_ll(word)
