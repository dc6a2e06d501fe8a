"""The scorer in real pipelines."""

import json
import pickle
import subprocess
import sys
from typing import Callable, Dict, List, Optional

import pytest
import spacy
from spacy.cli.evaluate import evaluate
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry

from spacy_keyphrase.evaluation import make_keyphrase_scorer, score

TEXTS = [
    "Neural networks for graphs. We train neural networks.",
    "Keyphrase extraction with graphs",
    "Nothing of interest here",
]
GOLD = [
    ["neural network", "graph", "deep learning"],
    ["keyphrase extraction", "ranking"],
    None,  # not annotated
]
# What the component finds in these texts, in this order.
VOCABULARY = ["graph", "neural network", "ranking", "extraction"]


@Language.factory(
    "vocabulary_keyphrases",
    default_config={
        "phrases": VOCABULARY,
        "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
    },
    default_score_weights={"keyphrases_f1@5": 1.0, "keyphrases_present_f1@5": None},
)
class VocabularyKeyphrases:
    """Finds the phrases of a list, and always adds "ranking"."""

    def __init__(
        self,
        nlp: Language,
        name: str,
        phrases: List[str],
        scorer: Optional[Callable[..., Dict[str, Optional[float]]]],
    ):
        self.phrases = phrases
        self.scorer = scorer

    def __call__(self, doc: Doc) -> Doc:
        doc._.keyphrases = self.phrases
        doc._.keyphrases = [
            phrase
            for phrase in doc._.keyphrases
            if phrase.is_present or phrase.text == "ranking"
        ]
        return doc

    def score(self, examples, **kwargs):
        return self.scorer(examples, **kwargs) if self.scorer else {}


def make_examples(nlp):
    examples = []
    for text, gold in zip(TEXTS, GOLD, strict=True):
        reference = nlp.make_doc(text)
        if gold is not None:
            reference._.keyphrases = gold
        examples.append(Example(nlp.make_doc(text), reference))
    return examples


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("vocabulary_keyphrases")
    return nlp


def test_scores_of_a_pipeline(nlp):
    scores = nlp.evaluate(make_examples(nlp))
    # Predicted: graph, neural network, ranking / graph, ranking, extraction.
    expected = score(
        [["graph", "neural network", "ranking"], ["graph", "ranking", "extraction"]],
        GOLD[:2],
        TEXTS[:2],
    )
    assert scores["keyphrases_f1@5"] == expected["all_f1@5"] == pytest.approx(0.3928571)
    assert scores["keyphrases_f1@M"] == expected["all_f1@M"] == pytest.approx(8 / 15)
    assert scores["keyphrases_present_f1@5"] == expected["present_f1@5"]
    assert scores["keyphrases_absent_r@10"] == pytest.approx(1 / 2)
    assert scores["keyphrases_map"] == expected["all_map"]
    # Gold mentions: three and one; predicted: three and two, three of them right.
    assert scores["spans_keyphrases_p"] == pytest.approx(3 / 5)
    assert scores["spans_keyphrases_r"] == pytest.approx(3 / 4)
    assert scores["spans_keyphrases_f"] == pytest.approx(2 / 3)
    weights = nlp.get_pipe_meta("vocabulary_keyphrases").default_score_weights
    assert set(weights) <= set(scores)
    assert all(v is None or isinstance(v, float) for v in scores.values())


def test_without_gold_everything_is_none(nlp):
    examples = make_examples(nlp)[2:]
    scores = nlp.evaluate(examples)
    names = [name for name in scores if "keyphrases" in name]
    assert len(names) > 40
    assert all(scores[name] is None for name in names)


def test_key_k_and_preset_from_a_config(tmp_path):
    nlp = spacy.blank("en")
    scorer = {
        "@scorers": "spacy_keyphrase.scorer.v1",
        "key": "topics",
        "k": [1, 3, "O"],
        "preset": "one2set",
    }
    nlp.add_pipe("vocabulary_keyphrases", config={"scorer": scorer})
    nlp.to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    reference = nlp.make_doc(TEXTS[0])
    reference._.keyphrases = ["graphs"]
    reference.spans["topics"] = reference.spans["keyphrases"]
    scores = nlp.evaluate([Example(nlp.make_doc(TEXTS[0]), reference)])
    # The component writes to another key: nothing was predicted here.
    assert scores["topics_f1@1"] == scores["topics_present_r@3"] == 0
    assert scores["topics_p@O"] == 0
    assert scores["topics_absent_f1@1"] is None
    assert "topics_f1@5" not in scores and "keyphrases_f1@5" not in scores
    assert scores["spans_topics_r"] == 0


def test_language_of_the_stems():
    nlp = spacy.blank("fr")
    scorer = make_keyphrase_scorer(k=[5])
    predicted, reference = (nlp.make_doc("Les réseaux neuronaux") for _ in range(2))
    predicted._.keyphrases = ["réseaux neuronaux"]
    reference._.keyphrases = ["réseau neuronal"]
    assert scorer([Example(predicted, reference)])["keyphrases_present_r@5"] == 1


def test_conventions_on_tokens_get_tokens():
    """Raw text would hide every phrase before a full stop or beside a hyphen."""
    nlp = spacy.blank("en")
    texts = [nlp.make_doc("We study graph-based networks, and graphs.") for _ in "ab"]
    for doc in texts:
        doc._.keyphrases = ["graph-based networks", "graphs"]
    for preset in ("default", "one2set", "openkp"):
        scores = make_keyphrase_scorer(preset=preset)([Example(*texts)])
        assert scores["keyphrases_present_f1@M"] == 1, preset
        assert scores["keyphrases_absent_f1@M"] is None, preset


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match="no evaluation preset 'mine'"):
        make_keyphrase_scorer(preset="mine")
    with pytest.raises(ValueError, match="1 or more"):
        make_keyphrase_scorer(k=[0])


def test_registered_and_pickled(nlp):
    make = registry.scorers.get("spacy_keyphrase.scorer.v1")
    assert make is make_keyphrase_scorer
    scorer = pickle.loads(pickle.dumps(make(k=[5])))
    examples = make_examples(nlp)
    for example in examples:
        nlp.get_pipe("vocabulary_keyphrases")(example.predicted)
    assert scorer(examples)["keyphrases_f1@5"] == pytest.approx(0.3928571)


def test_spacy_evaluate_shows_it(nlp, tmp_path, capsys):
    nlp.to_disk(tmp_path / "pipeline")
    references = [example.reference for example in make_examples(nlp)[:2]]
    DocBin(docs=references, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    data = evaluate(
        str(tmp_path / "pipeline"),
        tmp_path / "gold.spacy",
        output=tmp_path / "scores.json",
        spans_key="keyphrases",
        silent=False,
    )
    assert data["spans_keyphrases_f"] == pytest.approx(2 / 3)
    table = capsys.readouterr().out.split()
    assert table[table.index("F", table.index("SPAN")) + 1] == "66.67"
    with open(tmp_path / "scores.json", encoding="utf8") as file:
        assert json.load(file)["spans_keyphrases_p"] == pytest.approx(3 / 5)


def test_import_is_light():
    heavy = ("torch", "transformers", "haystack", "nltk", "sklearn", "scipy", "pandas")
    code = (
        "import sys, spacy; before = set(sys.modules);"
        "import spacy_keyphrase.evaluation.scorer;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    new = done.stdout.split()
    assert "spacy_keyphrase" in new
    assert not set(new) & set(heavy)
