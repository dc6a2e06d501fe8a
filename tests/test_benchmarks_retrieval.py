"""The benchmark of retrieval: its metrics, its test and its report, by hand."""

import json
from dataclasses import dataclass, field
from typing import Any, Dict

import numpy
import pytest
from numpy.testing import assert_allclose

from benchmarks.report import write_report
from benchmarks.retrieval import Bm25, _p_value, filtered, measure, recall_curve
from benchmarks.retrieval_data import Collection
from benchmarks.retrieval_ways import field_scores, standard, with_all_words


@dataclass
class Doc:
    id: str
    content: str = ""
    meta: Dict[str, Any] = field(default_factory=dict)


def test_p_value():
    assert _p_value(numpy.zeros(10)) == 1.0
    # One of 2**12 ways to sign the differences is as far up, one as far down.
    assert _p_value(numpy.ones(12)) == pytest.approx(2 / 2**12, abs=5e-4)
    assert _p_value(numpy.array([1.0, -1.0, 1.0, -1.0])) == 1.0


def test_metrics_by_hand():
    pytest.importorskip("pytrec_eval")
    documents = [Doc(name) for name in "abc"]
    queries = {"1": "x", "2": "y"}
    collection = Collection("c", documents, queries, {"1": {"b": 1}, "2": {"a": 2}})
    # Equal scores: the order of the documents, not that of their names.
    scores = numpy.array([[3.0, 2.0, 1.0], [0.0, 0.0, 0.0]])
    found = measure(collection, scores)
    assert found["nDCG@10"] == pytest.approx([1 / numpy.log2(3), 1.0])
    assert found["MAP"] == pytest.approx([0.5, 1.0])
    assert found["Recall@100"] == pytest.approx([1.0, 1.0])
    assert recall_curve(collection, scores) == pytest.approx([0.5, 1.0, 1.0])


def test_what_a_filter_leaves():
    documents = [Doc(name) for name in "abcd"]
    queries = {"1": "x", "2": "y"}
    collection = Collection("c", documents, queries, {"1": {"a": 1, "b": 1}, "2": {}})
    kept = numpy.array([[True, False, False, False], [False] * 4])
    found = filtered(collection, numpy.ones((2, 4)), kept)
    assert found == {"answered": 0.5, "documents left": 0.25, "relevant left": 0.5}


def test_all_words_in_the_place_of_keyphrases():
    (document,) = with_all_words([Doc("a", "The network and the networks of rain")])
    assert document.meta["keyphrases"] == ["network", "rain"]
    assert document.meta["keyphrases_scores"] == [2, 1]


def test_keyphrases_as_a_field():
    meta = {"keyphrases": ["dense network"], "keyphrases_scores": [0.9]}
    scores = field_scores(["networks", "town"], [Doc("a", meta=meta), Doc("b")])
    assert_allclose(scores, [[1.0, -1.0], [0.0, 0.0]])
    assert_allclose(standard(numpy.array([[1.0, 3.0]])), [[-1.0, 1.0]])


def test_bm25_finds_other_forms_of_words():
    pytest.importorskip("bm25s")
    pytest.importorskip("Stemmer")
    bm25 = Bm25(["Dense networks.", "Rain in town.", "A network of towns."])
    scores = bm25.search(["networks", "rain"])
    assert scores.shape == (2, 3)
    assert scores[0, 1] == 0 < min(scores[0, 0], scores[0, 2])
    assert scores[1].argmax() == 1


def test_report(tmp_path):
    plain = {"collection": "c", "queries": 9, "retriever": "BM25", "with": "plain"}
    plain.update({"nDCG@10": 0.5, "MAP": 0.4, "Recall@100": 0.9})
    ranked = {**plain, "with": "keyphrase ranker", "nDCG@10": 0.5312}
    for metric in ("nDCG@10", "MAP", "Recall@100"):
        ranked[f"{metric}, gain"] = 0.0312 if metric == "nDCG@10" else 0.0
        ranked[f"{metric}, p"] = 0.0004 if metric == "nDCG@10" else 1.0
    left = {"collection": "c", "queries": 9, "retriever": "BM25", "with": "filter"}
    left.update({"documents left": 0.625, "relevant left": 0.899, "answered": 1.0})
    folder = tmp_path / "results"
    folder.mkdir()
    results = {
        "retrieval": {"rows": [plain, ranked, left]},
        "indexing": {
            "rows": [{"system": "nlp.pipe", "docs/s": 300.0, "time / nlp.pipe": 1.0}]
        },
    }
    for name, result in results.items():
        (folder / f"{name}.json").write_text(json.dumps(result), encoding="utf8")
    write_report(folder, tmp_path / "RESULTS.md")
    report = (tmp_path / "RESULTS.md").read_text("utf8")
    assert "| BM25 | plain | 0.5000 | – | – |" in report
    assert "| BM25 | keyphrase ranker | 0.5312 | +0.0312 | 0.0004 |" in report
    assert "leaves 62 % of the first 100 documents by BM25, and 90 % of" in report
    assert "| nlp.pipe | 300 | 1.00 |" in report
    pytest.importorskip("matplotlib")
    assert (folder / "retrieval.png").read_bytes().startswith(b"\x89PNG")
