"""Noun phrases and chunks: worked sentences, with and without tags."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_keyphrase.candidates import make_chunks, make_noun_phrases, make_phrases


@pytest.fixture(scope="module")
def tagger(models_dir):
    return spacy.load(
        models_dir / "en_core_web_sm_v2port", exclude=["parser", "lemmatizer"]
    )


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def suggested(suggester, doc):
    """The texts of the mentions in text order, the longer first."""
    mentions = set(suggester(doc))
    return [
        doc[start:end].text
        for start, end in sorted(mentions, key=lambda m: (m[0], -m[1]))
    ]


# Noun phrases, by the tags of a real tagger


@pytest.mark.parametrize(
    "text,phrases",
    [
        (
            "Efficient algorithms for large-scale graph mining were proposed.",
            ["Efficient algorithms", "large-scale graph mining"],
        ),
        (
            "We study state-of-the-art neural machine translation.",
            ["state-of-the-art neural machine translation"],
        ),
        (
            "Support vector machines classify documents quickly.",
            ["Support vector machines", "documents"],
        ),
        (
            "Data mining of social networks in the United Kingdom",
            ["Data mining", "social networks", "United Kingdom"],
        ),
        ("graph theory's main theorem", ["graph theory", "main theorem"]),
        # Not across the end of a sentence.
        ("Big red apple. Green pears", ["Big red apple", "Green pears"]),
        ("He runs quickly and they eat.", []),
        ("", []),
    ],
)
def test_noun_phrases(tagger, text, phrases):
    doc = tagger(text)
    assert suggested(make_noun_phrases(), doc) == phrases
    assert suggested(make_phrases(), doc) == phrases


def test_parts_of_noun_phrases_end_in_a_noun(tagger):
    doc = tagger("We study state-of-the-art neural machine translation.")
    assert suggested(make_noun_phrases(subphrases=True), doc) == [
        "state-of-the-art neural machine translation",
        "state-of-the-art neural machine",
        "state-of-the-art",
        "neural machine translation",
        "neural machine",
        "machine translation",
        "machine",
        "translation",
    ]


def test_long_noun_phrases_give_way_to_their_parts(tagger):
    """A compound counts as one word."""
    doc = tagger("We study state-of-the-art neural machine translation.")
    assert suggested(make_noun_phrases(max_words=4), doc) != []
    assert suggested(make_noun_phrases(max_words=3), doc) == []
    assert suggested(make_noun_phrases(max_words=2, subphrases=True), doc) == [
        "state-of-the-art",
        "neural machine",
        "machine translation",
        "machine",
        "translation",
    ]


def test_sentences_end_noun_phrases(nlp):
    """With sentence starts but no mark between the sentences."""
    words = "graph theory neural networks".split()
    tags = ["NN", "NN", "JJ", "NNS"]
    one = Doc(nlp.vocab, words=words, tags=tags)
    assert suggested(make_noun_phrases(), one) == ["graph theory neural networks"]
    starts = [True, False, True, False]
    two = Doc(nlp.vocab, words=words, tags=tags, sent_starts=starts)
    assert suggested(make_noun_phrases(), two) == ["graph theory", "neural networks"]


def test_noun_phrases_need_tags(nlp):
    with pytest.raises(ValueError, match=r"needs part-of-speech tags.*Phrases\.v1"):
        make_noun_phrases()(nlp("Neural networks rank words."))
    assert make_noun_phrases()(nlp("")) == []


def test_phrases_fall_back_to_chunks(nlp):
    doc = nlp("Neural networks and deep learning, in graphs of words.")
    assert suggested(make_phrases(), doc) == suggested(make_chunks(), doc)
    assert suggested(make_phrases(), doc) == [
        "Neural networks",
        "deep learning",
        "graphs",
        "words",
    ]


def test_chunks_look_at_no_tags(nlp):
    words = "the neural networks learn".split()
    doc = Doc(nlp.vocab, words=words, tags=["DT", "RB", "RB", "NN"])
    plain = Doc(nlp.vocab, words=words)
    assert suggested(make_noun_phrases(), doc) == ["learn"]
    assert suggested(make_chunks(), doc) == suggested(make_chunks(), plain)


# Other languages, by universal parts of speech


def tagged(lang, *pairs):
    words, pos = zip(*[pair.split("/") for pair in " ".join(pairs).split()])
    return Doc(spacy.blank(lang).vocab, words=words, pos=pos)


def test_french_adjectives_may_follow_the_noun():
    doc = tagged(
        "fr",
        "les/DET réseaux/NOUN neuronaux/ADJ profonds/ADJ apprennent/VERB une/DET",
        "langue/NOUN naturelle/ADJ et/CCONJ de/ADP grandes/ADJ villes/NOUN rares/ADJ",
    )
    assert suggested(make_noun_phrases(), doc) == [
        "réseaux neuronaux profonds",
        "langue naturelle",
        "grandes villes rares",
    ]
    assert suggested(make_noun_phrases(trailing_adjectives=False), doc) == [
        "réseaux",
        "langue",
        "grandes villes",
    ]


def test_adjectives_alone_are_no_phrase():
    doc = tagged("fr", "il/PRON est/AUX grand/ADJ et/CCONJ très/ADV beau/ADJ")
    assert make_noun_phrases()(doc) == []


def test_german_adjectives_precede_the_noun():
    doc = tagged(
        "de",
        "die/DET künstliche/ADJ Intelligenz/NOUN lernt/VERB tiefe/ADJ neuronale/ADJ",
        "Netze/NOUN ,/PUNCT ein/DET Haus/NOUN schön/ADJ und/CCONJ groß/ADJ",
    )
    assert suggested(make_noun_phrases(), doc) == [
        "künstliche Intelligenz",
        "tiefe neuronale Netze",
        "Haus",
    ]
    trailing = make_noun_phrases(trailing_adjectives=True)
    assert suggested(trailing, doc)[-1] == "Haus schön"


def test_universal_parts_of_speech_will_do_in_english():
    doc = tagged("en", "the/DET deep/ADJ New/PROPN York/PROPN networks/NOUN ran/VERB")
    assert suggested(make_noun_phrases(), doc) == ["deep New York networks"]


# Chunks, in blank pipelines


@pytest.mark.parametrize(
    "lang,text,phrases",
    [
        (
            "en",
            "A well-known machine-learning method in the United Kingdom quickly ran.",
            ["well-known machine-learning method", "United Kingdom"],
        ),
        (
            "de",
            "Künstliche Intelligenz ist ein Teilgebiet der Informatik.",
            ["Künstliche Intelligenz", "Teilgebiet", "Informatik"],
        ),
        (
            "fr",
            "L'apprentissage automatique est un champ de l'intelligence artificielle.",
            ["apprentissage automatique", "champ", "intelligence artificielle"],
        ),
        (
            "ru",
            "Машинное обучение — это класс методов искусственного интеллекта.",
            ["Машинное обучение", "класс методов искусственного интеллекта"],
        ),
        (
            "ar",
            "التعلم الآلي هو فرع من الذكاء الاصطناعي.",
            ["التعلم الآلي", "فرع", "الذكاء الاصطناعي"],
        ),
        ("xx", "Neural networks, deep learning; 42 graphs", None),
    ],
)
def test_chunks(lang, text, phrases):
    doc = spacy.blank(lang)(text)
    if phrases is None:
        phrases = ["Neural networks", "deep learning", "graphs"]
    assert suggested(make_chunks(), doc) == phrases


def test_chinese_chunks():
    doc = spacy.blank("zh")("机器学习是数据科学的分支。")
    phrases = suggested(make_chunks(), doc)
    assert "机器学习" in phrases
    assert not [phrase for phrase in phrases if "是" in phrase or "。" in phrase]


def test_no_chunk_holds_a_stop_word_mark_or_number(nlp):
    text = "The graphs of 3000 words (in a network) are: trees; 12 forests / woods!"
    assert suggested(make_chunks(), nlp(text)) == [
        "graphs",
        "words",
        "network",
        "trees",
        "forests",
        "woods",
    ]


@pytest.mark.parametrize("make", [make_phrases, make_noun_phrases, make_chunks])
def test_phrases_have_at_least_one_word(make):
    with pytest.raises(ValueError, match="max_words must be at least 1, not 0"):
        make(max_words=0)
