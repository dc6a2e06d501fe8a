"""What keyphrases can do for retrieval: the ways that are compared."""

from collections import Counter
from dataclasses import replace
from typing import Any, Callable, List, Sequence

import numpy

Scores = numpy.ndarray
# Documents that are ranked again.
TOP = 100
# Keyphrases of a document that are a field, or have vectors.
FIELD_PHRASES, VECTOR_PHRASES = 20, 10


def rank_again(
    queries: Sequence[str], documents: Sequence[Any], scores: Scores, top_n: int = 20
) -> Scores:
    """The first documents in the order of `KeyphraseRanker`, before all others."""
    from haystack_kp import KeyphraseRanker

    ranker = KeyphraseRanker(top_n=top_n)
    number = {document.id: i for i, document in enumerate(documents)}
    whole = scores - scores.max() - 1
    for own, new, query in zip(scores, whole, queries):
        first = numpy.argsort(-own, kind="stable")[:TOP]
        given = [replace(documents[i], score=float(own[i])) for i in first]
        ranked = ranker.run(query, given)["documents"]
        for place, document in enumerate(ranked):
            new[number[document.id]] = TOP - place
    return whole


def with_all_words(documents: Sequence[Any]) -> List[Any]:
    """Documents with all their words in the place of keyphrases, by how often they
    occur: what shows whether it is keyphrases that help."""
    from spacy.lang.en.stop_words import STOP_WORDS

    from spacy_keyphrase.normalize import get_normalizer

    stems = get_normalizer("en").stems
    results = []
    for document in documents:
        words = [
            w for w in (document.content or "").lower().split() if w not in STOP_WORDS
        ]
        counts = Counter(stem for word in words for stem in stems(word))
        texts, times = zip(*counts.most_common()) if counts else ((), ())
        meta = {"keyphrases": list(texts), "keyphrases_scores": list(times)}
        results.append(replace(document, meta={**document.meta, **meta}))
    return results


def field_scores(queries: Sequence[str], documents: Sequence[Any]) -> Scores:
    """How far the keyphrases of all documents have the words of queries, in standard
    deviations."""
    from spacy_keyphrase.normalize import get_normalizer
    from spacy_keyphrase.retrieval.ranking import weigh

    stems = get_normalizer("en").stems
    fields = [weigh(_phrases(d)[:FIELD_PHRASES], "en") for d in documents]
    asked = [dict.fromkeys(stems(query)) for query in queries]
    scores = [
        [sum(own.get(s, 0.0) for s in words) for own in fields] for words in asked
    ]
    return standard(numpy.asarray(scores))


def nearest_phrases(
    asked: numpy.ndarray,
    documents: Sequence[Any],
    embed: Callable[[Sequence[str]], numpy.ndarray],
) -> Scores:
    """How near to queries the nearest keyphrase of each document is, in standard
    deviations.

    asked (ndarray): Vectors of the queries.
    """
    own = [[text for text, _ in _phrases(d)[:VECTOR_PHRASES]] for d in documents]
    places = {text: i for i, text in enumerate(sorted({t for ts in own for t in ts}))}
    likeness = asked @ embed(list(places)).T
    scores = numpy.full((len(asked), len(documents)), likeness.min())
    for i, texts in enumerate(own):
        if texts:
            scores[:, i] = likeness[:, [places[t] for t in texts]].max(1)
    return standard(scores)


def expand(documents: Sequence[Any]) -> List[str]:
    """The contents of documents, with their keyphrases."""
    from haystack_kp import KeyphraseDocumentExpander

    expander = KeyphraseDocumentExpander(top_n=10)
    return contents(expander.run(list(documents))["documents"])


def expand_queries(
    queries: Sequence[str], documents: Sequence[Any], scores: Scores
) -> List[str]:
    """Queries with keyphrases of what they have found."""
    from haystack_kp import KeyphraseQueryExpander

    expander = KeyphraseQueryExpander(repeat_query=3)
    more = []
    for query, own in zip(queries, scores):
        first = numpy.argsort(-own, kind="stable")[:10]
        given = [replace(documents[i], score=float(own[i])) for i in first]
        more.append(expander.run(query, given)["query"])
    return more


def with_phrases_of(queries: Sequence[str], documents: Sequence[Any]) -> numpy.ndarray:
    """Whether a document has a keyphrase that a query has, which is what a filter by
    `KeyphraseFilterBuilder` lets through; bool of shape (queries, documents)."""
    from haystack_kp import KeyphraseQueryExpander
    from spacy_keyphrase import normal_form

    expander = KeyphraseQueryExpander()
    forms = [{normal_form(text) for text, _ in _phrases(d)} for d in documents]
    rows = []
    for query in queries:
        own = {normal_form(text) for text in expander.run(query)["phrases"]}
        rows.append([not own.isdisjoint(form) for form in forms])
    return numpy.asarray(rows)


def standard(scores: Scores) -> Scores:
    """In standard deviations from the mean of each query."""
    spread = scores.std(1, keepdims=True)
    centred: Scores = scores - scores.mean(1, keepdims=True)
    return centred / numpy.where(spread > 0, spread, 1.0)


def contents(documents: Sequence[Any]) -> List[str]:
    """The contents of documents."""
    return [document.content or "" for document in documents]


def _phrases(document: Any) -> List[Any]:
    meta = document.meta
    return list(zip(meta.get("keyphrases", ()), meta.get("keyphrases_scores", ())))
