"""Values worked out by hand in the descriptions of the protocols."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_keyphrase.evaluation import (
    PRESETS,
    Ranking,
    dup_phrase_ratio,
    dup_token_ratio,
    emb_sim,
    mean_emb_sim,
    score,
)
from spacy_keyphrase.normalize import normal_form

BASE = replace(PRESETS["default"], zero_gold="include")
ROUNDED = 5.1e-5  # the values are printed with four digits

DOCS = {
    "A": (["a"], ["a", "b"]),
    "B": (["a", "b", "x", "c", "y", "z", "d", "w"], list("abcdef")),
    "C": (["q"], []),
    "D": ([], ["a"]),
}

# Documents, k, denominator: mean of F1, harmonic mean of P and R, micro.
AVERAGES = [
    ("AB", 5, "hard", 0.4156, 0.4444, 0.4444),
    ("AB", 5, "soft", 0.6061, 0.6154, 0.5714),
    ("AB", "M", "hard", 0.6190, 0.6562, 0.5882),
    ("AB", "M", "soft", 0.6190, 0.6562, 0.5882),
    ("AB", "O", "hard", 0.5000, 0.5000, 0.5000),
    ("AB", "O", "soft", 0.5833, 0.6000, 0.5333),
    ("ABC", 5, "hard", 0.2771, 0.2963, 0.3478),
    ("ABC", "M", "hard", 0.4127, 0.4375, 0.5556),
    ("ABCD", 5, "hard", 0.2078, 0.2222, 0.2759),
    ("ABCD", "M", "hard", 0.3095, 0.3281, 0.5263),
]

# The P and R that the table gives in brackets.
PRECISION_RECALL = [
    ("AB", 5, "hard", 0.4, 0.5),
    ("AB", 5, "soft", 0.8, 0.5),
    ("AB", "M", "hard", 0.75, 0.5833),
    ("ABCD", 5, "hard", 0.2, 0.25),
    ("ABCD", "M", "hard", 0.375, 0.2917),
]


def score_docs(names, k, **options):
    predictions, references = zip(*[DOCS[name] for name in names], strict=True)
    return score(predictions, references, preset=replace(BASE, **options), k=[k])


@pytest.mark.parametrize("docs, k, denominator, macro_f1, macro_pr, micro", AVERAGES)
def test_three_averages(docs, k, denominator, macro_f1, macro_pr, micro):
    expected = {"macro_f1": macro_f1, "macro_pr": macro_pr, "micro": micro}
    for average, value in expected.items():
        scores = score_docs(docs, k, denominator=denominator, average=average)
        assert scores[f"all_f1@{k}"] == pytest.approx(value, abs=ROUNDED), average
        assert scores.average == average


@pytest.mark.parametrize("docs, k, denominator, precision, recall", PRECISION_RECALL)
def test_macro_precision_and_recall(docs, k, denominator, precision, recall):
    scores = score_docs(docs, k, denominator=denominator)
    assert scores[f"all_p@{k}"] == pytest.approx(precision, abs=ROUNDED)
    assert scores[f"all_r@{k}"] == pytest.approx(recall, abs=ROUNDED)


def test_skipping_documents_without_gold():
    included = score_docs("ABC", 5)
    skipped = score_docs("ABC", 5, zero_gold="skip")
    assert skipped["all_f1@5"] == score_docs("AB", 5)["all_f1@5"]
    assert included["all_f1@5"] == pytest.approx(skipped["all_f1@5"] * 2 / 3)
    assert np.isnan(skipped.per_document["all_f1@5"][2])
    # The number of predictions does not depend on gold.
    assert skipped["all_count"] == pytest.approx((1 + 8 + 1) / 3)


@pytest.mark.parametrize(
    "word, stem",
    [
        ("networks", "network"),
        ("studies", "studi"),
        ("keyphrase", "keyphras"),
        ("learning", "learn"),
        ("dying", "die"),
        ("sky", "sky"),
        ("analyses", "analys"),
        ("analysis", "analysi"),
        ("queries", "queri"),
        ("classification", "classif"),
    ],
)
def test_stems_decide_equality(word, stem):
    assert normal_form(word) == normal_form(word.upper()) == stem
    for name in ("default", "one2set", "kp20k_jointkpe", "promptrank_micro"):
        assert score([[word.upper()]], [[word]], preset=name)["all_f1@M"] == 1


def test_phrases_are_sequences():
    preds = [["network neural", "neural", "neural network model", "Neural Networks"]]
    scores = score(preds, [["neural network"]], k=[3, 4])
    assert scores["all_r@3"] == 0
    assert scores["all_r@4"] == 1


def test_order_is_stem_deduplicate_drop_truncate():
    preset = replace(PRESETS["one2set"], average="macro_f1")
    preds = [["a network", "a networks", "the , set", "<unk>", ".", "set", "map"]]
    scores = score(preds, [["set", "map"]], preset=preset, k=[1, 2, 3])
    # Left are "a network", "set", "map".
    assert [scores[f"all_p@{k}"] for k in (1, 2, 3)] == pytest.approx([0, 1 / 2, 2 / 3])
    assert scores["all_count"] == 3


TITLE, BODY = "graph neural networks", "we study deep models for text"


@pytest.mark.parametrize(
    "phrase, joined, apart",
    [
        ("neural network", True, True),
        ("network graph", False, False),
        ("studying deep model", True, True),
        ("networks we", True, False),
    ],
)
@pytest.mark.parametrize("preset", ["default", "one2set"])
def test_present_is_a_run_of_stems(phrase, joined, apart, preset):
    for source, present in ((f"{TITLE} {BODY}", joined), ([TITLE, BODY], apart)):
        scores = score([[phrase]], [[phrase]], [source], preset=preset)
        assert (scores["present_gold"] == 1) is present
        assert (scores["absent_gold"] == 1) is not present
        kind, other = ("present", "absent") if present else ("absent", "present")
        assert scores[f"{kind}_f1@M"] == 1
        assert scores[f"{other}_f1@M"] is None


def test_openkp_does_not_stem():
    scores = score([["Neural Network"]], [["neural networks"]], preset="openkp")
    assert scores["all_f1@M"] == 0
    scores = score([["Neural  Networks"]], [["neural networks"]], preset="openkp")
    assert scores["all_f1@M"] == 1


def test_present_predictions_are_compared_with_present_gold():
    # "deep model" is absent gold of another surface: its stems do not occur.
    scores = score(
        [["deep model", "graph"]],
        [["graph", "deep learning"]],
        ["a graph, deep models"],
    )
    assert scores["present_p@M"] == 0.5
    assert scores["absent_r@M"] == 0


@pytest.mark.parametrize(
    "denominator, precision, recall, f1",
    [("hard", 0.2, 0.5, 0.2857), ("soft", 1.0, 0.5, 0.6667)],
)
def test_hard_and_soft(denominator, precision, recall, f1):
    scores = score_docs("A", 5, denominator=denominator)
    assert scores["all_p@5"] == pytest.approx(precision)
    assert scores["all_r@5"] == pytest.approx(recall)
    assert scores["all_f1@5"] == pytest.approx(f1, abs=ROUNDED)
    assert scores["all_b@5"] == pytest.approx(0.2)


def test_precision_at_5_beside_precision_at_m():
    scores = score([["a", "b", "c"]], [["a", "b", "c"]], k=[5, "M"])
    assert (scores["all_p@5"], scores["all_p@M"]) == (pytest.approx(3 / 5), 1)


def test_soft_f1_does_not_change_beyond_the_last_prediction():
    scores = score([["a", "x"], ["b"]], [["a"], ["c"]], preset="meng_soft", k=[5, 10])
    assert scores["all_f1@5"] == scores["all_f1@10"]


def test_g_divides_by_the_larger_side():
    few = score([["a"]], [["a", "b"]], k=["G", "O"])
    many = score([["a", "x", "y"]], [["a", "b"]], k=["G", "O"])
    assert (few["all_p@G"], many["all_p@G"]) == (
        pytest.approx(1 / 2),
        pytest.approx(1 / 3),
    )
    assert many["all_p@O"] == pytest.approx(1 / 2)


def test_ndcg_and_average_precision():
    predictions, gold = [["a", "x", "b", "y", "z"]], [["a", "b", "c"]]
    scores = score(predictions, gold, k=[5])
    assert scores["all_ndcg@5"] == pytest.approx(0.7039, abs=ROUNDED)
    assert scores["all_map"] == pytest.approx(0.5556, abs=ROUNDED)
    ranking = Ranking([[True, False, True, False, False]], [3])
    assert ranking.ndcg(5) == pytest.approx(0.7039, abs=ROUNDED)
    assert ranking.average_precision() == pytest.approx(0.5556, abs=ROUNDED)
    # Relative to the system's own two hits: 1.5 / 1.6309.
    assert ranking.ndcg(5, ideal="hits") == pytest.approx(0.9197, abs=ROUNDED)


# The example of PUSL: gold a, b, c and five phrases asked for.
LAZY_AND_PROLIFIC = [
    # predictions, P@5, P@O, R@O, F1@O, B@5, #K@5
    ("a", 1.0, 1.0, 0.3333, 0.5, 0.2, 1),
    ("abcxy", 0.6, 1.0, 1.0, 1.0, 0.6, 5),
    ("abc", 1.0, 1.0, 1.0, 1.0, 0.6, 3),
    ("axbyc", 0.6, 0.6667, 0.6667, 0.6667, 0.6, 5),
    ("aabxa", 0.6667, 0.6667, 0.6667, 0.6667, 0.4, 3),
]


@pytest.mark.parametrize("letters, p5, p_o, r_o, f1_o, b5, count", LAZY_AND_PROLIFIC)
def test_lazy_and_prolific(letters, p5, p_o, r_o, f1_o, b5, count):
    scores = score([list(letters)], [list("abc")], preset="pusl", k=[5, "O"])
    names = ("p@5", "p@O", "r@O", "f1@O", "b@5", "count@5")
    expected = (p5, p_o, r_o, f1_o, b5, count)
    for name, value in zip(names, expected, strict=True):
        assert scores[f"all_{name}"] == pytest.approx(value, abs=ROUNDED), name
    assert scores["all_b@5"] <= min(3, 5) / 5


def test_promptrank_counts_rows_before_deduplication():
    # Rows: network, NETWORK (same surface), networks (same stem: right again).
    scores = score(
        [["network", "NETWORK", "networks"]],
        [["networks", "graph", "graph"]],
        preset="promptrank_micro",
        k=[5],
    )
    assert scores["all_p@5"] == pytest.approx(2 / 3)
    assert scores["all_r@5"] == pytest.approx(2 / 3)


def test_kp20k_counts_repetitions():
    scores = score([["a", "A"]], [["a", "b"]], preset="kp20k_jointkpe", k=[5])
    assert scores["all_p@5"] == pytest.approx(2 / 5)
    assert scores["all_r@5"] == 1


def test_unikeyphrase_cuts_before_it_deduplicates():
    predictions = [["a", "A", "a", "x", "y", "b"]]
    scores = score(predictions, [["a", "b"]], preset="unikeyphrase", k=[5, "M"])
    assert scores["all_p@5"] == pytest.approx(1 / 3)  # a, x, y
    assert scores["all_r@5"] == pytest.approx(1 / 2)
    assert scores["all_p@M"] == pytest.approx(2 / 4)
    later = replace(PRESETS["unikeyphrase"], cut="unique")
    assert score(predictions, [["a", "b"]], preset=later, k=[5])["all_p@5"] == 0.5


@pytest.mark.parametrize(
    "phrases, ratio",
    [
        (["safe hazard", "safe problem"], 0.25),
        (["safe hazards", "safe hazard", "risk"], 0.40),
        (["safe hazard"], 0),
        ([], 1),
    ],
)
def test_dup_token_ratio(phrases, ratio):
    assert dup_token_ratio(phrases) == pytest.approx(ratio)
    assert score([phrases], [["risk"]])["dup_token_ratio"] == pytest.approx(ratio)


def test_dup_phrase_ratio():
    assert dup_phrase_ratio(["graph", "Graphs", "graph theory"]) == pytest.approx(1 / 3)
    assert dup_phrase_ratio(["grafo", "grafos"], lang="xx") == 0


def test_emb_sim():
    vectors = {"a": [1, 0], "b": [0, 1], "c": [0.5**0.5, 0.5**0.5]}
    assert emb_sim([vectors[p] for p in "abc"]) == pytest.approx(0.47140, abs=1e-5)
    assert (emb_sim([vectors["a"]]), emb_sim([])) == (1, 0)
    # The length of a vector does not matter, and a zero vector is like nothing.
    assert emb_sim([[2, 0], [7, 7], [0, 0]]) == pytest.approx(0.5**0.5 / 3)

    def embed(phrases):
        return [vectors[phrase] for phrase in phrases]

    mean = mean_emb_sim([["a", "b", "c"], ["a"], []], embed)
    assert mean == pytest.approx((0.47140 + 1 + 0) / 3, abs=1e-5)
    assert mean_emb_sim([], embed) is None
    with pytest.raises(ValueError, match="one vector a phrase"):
        emb_sim([1.0, 2.0])
