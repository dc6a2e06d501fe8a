"""60 documents scored by eight public evaluators, run as they are."""

import json
from dataclasses import replace

import numpy as np
import pytest

from spacy_keyphrase.evaluation import (
    INVALID_TOKENS,
    PRESETS,
    Preset,
    dup_phrase_ratio,
    emb_sim,
    score,
    sem_diverse_index,
)
from spacy_keyphrase.evaluation.matching import make_form, match_document

TOLERANCE = 1e-5
KINDS = ("all", "present", "absent")
ONE2SET = PRESETS["one2set"]

# Their names of corpus and per-document values, and ours.
CORPUS = {
    "macro_avg_p": "p",
    "macro_avg_r": "r",
    "macro_avg_f1": "f1",
    "micro_avg_p": "p",
    "micro_avg_r": "r",
    "micro_avg_f1": "f1",
    "MAP": "map",
    "avg_NDCG": "ndcg",
    "AlphaNDCG": "alpha_ndcg",
}
PER_DOCUMENT = {
    "precision": "p",
    "recall": "r",
    "f1_score": "f1",
    "num_matches": "hits",
    "num_targets": "gold",
    "num_predictions": "count",
}


@pytest.fixture(scope="module")
def recorded(fixtures_dir):
    with open(fixtures_dir / "evaluators.json", encoding="utf8") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def corpus(recorded):
    docs = recorded["documents"]
    return (
        [doc["pred"] for doc in docs],
        [doc["gold"] for doc in docs],
        [f"{doc['title_tokens']} {doc['body_tokens']}" for doc in docs],
    )


def our_name(theirs, names):
    """From "macro_avg_f1@5_present" to "present_f1@5"."""
    metric, _, rest = theirs.partition("@")
    if not rest:
        metric, _, kind = theirs.rpartition("_")
        return f"{kind}_{names[metric]}"
    k, _, kind = rest.partition("_")
    return f"{kind}_{names[metric]}@{k}"


GENERATION_RUNS = [
    ("kg_one2set_default", ONE2SET),
    ("kg_one2set_meng_rui_precision", replace(ONE2SET, denominator="soft")),
    ("kg_one2set_one_word_filter_on", replace(ONE2SET, one_word=True)),
    ("kg_one2set_unk_kept_valid", replace(ONE2SET, invalid=(",", "."))),
    ("kg_one2set_match_by_str", replace(ONE2SET, presence="substring")),
    ("keyphrase_generation_rl_default", PRESETS["rl"]),
    ("kpeval_exact", PRESETS["kpeval"]),
    ("kpeval_exact", replace(PRESETS["kpeval"], average="micro")),
]


@pytest.mark.parametrize(
    "run, preset",
    GENERATION_RUNS,
    ids=lambda v: v.label if isinstance(v, Preset) else v,
)
def test_generation_evaluators_corpus(recorded, corpus, run, preset):
    scores = score(*corpus, preset=preset, k=(5, 10, 50, "M", "G", "O"))
    wrong = "macro" if preset.average == "micro" else "micro"
    theirs = {
        name: value
        for name, value in recorded["outputs"][run]["aggregate"].items()
        if not name.startswith(wrong)
    }
    assert len(theirs) >= 78
    for name, value in theirs.items():
        ours = scores[our_name(name, CORPUS)]
        assert ours == pytest.approx(value, abs=TOLERANCE), name


@pytest.mark.parametrize(
    "run, preset", [("kg_one2set_default", "one2set"), ("kpeval_exact", "kpeval")]
)
def test_generation_evaluators_per_document(recorded, corpus, run, preset):
    scores = score(*corpus, preset=preset, k=(5, 10, 50, "M", "G", "O"))
    theirs = recorded["outputs"][run]["per_doc"]
    assert len(theirs) >= 58
    for name, values in theirs.items():
        ours = scores.per_document[our_name(name, PER_DOCUMENT)]
        np.testing.assert_allclose(ours, values, atol=TOLERANCE, err_msg=name)


@pytest.mark.parametrize("run, preset", [GENERATION_RUNS[i] for i in (0, 2, 3, 4)])
def test_filtered_predictions_are_the_same(recorded, corpus, run, preset):
    theirs = recorded["outputs"][run]["filtered"]
    form = make_form(preset)
    for predicted, gold, filtered in zip(*corpus[:2], theirs, strict=True):
        matched = match_document(predicted, gold, None, preset, form)
        # No predictions were written as an empty line.
        assert ";".join(matched["all"].forms) == ";".join(filtered)


@pytest.mark.parametrize(
    "run, preset", [("bertkpe_openkp", "openkp"), ("bertkpe_kp20k", "kp20k_jointkpe")]
)
def test_bert_kpe(recorded, corpus, run, preset):
    theirs = recorded["outputs"][run]
    ks = [int(k) for k in theirs["mean"]]
    scores = score(*corpus, preset=preset, k=ks)
    for long, short in (("precision", "p"), ("recall", "r"), ("f1", "f1")):
        for k in ks:
            values = theirs["per_doc"][long][str(k)]
            name = f"all_{short}@{k}"
            np.testing.assert_allclose(
                scores.per_document[name], values, atol=TOLERANCE, err_msg=name
            )
            mean = theirs["mean"][str(k)][("p", "r", "f1").index(short)]
            assert scores[name] == pytest.approx(mean, abs=TOLERANCE)


def test_samrank(recorded, corpus):
    theirs = recorded["outputs"]["samrank_evaluate"]
    predicted, gold, sources = (
        [column[i] for i in theirs["documents_used"]] for column in corpus
    )
    scores = score(predicted, gold, sources, preset="samrank", k=(5, 10, 15))
    names = {"precision": "p", "recall": "r", "f1": "f1"}
    assert len(theirs["result"]) == 9
    for name, value in theirs["result"].items():
        metric, _, k = name.partition("@")
        ours = scores[f"all_{names[metric]}@{k}"]
        assert ours == pytest.approx(value, abs=TOLERANCE), name


def test_promptrank(recorded, corpus):
    theirs = recorded["outputs"]["promptrank_micro"]["result"]
    scores = score(*corpus, preset="promptrank_micro", k=[int(k) for k in theirs])
    for k, values in theirs.items():
        for long, short in (("P", "p"), ("R", "r"), ("F1", "f1")):
            ours = scores[f"all_{short}@{k}"]
            assert ours == pytest.approx(values[long], abs=TOLERANCE), (k, long)


@pytest.mark.parametrize("kind", ["present", "absent"])
@pytest.mark.parametrize(
    "preset, names",
    [
        ("meng_soft", {"precision": "p", "recall": "r", "f_score": "f1"}),
        ("meng_hard", {"precision_hard": "p", "recall": "r", "f_score_hard": "f1"}),
    ],
)
def test_meng(recorded, corpus, preset, names, kind):
    theirs = recorded["outputs"]["memray"]
    scores = score(*corpus, preset=preset, k=(5, 10, "M", "O"))
    for long, short in {**names, "correct": "hits"}.items():
        # Their @k is our @O.
        for their_k, k in (("5", 5), ("10", 10), ("k", "O"), ("M", "M")):
            name = f"{long}@{their_k}"
            values = [doc[kind]["scores"][name] for doc in theirs["per_doc"]]
            ours = f"{kind}_{short}@{k}"
            np.testing.assert_allclose(
                scores.per_document[ours], values, atol=TOLERANCE, err_msg=name
            )
            if short != "hits":
                mean = theirs["mean_over_all_docs"][kind][name]
                assert scores[ours] == pytest.approx(mean, abs=TOLERANCE), name


def test_invalid_predictions_of_meng_can_be_dropped(corpus):
    strict = replace(PRESETS["meng_hard"], invalid=INVALID_TOKENS)
    kept = score(*corpus, preset="meng_hard")
    dropped = score(*corpus, preset=strict)
    assert dropped["all_count"] < kept["all_count"]
    assert dropped["all_p@M"] > kept["all_p@M"]
    assert "invalid" in dropped.preset


def test_kpeval_diversity(recorded, corpus):
    theirs = recorded["outputs"]["kpeval_diversity"]
    scores = score(*corpus, preset="kpeval")
    unique = 1 - np.array(theirs["per_doc"]["unique_phrase_ratio"])
    ours = scores.per_document
    np.testing.assert_allclose(ours["dup_phrase_ratio"], unique, atol=TOLERANCE)
    np.testing.assert_allclose(
        ours["dup_token_ratio"], theirs["per_doc"]["dup_token_ratio"], atol=TOLERANCE
    )
    mean = theirs["mean"]["dup_token_ratio"]
    assert scores["dup_token_ratio"] == pytest.approx(mean, abs=TOLERANCE)
    # As a function of the phrases themselves; only the tokenisation differs.
    predicted = corpus[0][0]
    assert dup_phrase_ratio([p for p in predicted if p != "."]) == 0.25


@pytest.mark.parametrize("toy", range(4))
def test_kpeval_embeddings(recorded, toy):
    theirs = recorded["outputs"]["kpeval_diversity"]["embedding_toys"][toy]
    vectors = theirs["vectors"]
    assert emb_sim(vectors) == pytest.approx(theirs["emb_sim"], abs=TOLERANCE)
    index = sem_diverse_index(vectors)
    assert index == pytest.approx(theirs["sem_diverse_index"], abs=TOLERANCE)
