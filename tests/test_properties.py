"""Whatever the text: no exception, valid offsets, sorted, unique and finite."""

import math
import random
import string

import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same import assert_same
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_keyphrase import Keyphrase, keyphrases_to_json
from spacy_keyphrase.normalize import get_normalizer, normal_form

LANGS = ("en", "xx", "ar", "zh", "de")


def build(lang, **config):
    nlp = spacy.blank(lang)
    nlp.add_pipe("keyphrase", config=config)
    return nlp


PIPELINES = {lang: build(lang) for lang in LANGS}
EVERYTHING = {lang: build(lang, top_n=0) for lang in LANGS}

# Pieces that are hard in company: words, joining marks, ends of sentences, emoji
# with modifiers, combining marks, controls, white space, several scripts.
VISIBLE = """
    neural networks Graph graphs based the of and C++ C# U.K. don't 3D
    10km 42 state-of-the-art - -- – ' ’ / & + _ . ! ? … ; , ( ) [ ] "
    « » # @ * \\ <b> &amp; http://a.b/c?d=e a@b.cd $5 5% 1,000.5 :) <3
    ♥ 🙂 👩‍👩‍👧 🏳️‍🌈 👍🏽 ½ ² ﬁ ß İ ı ſ Å é é Künstliche Intelligenz ist
    die сети Сеть и الشبكات العصبية في شبكة ؟ ، ـ 机 器 机器学习 是 的 。 、
    カタカナ ひらがな 한국어 हिन्दी ไทย עברית ‏ ‎ ؜
""".split()
INVISIBLE = [" ", "  ", "\n", "\n\n", "\t", "\r\n", "\x00", "\x1b", "\x7f", "\x85"]
INVISIBLE += ["\xa0", "\u2028", "\u3000", "\u200b", "\u200d", "\u00ad", "\ufeff"]
INVISIBLE += ["\ufffd", "\u0301"]
PIECES = st.sampled_from(VISIBLE + INVISIBLE)
MIXED = st.lists(PIECES, max_size=40).map("".join)
SPACED = st.lists(PIECES | st.text(max_size=8), max_size=40).map(" ".join)
LONG = st.builds(lambda piece, n: piece * n, PIECES, st.integers(100, 400))
TEXTS = st.text(max_size=200) | MIXED | SPACED | LONG


def check(doc, lang):
    """The promises of ``doc._.keyphrases``, whoever wrote them."""
    phrases, text = doc._.keyphrases, doc.text
    stems = get_normalizer(lang).stems
    # Some tokenizers cut words in two ("10km"), and phrases with such words then
    # have other forms than their texts.
    whole = stems(text) == tuple(stem for token in doc for stem in stems(token.text))
    forms = [phrase.normal_form for phrase in phrases]
    scores = [phrase.score for phrase in phrases]
    assert len(set(forms)) == len(forms) and all(forms)
    assert all(math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    for phrase in phrases:
        assert phrase.is_present == bool(phrase.offsets)
        assert phrase.offsets == sorted(set(phrase.offsets))
        for (start, end), span in zip(phrase.offsets, phrase.spans, strict=True):
            assert 0 <= start < end <= len(text)
            assert text[start:end] == span.text
            assert not whole or normal_form(span.text, lang) == phrase.normal_form
        assert not whole or normal_form(phrase.text, lang) == phrase.normal_form
    return phrases


@pytest.mark.parametrize("lang", LANGS)
@given(text=TEXTS)
@example(text="")
@example(text=" \n")
@settings(max_examples=60)
def test_any_text(lang, text):
    doc = PIPELINES[lang](text)
    phrases = check(doc, lang)
    assert len(phrases) <= 10
    assert doc.text == text
    for phrase in phrases:
        assert 0 <= phrase.score <= 1
        assert phrase.is_present
        assert phrase.text in [" ".join(span.text.split()) for span in phrase.spans]
    everything = check(EVERYTHING[lang](text), lang)
    first, rest = everything[: len(phrases)], everything[len(phrases) :]
    assert len(phrases) == 10 or not rest
    assert_same([[p.to_dict() for p in first]], [[p.to_dict() for p in phrases]])


@given(texts=st.lists(TEXTS, max_size=4))
@settings(max_examples=30)
def test_any_batch(texts):
    for nlp in PIPELINES.values():
        alone = [keyphrases_to_json(nlp(text)) for text in texts]
        assert_same([keyphrases_to_json(doc) for doc in nlp.pipe(texts)], alone)


SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000)
PHRASES = st.text(max_size=20) | st.lists(PIECES, max_size=4).map(" ".join)
GIVEN = st.lists(
    PHRASES | st.tuples(PHRASES, SCORES) | st.builds(Keyphrase, PHRASES, SCORES),
    max_size=12,
)


@pytest.mark.parametrize("lang", LANGS)
@given(text=TEXTS, phrases=GIVEN, data=st.data())
@settings(max_examples=40)
def test_any_phrases(lang, text, phrases, data):
    doc = PIPELINES[lang].make_doc(text)
    if len(doc):
        start = data.draw(st.integers(0, len(doc) - 1))
        end = data.draw(st.integers(start + 1, len(doc)))
        phrases = [*phrases, doc[start:end]]
    doc._.keyphrases = phrases
    found = check(doc, lang)
    texts = [
        p if isinstance(p, str) else p[0] if isinstance(p, tuple) else p.text
        for p in phrases
    ]
    forms = {normal_form(t, lang) for t in texts}
    assert {p.normal_form for p in found} == forms - {""}
    before = keyphrases_to_json(doc)
    other = Doc(Vocab()).from_bytes(doc.to_bytes())
    assert keyphrases_to_json(other) == before
    # Setting what was read changes nothing.
    doc._.keyphrases = found
    assert keyphrases_to_json(doc) == before


@pytest.mark.parametrize("lang", ["en", "xx", "zh"])
def test_one_token_of_200_000_characters(lang):
    doc = PIPELINES[lang]("x" * 200_000)
    check(doc, lang)
    doc._.keyphrases = ["x" * 200_000, "y" * 200_000]
    check(doc, lang)


@pytest.mark.parametrize("piece", ["ab-", "a b ", "- ", "中", ". ", "\u0301", "a\n\n"])
def test_one_piece_again_and_again(piece):
    nlp = PIPELINES["en"]
    check(nlp(piece * 4000), "en")


@pytest.mark.slow
def test_a_million_tokens():
    rng = random.Random(0)
    stop_words = "the of and in is to a for with that".split()
    known = [
        "".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 9)))
        for _ in range(50_000)
    ]
    words = [
        rng.choice(stop_words) if i % 3 == 0 else known[int(50_000 * rng.random() ** 3)]
        for i in range(1_000_000)
    ]
    nlp = build("en")
    nlp.max_length = 10_000_000
    # Made of words, a doc spares the time of the tokenizer.
    doc = nlp(Doc(nlp.vocab, words=words))
    assert len(doc) == 1_000_000
    assert len(check(doc, "en")) == 10
