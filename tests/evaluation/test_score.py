"""The public function: shapes, bounds, errors."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_keyphrase.evaluation import PRESETS, Preset, alpha_ndcg, get_preset, score

phrase = st.one_of(
    st.sampled_from(["graph", "Graphs", "neural network", "a", "<unk>", "x , y", ""]),
    st.text(max_size=8),
)
phrases = st.lists(phrase, max_size=8)
document = st.tuples(phrases, phrases, st.lists(phrase, max_size=6).map(" ".join))
corpora = st.lists(document, max_size=5)
KS = (1, 3, 5, "M", "O", "G")


def columns(corpus):
    return [list(column) for column in zip(*corpus, strict=True)] or [[], [], []]


@settings(max_examples=150)
@given(corpora, st.sampled_from(sorted(PRESETS)))
def test_any_corpus_is_scored(corpus, preset):
    scores = score(*columns(corpus), preset=preset, k=KS)
    deduplicated = preset not in ("kp20k_jointkpe", "promptrank_micro")
    for name, value in scores.values.items():
        if value is None:
            continue
        assert math.isfinite(value) and value >= 0
        if deduplicated and "_count" not in name and "_gold" not in name:
            assert value <= 1 + 1e-9, name
    assert all(len(a) == len(corpus) for a in scores.per_document.values())
    json.dumps(scores.to_dict())


@given(corpora.filter(bool))
def test_relations_that_always_hold(corpus):
    scores = score(*columns(corpus), k=KS)
    docs = scores.per_document
    for k in KS:
        hits = {kind: docs[f"{kind}_hits@M"] for kind in ("all", "present", "absent")}
        both = np.nan_to_num(hits["present"]) + np.nan_to_num(hits["absent"])
        np.testing.assert_array_equal(np.nan_to_num(hits["all"]), both)
        p, r, f1 = (docs[f"all_{m}@{k}"] for m in ("p", "r", "f1"))
        counts = ~np.isnan(p)
        p, r, f1 = p[counts], r[counts], f1[counts]
        assert np.all(f1 <= np.maximum(p, r) + 1e-12)
        assert np.all(f1 >= np.minimum(p, r) - 1e-12)
    gold = docs["present_gold"] + docs["absent_gold"]
    np.testing.assert_array_equal(docs["all_gold"], gold)
    soft = score(
        *columns(corpus), preset=replace(PRESETS["default"], denominator="soft")
    )
    assert (soft["all_p@5"] or 0) >= (scores["all_p@5"] or 0)


@given(phrases)
def test_gold_scores_1(gold):
    scores = score([gold], [gold], [" ".join(gold[:2])], k=["M", "O"])
    expected = 1 if any(text.strip() for text in gold) else None
    for name in ("all_f1@M", "all_f1@O", "all_map", "all_ndcg@M"):
        assert scores[name] == (expected and pytest.approx(expected))


@given(corpora)
def test_documents_are_scored_alone(corpus):
    together = score(*columns(corpus), k=KS).per_document
    for i, one in enumerate(corpus):
        alone = score(*columns([one]), k=KS).per_document
        for name, values in together.items():
            np.testing.assert_allclose(values[i], alone[name][0], atol=1e-9)


def test_undefined_is_none():
    scores = score([["a"]], [["a"]])
    assert scores["all_f1@5"] is not None
    assert scores["present_f1@5"] is None and scores["absent_map"] is None
    assert all(v is None for v in score([], []).values.values())
    for preset in PRESETS:
        scores = score([["a"], ["b"]], [["a"], ["a"]], ["a", "a b"], preset=preset)
        assert scores["absent_f1@5"] is None, preset
        assert scores["present_f1@5"] is not None, preset
        assert scores["absent_gold"] == 0


def test_words_or_tokens():
    gold, source = [["state of the art"]], ["State-of-the-art parsing (here)."]
    preds = [["state-of-the-art", "parsing (here)"]]
    scores = score(preds, gold, source)
    assert scores["present_r@M"] == 1 and scores["present_count"] == 2
    scores = score(preds, gold, source, preset="one2set")
    assert scores["present_r@M"] is None and scores["absent_r@M"] == 0
    unstemmed = replace(PRESETS["default"], stem=False)
    assert score(preds, gold, source, preset=unstemmed)["present_r@M"] == 1
    assert score([["arts"]], [["art"]], preset=unstemmed)["all_r@M"] == 0
    assert score([["arts"]], [["art"]])["all_r@M"] == 1


def test_languages():
    predictions, gold = [["réseaux neuronaux"]], [["réseau neuronal"]]
    assert score(predictions, gold, lang="fr")["all_f1@M"] == 1
    assert score(predictions, gold, lang="xx")["all_f1@M"] == 0


def test_phrases_without_words():
    # Symbols are phrases in their own right; white space is none.
    scores = score([["?!", " ", "🙂"]], [["🙂"]], ["well 🙂"])
    assert scores["all_count"] == 2
    assert scores["all_r@M"] == 1


@pytest.mark.parametrize("k, same", [("M", ["M"]), (5, [5]), (["5", 5, "M"], [5, "M"])])
def test_cutoffs_as_they_come(k, same):
    assert score([["a"]], [["a"]], k=k).values == score([["a"]], [["a"]], k=same).values


@pytest.mark.parametrize("k", [0, -1, "N", "", True, 2.5, None])
def test_bad_cutoffs(k):
    with pytest.raises(ValueError, match="1 or more"):
        score([["a"]], [["a"]], k=[k])


def test_bad_corpora():
    with pytest.raises(ValueError, match="2 predictions, 1 references"):
        score([["a"], ["b"]], [["a"]])
    with pytest.raises(ValueError, match="1 predictions, 1 references, 2 sources"):
        score([["a"]], [["a"]], ["a", "b"])
    with pytest.raises(TypeError, match=r"predictions\[1\] is the string 'b c'"):
        score([["a"], "b c"], [["a"], ["b"]])
    with pytest.raises(TypeError, match=r"references\[0\] holds 3"):
        score([["a"]], [[3]])
    with pytest.raises(TypeError, match="predictions is one list"):
        score("a", [["a"]])
    with pytest.raises(TypeError, match="sources is one text"):
        score([["a"]], [["a"]], "a")


def test_bad_presets():
    with pytest.raises(ValueError, match=r"'one2sett'.*one2set"):
        score([["a"]], [["a"]], preset="one2sett")
    with pytest.raises(ValueError, match="average is one of 'macro_f1'"):
        Preset("mine", average="macro")
    with pytest.raises(ValueError, match="stem is true or false"):
        Preset("mine", stem="porter")


def test_scores_name_their_convention():
    assert score([], [], preset="kpeval").preset == "kpeval"
    micro = replace(get_preset("default"), average="micro", words="tokens")
    scores = score([["a"]], [["a"]], preset=micro)
    assert scores.preset == "default(words=tokens, average=micro)"
    assert scores.to_dict()["preset"] == scores.preset
    assert score([], [], preset=Preset("mine", stem=False)).preset == "mine"
    with pytest.raises(KeyError, match=r"all_f1@7.*default.*all_f1@5"):
        scores["all_f1@7"]


def test_alpha_ndcg_rewards_novelty():
    gold = ["neural network", "graph"]
    places = [2, 3]
    # Characters decide: "net" is a part of "neural network", the phrase is not.
    repeated = alpha_ndcg(["neural", "net", "graph"], gold, places)
    novel = alpha_ndcg(["neural", "graph", "net"], gold, places)
    assert novel == [1, 1]
    discount = 1 / np.log2([2, 3, 4])
    ideal = np.cumsum([1, 1, 0.5] * discount)
    mine = np.cumsum([1, 0.5, 1] * discount)
    assert repeated == pytest.approx([mine[1] / ideal[1], mine[2] / ideal[2]])
    assert alpha_ndcg(["neural networks"], gold, [1]) == [0]
    assert alpha_ndcg([], gold, places) == alpha_ndcg(["a"], [], places) == [0, 0]
