"""What models answer, and what of it can be used."""

import pytest

from spacy_keyphrase.selectors import Labelled, Labels, Listing, Malformed, read_reply

THREE = Labels(["", "", ""])
NUMBERS = Listing("numbers", numbers=True)
PHRASES = Listing("keyphrases", numbers=False)


@pytest.mark.parametrize(
    "reply",
    [
        '{"labels": ["T", "F", "T"]}',
        '{"labels": [true, false, true]}',
        '```json\n{"labels": ["T", "F", "T"]}\n```',
        'Here you are:\n{"labels": ["T", "F", "T"]}\nAnything else?',
        '["T", "F", "T"]',
        "[T, F, T]",
        "T F T",
        "T, F, T.",
        "t\nf\nt\n",
        "1. T\n2. F\n3. T",
        "1: true\n2: false\n3: yes",
        "(1) robot arm: T\n(2) F-measure - F\n(3) T cell: T",
    ],
)
def test_labels(reply):
    assert read_reply(reply, THREE) == Labelled([True, False, True])


@pytest.mark.parametrize(
    "reply, message",
    [
        ("", "empty"),
        ("```\n```", "empty"),
        ('{"labels": ["T", "F"]}', "2 labels for 3 candidates"),
        ('{"labels": ["T", "F", "T", "F"]}', "4 labels for 3"),
        ('{"labels": ["T", "maybe", "T"]}', "no list of T and F"),
        ('{"labels": ["T", "F", ["T"]]}', "no list of T and F"),
        ('{"labels": ["T", "F",', "no list of T and F"),
        ('{"keyphrases": ["T", "F", "T"]}', "no list of labels"),
        ('{"labels": "TFT"}', "no list of labels"),
        ("I'm sorry, but I can't help with that.", "no list of T and F: \"I'm sorry"),
        ("1. T\n3. F\n2. T", "no list of T and F"),
        ("TFT", "no list of T and F"),
        ("42", "no list of T and F"),
    ],
)
def test_no_labels(reply, message):
    with pytest.raises(Malformed, match=message):
        read_reply(reply, THREE)


@pytest.mark.parametrize(
    "reply, numbers",
    [
        ('{"numbers": [3, 1]}', [3, 1]),
        ('{"numbers": ["3", "1"]}', [3, 1]),
        ('{"numbers": []}', []),
        ("[3, 1]", [3, 1]),
        ("3, 1", [3, 1]),
        ("3.\n1.", [3, 1]),
    ],
)
def test_numbers(reply, numbers):
    assert read_reply(reply, NUMBERS) == numbers


@pytest.mark.parametrize(
    "reply", ["none of the 3", '{"numbers": ["three"]}', '{"numbers": [[1]]}']
)
def test_no_numbers(reply):
    with pytest.raises(Malformed, match="no list of numbers"):
        read_reply(reply, NUMBERS)


@pytest.mark.parametrize(
    "reply, phrases",
    [
        ('{"keyphrases": ["Robot arm", "grasping"]}', ["Robot arm", "grasping"]),
        ("- Robot arm\n- grasping\n", ["Robot arm", "grasping"]),
        ('1. "Robot arm"\n2. grasping', ["Robot arm", "grasping"]),
        ("Robot arm, grasping", ["Robot arm", "grasping"]),
    ],
)
def test_phrases(reply, phrases):
    assert read_reply(reply, PHRASES) == phrases
    with pytest.raises(Malformed, match="no list of phrases"):
        read_reply('{"keyphrases": [1, 2]}', PHRASES)
