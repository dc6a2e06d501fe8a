"""``keyphrase_extractor``: learns, remembers, and says what is wrong."""

import pickle

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Model

from spacy_keyphrase import keyphrases_to_json
from spacy_keyphrase.candidates import make_ngrams
from spacy_keyphrase.pipeline.extractor import KeyphraseExtractor
from spacy_keyphrase.selection import Selection

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 32,
    "depth": 2,
    "embed_size": 500,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}
FEATURES = {"@layers": "spacy_keyphrase.PhraseFeatures.v1"}
ARCHITECTURES = ("JointKPE", "RankKPE", "ChunkKPE", "TagKPE", "SpanKPE")

# In every text the keyphrases follow "studies" and "with", wherever that is.
SUBJECTS = ["graph networks", "protein folding", "query logs", "tax law", "solar cells"]
METHODS = ["kernel methods", "regression", "deep learning", "surveys", "microscopy"]
TEXTS = [
    (f"{opening} This paper studies {subject} with {method}. Results are good.", gold)
    for i, subject in enumerate(SUBJECTS)
    for j, method in enumerate(METHODS)
    for opening in ["Much is known." if (i + j) % 2 else "Other work failed here."]
    for gold in [[subject, method]]
]


def config(architecture="JointKPE", **changes):
    model = {"@architectures": f"spacy_keyphrase.{architecture}.v1", "tok2vec": TOK2VEC}
    if architecture in ("JointKPE", "RankKPE", "ChunkKPE"):
        model["hidden_size"] = 32
    return {"model": {**model, **changes.pop("model", {})}, **changes}


def examples(nlp, texts=TEXTS):
    found = []
    for text, gold in texts:
        reference = nlp.make_doc(text)
        if gold is not None:
            reference._.keyphrases = gold
        found.append(Example(nlp.make_doc(text), reference))
    return found


def train(nlp, data, epochs=15):
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: data)
    optimizer.learn_rate = 0.005
    for _ in range(epochs):
        losses = {}
        for i in range(0, len(data), 5):
            nlp.update(data[i : i + 5], sgd=optimizer, losses=losses)
    return losses


def blank(**settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_extractor", config=config(**settings))
    return nlp


@pytest.fixture(scope="module")
def trained():
    nlp = blank(top_n=2)
    train(nlp, examples(nlp))
    return nlp


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_head_learns(architecture):
    """Half of the pairs of subject and method are held out."""
    nlp = blank(architecture=architecture, top_n=2)
    data = examples(nlp)
    train(nlp, data[::2])
    assert nlp.evaluate(data[1::2])["keyphrases_f1@M"] > 0.9


def test_keyphrases_of_a_trained_pipe(trained):
    doc = trained("This paper studies tax law with surveys. Tax laws and Surveys win.")
    phrases = doc._.keyphrases
    assert {p.normal_form for p in phrases} == {"tax law", "survey"}
    for phrase in phrases:
        assert phrase.source == "keyphrase_extractor"
        assert len(phrase.spans) == 2
        assert phrase.score == max(phrase.mention_scores)
        assert all(0 <= score <= 1 for score in phrase.mention_scores)


def test_alone_or_in_a_batch(trained):
    texts = [text for text, _ in TEXTS] + ["", "  \n", "Of the!", "surveys " * 3000]
    together = list(map(keyphrases_to_json, trained.pipe(texts, batch_size=7)))
    for text, found in zip(texts, together, strict=True):
        alone = keyphrases_to_json(trained(text))
        assert [p["text"] for p in alone] == [p["text"] for p in found]
        scores = [p["score"] for p in found]
        # Matrix products differ in the last bits with the size of the batch.
        assert [p["score"] for p in alone] == pytest.approx(scores, abs=1e-5)


def test_round_trips(trained, tmp_path):
    text = TEXTS[3][0]
    expected = keyphrases_to_json(trained(text))
    trained.to_disk(tmp_path)
    copy = blank(top_n=2)
    copy.from_bytes(trained.to_bytes())
    for other in [copy, spacy.load(tmp_path), pickle.loads(pickle.dumps(trained))]:
        assert keyphrases_to_json(other(text)) == expected


def test_processes(trained):
    texts = [text for text, _ in TEXTS]
    one = [keyphrases_to_json(doc) for doc in trained.pipe(texts, batch_size=5)]
    two = trained.pipe(texts, batch_size=5, n_process=2)
    assert list(map(keyphrases_to_json, two)) == one


def test_same_seed_same_weights():
    weights = []
    for _ in range(2):
        nlp = blank()
        train(nlp, examples(nlp), epochs=2)
        weights.append(nlp.get_pipe("keyphrase_extractor").model.to_bytes())
    assert weights[0] == weights[1]


def test_listener():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    nlp.add_pipe("keyphrase_extractor", config=config(model={"tok2vec": listener}))
    data = examples(nlp)
    first = train(nlp, data, epochs=1)["keyphrase_extractor"]
    assert train(nlp, data, epochs=8)["keyphrase_extractor"] < first / 2
    assert nlp(TEXTS[0][0])._.keyphrases


def test_a_long_document(trained):
    """Nothing is cut: what is said at the end is found."""
    text = "Nothing is said here. " * 5000
    doc = trained(text + "This paper studies solar cells with microscopy. Good.")
    assert len(doc) > 25_000
    assert {"solar cells", "microscopy"} == {p.text for p in doc._.keyphrases}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_unannotated_and_empty_docs_are_not_learned_from(architecture):
    nlp = blank(architecture=architecture)
    known = examples(nlp)[:2]
    unknown = examples(nlp, [("This paper studies tax law.", None), ("", ["law"])])
    nlp.initialize(lambda: known)
    pipe = nlp.get_pipe("keyphrase_extractor")
    assert pipe.update(unknown)["keyphrase_extractor"] == 0
    assert pipe.update(unknown[1:])["keyphrase_extractor"] == 0
    alone = pipe.update(known)["keyphrase_extractor"]
    assert pipe.update(known + unknown)["keyphrase_extractor"] == pytest.approx(alone)


def test_gold_with_other_tokens():
    """The reference may be tokenised otherwise: spans are aligned."""
    nlp = blank()
    predicted = nlp.make_doc("We study state-of-the-art deep learning.")
    words = ["We", "study", "state-of-the-art", "deep", "learning", "."]
    reference = Doc(nlp.vocab, words=words, spaces=[True] * 4 + [False] * 2)
    reference._.keyphrases = ["state-of-the-art", "deep learning"]
    pipe = nlp.get_pipe("keyphrase_extractor")
    example = Example(predicted, reference)
    nlp.initialize(lambda: [example])
    assert pipe.update([example])["keyphrase_extractor"] > 0


@pytest.mark.parametrize(
    "gold,message",
    [
        (None, "None of the first 1 examples has gold keyphrases in doc.spans"),
        (["graph theory"], "all absent from their texts"),
        (["of the"], "of the first 1 examples is a candidate"),
    ],
)
def test_nothing_to_learn_from(gold, message):
    nlp = blank()
    data = examples(nlp, [("We speak of the networks.", gold)])
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: data)


def test_a_listener_without_its_tok2vec():
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    nlp = blank(model={"tok2vec": listener})
    data = examples(nlp)
    with pytest.raises(ValueError, match="tok2vec"):
        train(nlp, data, epochs=1)


def test_a_model_of_something_else():
    with pytest.raises(ValueError, match="must be that of an extractor"):
        KeyphraseExtractor(
            spacy.blank("en").vocab, Model("other", lambda *_: None), make_ngrams()
        )


def test_analysis(trained):
    analysis = trained.analyze_pipes()
    assert analysis["attrs"]["doc._.keyphrases"]["assigns"] == ["keyphrase_extractor"]
    assert not any(analysis["problems"].values())


def test_styles():
    """One text, two conventions: the style says which is meant."""
    features = {
        "@layers": "spacy_keyphrase.PhraseFeatures.v1",
        "styles": ["subject", "method"],
    }
    nlp = blank(model={"features": features}, top_n=1)
    data = []
    for i, style in enumerate(features["styles"]):
        for example in examples(nlp, [(text, [gold[i]]) for text, gold in TEXTS]):
            example.reference.spans["keyphrases"].attrs["style"] = style
            data.append(example)
    train(nlp, data[::2] + data[1::2])
    pipe = nlp.get_pipe("keyphrase_extractor")
    text, (subject, method) = TEXTS[7]

    def scores(style):
        pipe.style = style
        pipe.selection = Selection(top_n=0)
        return {p.text: p.score for p in nlp(text)._.keyphrases}

    for style, expected in (("subject", subject), ("method", method)):
        found = scores(style)
        assert max(found, key=found.get) == expected
        assert scores({style: 1}) == found
    mixed = scores({"subject": 0.5, "method": 0.5})
    assert mixed[subject] < scores("subject")[subject]
    assert mixed[method] < scores("method")[method]
    assert scores({}) == scores(None)


@pytest.mark.parametrize("style", ["news", {"news": 0.5}])
def test_an_unknown_style_is_named(style):
    with pytest.raises(ValueError, match="does not know the style 'news'"):
        blank(style=style)


def test_a_mixture_of_styles_is_kept(tmp_path):
    features = {
        "@layers": "spacy_keyphrase.PhraseFeatures.v1",
        "styles": ["subject", "method"],
    }
    nlp = blank(model={"features": features}, style={"subject": 0.3, "method": 0.7})
    nlp.initialize(lambda: examples(nlp))
    nlp.to_disk(tmp_path)
    pipe = spacy.load(tmp_path).get_pipe("keyphrase_extractor")
    assert pipe.style == {"subject": 0.3, "method": 0.7}


def test_blend(tmp_path):
    """With more and more weight the untrained ranking decides."""
    nlp = blank(model={"features": FEATURES}, top_n=0, blend=0.2)
    train(nlp, examples(nlp), epochs=5)
    pipe = nlp.get_pipe("keyphrase_extractor")
    doc = nlp.make_doc(TEXTS[7][0])
    mentions = pipe.read([doc])

    def scores(blend):
        pipe.blend = blend
        return pipe.score_mentions([doc], mentions)

    network, blended = scores(0), scores(0.2)
    untrained = (blended - network) / 0.2
    assert numpy.ptp(untrained) > 1
    assert_allclose(scores(0.6) - network, 0.6 * untrained, atol=1e-4)
    # It is of phrases: the same for all mentions of one.
    assert len(set(zip(mentions.phrases, untrained.round(4), strict=True))) == (
        mentions.n_phrases
    )
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("keyphrase_extractor").blend == 0.2


@pytest.mark.parametrize(
    ("architecture", "model"), [("RankKPE", {}), ("ChunkKPE", {"features": FEATURES})]
)
def test_nothing_to_blend_with(architecture, model):
    with pytest.raises(ValueError, match=r"has the blend 0\.5, but its model has no"):
        blank(architecture=architecture, model=model, blend=0.5)


@pytest.mark.parametrize(
    ("architecture", "model", "message"),
    [
        ("RankKPE", {}, "does not fit the config: .*from 1 to 3"),
        ("JointKPE", {"hidden_size": 16}, "does not fit .*from 16 to 32"),
        ("JointKPE", {"styles": ["a"]}, "'phrase_features' from 38 to 39"),
        ("JointKPE", {"styles": ["b", "a"]}, r"styles \['a', 'b'\], the config has"),
    ],
)
def test_a_model_of_another_config(architecture, model, message, tmp_path):
    def make(architecture, styles=("a", "b"), **model):
        features = {
            "@layers": "spacy_keyphrase.PhraseFeatures.v1",
            "styles": list(styles),
        }
        model = {"features": features, **model}
        return blank(architecture=architecture, model=model)

    nlp = make("JointKPE")
    nlp.initialize(lambda: examples(nlp))
    pipe = make(architecture, **model).get_pipe("keyphrase_extractor")
    with pytest.raises(ValueError, match=message) as caught:
        pipe.from_bytes(nlp.get_pipe("keyphrase_extractor").to_bytes())
    assert "Load it with the config that it was saved with." in str(caught.value)
    nlp.get_pipe("keyphrase_extractor").to_disk(tmp_path / "pipe")
    pipe = make(architecture, **model).get_pipe("keyphrase_extractor")
    with pytest.raises(ValueError, match=message):
        pipe.from_disk(tmp_path / "pipe")
