"""``keyphrase`` in every language that spaCy can build here."""

import pkgutil
from contextlib import suppress
from importlib import import_module

import pytest
import spacy
import spacy.lang
from same import assert_same

from spacy_keyphrase import keyphrases_to_json
from spacy_keyphrase.normalize import normal_form

CODES = sorted(m.name for m in pkgutil.iter_modules(spacy.lang.__path__) if m.ispkg)
ENGLISH = (
    "Neural networks learn representations of words. Graph-based ranking of "
    "keyphrases beats simple statistics, and neural networks beat both."
)


def build(lang):
    try:
        nlp = spacy.blank(lang)
    except ImportError as error:
        pytest.skip(f"the tokenizer needs a package: {str(error).splitlines()[0]}")
    nlp.add_pipe("keyphrase")
    return nlp


def check(doc, lang):
    phrases = doc._.keyphrases
    forms = [p.normal_form for p in phrases]
    scores = [p.score for p in phrases]
    assert len(set(forms)) == len(forms) <= 10
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for phrase in phrases:
        assert phrase.is_present
        assert {normal_form(s.text, lang) for s in phrase.spans} == {phrase.normal_form}
    return phrases


@pytest.mark.parametrize("lang", CODES)
def test_every_language(lang):
    nlp = build(lang)
    # In a text of another script or language, it need only go well.
    texts = [ENGLISH, "", " ", "..."]
    with suppress(ImportError):
        texts.append(" ".join(import_module(f"spacy.lang.{lang}.examples").sentences))
    docs = list(nlp.pipe(texts))
    for doc in docs:
        check(doc, lang)
    if len(docs) > 4:
        assert docs[4]._.keyphrases
    assert not [p for doc in docs[1:4] for p in doc._.keyphrases]
    assert_same(
        [keyphrases_to_json(nlp(text)) for text in texts],
        [keyphrases_to_json(doc) for doc in docs],
    )


@pytest.mark.parametrize(
    "lang,text,phrase",
    [
        (
            "de",
            "Künstliche Intelligenz ist ein Teilgebiet der Informatik. Die künstliche "
            "Intelligenz ahmt das menschliche Denken nach.",
            "Künstliche Intelligenz",
        ),
        (
            "fr",
            "L'intelligence artificielle est un champ de recherche. Les méthodes de "
            "l'intelligence artificielle sont nombreuses.",
            "intelligence artificielle",
        ),
        (
            "es",
            "Las redes neuronales son modelos. Una red neuronal aprende de los datos.",
            "redes neuronales",
        ),
        (
            "ru",
            "Нейронные сети — это модели. Обучение нейронных сетей требует данных.",
            "Нейронные сети",
        ),
        (
            "ar",
            "الذكاء الاصطناعي هو علم. يستخدم الذكاء الاصطناعي في الطب.",
            "الذكاء الاصطناعي",
        ),
        (
            "xx",
            "Keyphrase extraction! Keyphrase extraction?",
            "Keyphrase extraction",
        ),
        ("zh", "机器学习是数据科学的分支。机器学习需要数据。", "机器学习"),
    ],
)
def test_the_phrase_that_comes_twice(lang, text, phrase):
    (best, *_) = check(build(lang)(text), lang)
    assert best.text == phrase
    assert len(best.spans) == 2
