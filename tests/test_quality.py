"""The default pipeline on real corpora: above what the peers reach there.

The bars are the best public unsupervised figures under the same evaluator
(macro F1@10, hard k, all gold; see benchmarks/). They are far from ours, so a
failure means that something broke.
"""

import gzip
import json
from itertools import islice

import pytest
import spacy

from spacy_keyphrase.evaluation import score

pytestmark = pytest.mark.slow


def f1_at_10(nlp, path, limit=None):
    with gzip.open(path, "rt", encoding="utf8") as lines:
        rows = [json.loads(line) for line in islice(lines, limit)]
    docs = nlp.pipe(row["text"] for row in rows)
    predictions = [[k.text for k in doc._.keyphrases] for doc in docs]
    references = [row["keyphrases"] for row in rows]
    return score(predictions, references, lang=nlp.lang)["all_f1@10"]


@pytest.mark.parametrize(
    ("corpus", "bar"),
    [
        ("inspec/test", 0.318),  # multi-rake
        ("semeval2017/all", 0.269),  # multi-rake
        ("duc2001/test", 0.147),  # yake
        ("www/test", 0.138),  # yake
    ],
)
@pytest.mark.parametrize("method", ["auto", "statistical"])
def test_blank_pipeline_beats_what_needs_no_model(data_dir, corpus, bar, method):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config={"method": method})
    assert f1_at_10(nlp, data_dir / f"{corpus}.jsonl.gz") > bar


@pytest.mark.parametrize(
    ("lang", "corpus", "bar"),
    [
        ("fr", "taln/fr", 0.123),  # yake
        ("ar", "akec_ar/train", 0.051),  # multi-rake
    ],
)
def test_other_languages_beat_it_too(data_dir, lang, corpus, bar):
    nlp = spacy.blank(lang)
    nlp.add_pipe("keyphrase")
    assert f1_at_10(nlp, data_dir / f"{corpus}.jsonl.gz") > bar


@pytest.mark.parametrize(
    ("corpus", "bar"),
    [
        ("inspec/test", 0.34),  # SingleRank
        ("semeval2017/all", 0.30),  # PositionRank
        ("duc2001/test", 0.29),  # PositionRank
    ],
)
def test_tagged_pipeline_beats_the_graph_rankers(data_dir, models_dir, corpus, bar):
    model = models_dir / "en_core_web_sm_v2port"
    nlp = spacy.load(model, exclude=["parser", "lemmatizer"])
    nlp.add_pipe("keyphrase", config={"method": "statistical"})
    assert f1_at_10(nlp, data_dir / f"{corpus}.jsonl.gz") > bar


@pytest.mark.parametrize("method", ["auto", "statistical"])
def test_full_papers_do_not_favour_long_phrases(data_dir, method):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config={"method": method})
    path = data_dir / "krapivin" / "full_rest.jsonl.gz"
    assert f1_at_10(nlp, path, limit=60) > 0.15
