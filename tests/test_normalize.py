"""Stems, words and normal forms; present and absent."""

import gzip
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from spacy_keyphrase.normalize import (
    SNOWBALL,
    Normalizer,
    contains_form,
    get_normalizer,
    is_present,
    normal_form,
    split_words,
)
from spacy_keyphrase.porter import porter_stem

NLTK = PorterStemmer()

RUSSIAN = "извлечение ключевых фраз из научных текстов методами машинного обучения"


@pytest.fixture(scope="module")
def corpus_words(data_dir):
    """Every distinct word of every text and keyphrase of the corpora."""
    tokens = set()
    for path in sorted(data_dir.glob("*/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf8") as file:
            for line in file:
                row = json.loads(line)
                tokens.update(row["text"].lower().split())
                tokens.update(" ".join(row["keyphrases"]).lower().split())
    # No word has white space in it, so the words of the tokens are all of them.
    return {word for token in tokens for word in split_words(token)}


@pytest.mark.slow
def test_porter_is_nltk_on_every_word_of_the_corpora(corpus_words):
    assert len(corpus_words) > 350_000
    different = {w for w in corpus_words if porter_stem(w) != NLTK.stem(w)}
    assert not different


@pytest.mark.slow
def test_every_stem_is_one_word(corpus_words):
    """Otherwise two sequences of stems could look the same when joined."""
    normalizer = Normalizer("en")
    stems = {normalizer.stem(word) for word in corpus_words}
    assert "" not in stems
    assert not [stem for stem in stems if len(stem.split()) != 1]


SUFFIXES = """
    s es ies sses ed eed ied ing y ational tional enci anci izer bli abli alli entli
    eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti
    fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant
    ement ment ent ion sion tion ou ism ate iti ous ive ize e ll ly
"""

english = st.builds(
    "".join,
    st.tuples(
        st.text("aeiouybcdlstwxz", max_size=6), st.sampled_from(SUFFIXES.split())
    ),
)


@settings(max_examples=2000)
@given(
    st.one_of(
        english,
        st.builds("".join, st.lists(st.sampled_from(SUFFIXES.split()), max_size=4)),
        st.text("aeiouybcdlst", max_size=10),
        st.text(max_size=12),
    )
)
@example("")
@example("İstanbul")
@example("alli")
@example("radicalli")
@example("apologi")
@example("geologies")
@example("yyyy")
@example("ion")
def test_porter_is_nltk_on_made_up_words(word):
    assert porter_stem(word) == NLTK.stem(word)


@pytest.mark.parametrize(
    "text, words",
    [
        ("State-of-the-art parsing", ["State", "of", "the", "art", "parsing"]),
        ("C++ and C# are not C", ["C++", "and", "C#", "are", "not", "C"]),
        ("a+b, x++y #tag 3.5", ["a", "b", "x", "y", "tag", "3", "5"]),
        ("snake_case don't", ["snake", "case", "don", "t"]),
        ("naïve café", ["naïve", "café"]),
        # Letters with combining marks stay one word.
        ("cafe\u0301 deja\u0300-vu", ["cafe\u0301", "deja\u0300", "vu"]),
        ("مُعَالَجَة اللُّغَة", ["مُعَالَجَة", "اللُّغَة"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        # Scripts without spaces count by character.
        ("深度学习", ["深", "度", "学", "习"]),
        ("BERT模型 v2", ["BERT", "模", "型", "v2"]),
        ("キーワード", ["キ", "ー", "ワ", "ー", "ド"]),
        ("한국어 처리", ["한국어", "처리"]),
        ("🙂 ?! \t\n", []),
        ("", []),
    ],
)
def test_words(text, words):
    assert split_words(text) == words


@pytest.mark.parametrize(
    "one, other",
    [
        ("Neural-Networks", "neural network"),
        ("state-of-the-art", "State of the Art"),
        ("C++", "c++"),
        ("深度学习", "深度 学习"),
        ("  graph\ttheory ", "graph theories"),
        ("?!", " ?!"),
    ],
)
def test_equal_phrases(one, other):
    assert normal_form(one) == normal_form(other) != ""


@pytest.mark.parametrize(
    "one, other",
    [
        ("network neural", "neural network"),
        ("C++", "C"),
        ("C#", "C"),
        ("cafe\u0301s", "caves"),
        ("deep learning", "deeplearning"),
        ("🙂", "🙃"),
    ],
)
def test_different_phrases(one, other):
    assert normal_form(one) != normal_form(other)


@given(st.text(max_size=100), st.sampled_from(["en", "de", "ru", "ar", "zh", "xx"]))
def test_forms_of_any_text(text, lang):
    normalizer = get_normalizer(lang)
    form = normalizer.form(text)
    assert form == " ".join(form.split())
    assert bool(form) == bool(text.strip())
    assert form == normalizer.form(f"  {text}\n")
    assert form.split() == list(normalizer.stems(text)) or not normalizer.stems(text)
    if normalizer.stems(text):
        assert is_present(text, f"before {text} after", lang)


@pytest.mark.parametrize(
    "lang, algorithm, text",
    [
        ("fr", "french", "réseaux neuronaux apprentissage extractions clés"),
        ("ru", "russian", RUSSIAN),
        ("ar", "arabic", "استخراج الكلمات المفتاحية من النصوص العربية"),
        ("de", "german", "Schlüsselwörter Häuser Verfahren Größen erkennt"),
    ],
)
def test_snowball(lang, algorithm, text):
    assert SNOWBALL[lang] == algorithm
    stemmer = snowballstemmer.stemmer(algorithm)
    normalizer = Normalizer(lang)
    stems = [stemmer.stemWord(word) for word in text.lower().split()]
    assert [normalizer.stem(word) for word in text.split()] == stems
    assert list(normalizer.stems(text)) == stems
    assert normal_form(text, lang) == " ".join(stems)
    assert normal_form(text, lang) != text.lower()


def test_every_snowball_algorithm_is_there():
    for lang in SNOWBALL:
        assert Normalizer(lang).stem("test")


def test_other_languages_are_only_lower_cased():
    assert normal_form("Klíčová Slova networks", "xx") == "klíčová slova networks"


def test_inflected_forms_are_equal():
    assert normal_form("réseau neuronal", "fr") == normal_form(
        "réseaux neuronaux", "fr"
    )
    assert normal_form("нейронная сеть", "ru") == normal_form("нейронные сети", "ru")


def test_present_across_sections():
    title, body = "Graph neural networks", "We study deep models for text."
    assert is_present("networks we", f"{title} {body}")
    assert not is_present("networks we", [title, body])
    for phrase in ("neural network", "studying deep model", "Graph-neural"):
        assert is_present(phrase, [title, body])
    # Never a part of a word, another order or nothing at all.
    for phrase in ("net", "network graph", "tex", "", "  "):
        assert not is_present(phrase, [title, body])
    assert not is_present("graph", [])


def test_contains_form_compares_whole_stems():
    assert contains_form("b c", "a b c d")
    assert contains_form("a", "a")
    assert not contains_form("b c", "a b cc")
    assert not contains_form("", "a b")


def test_join_keeps_tokens_as_they_are():
    normalizer = get_normalizer("en")
    assert normalizer.join(["State-of-the-art", ",", "Networks"]) == (
        "state-of-the-art , network"
    )
    assert normalizer.join([]) == ""


def test_one_normalizer_a_language():
    assert get_normalizer("en") is get_normalizer("en")
    assert get_normalizer("en") is not get_normalizer("de")


@pytest.mark.parametrize("lang", ["en", "ru", "xx"])
def test_pickle(lang):
    normalizer = Normalizer(lang)
    again = pickle.loads(pickle.dumps(normalizer))
    assert again.lang == lang
    assert again.form("Neural networks, нейронные сети") == (
        normalizer.form("Neural networks, нейронные сети")
    )


def test_threads_share_a_stemmer():
    """Snowball stemmers keep the word in the object; results must not mix."""
    endings = ["", "а", "ами", "ого", "ость", "ения", "ировать", "ирования"]
    stems = [word[:n] for word in RUSSIAN.split() for n in range(3, 9)]
    words = list(dict.fromkeys(stem + ending for stem in stems for ending in endings))
    alone = Normalizer("ru")
    expected = [alone.stem(word) for word in words]
    for _ in range(3):
        shared = Normalizer("ru")  # nothing memoised yet
        with ThreadPoolExecutor(8) as pool:
            runs = [
                pool.submit(lambda s=shared: [s.stem(word) for word in words])
                for _ in range(8)
            ]
            assert all(run.result() == expected for run in runs)


def test_a_phrase_without_words_is_looked_for_as_it_stands():
    assert is_present("\U0001f642", ["all is well \U0001f642 today"])
    assert not is_present("\U0001f642", ["all is well"])
    assert not is_present(" ", ["all is well"])
