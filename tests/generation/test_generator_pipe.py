"""`keyphrase_generator` with each of its architectures: a few documents are learned by
heart, written again, saved and loaded."""

import pytest
import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

from lessons import LESSONS, make_bert, make_model  # noqa: E402

HUNGARIAN = {"@keyphrase_assignments": "spacy_keyphrase.Hungarian.v1"}
TRANSPORT = {"@keyphrase_assignments": "spacy_keyphrase.OptimalTransport.v1"}
SMALL = {
    "width": 48,
    "heads": 4,
    "inner": 96,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "slots": 8,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
# So that few steps are enough.
SURE = {"relation_dropout": 0.0, "smoothing": 0.0}
ARCHITECTURES = {
    "SetTrans": (None, {**SMALL, "assignment": TRANSPORT}),
    "SetTrans, Hungarian": (None, {**SMALL, "assignment": HUNGARIAN, "tied": True}),
    "SetSeq2Seq": ("t5", {"assignment": TRANSPORT, "slots": 8}),
    "SetSeq2Seq, BART": ("bart", {"assignment": HUNGARIAN, "slots": 8}),
    "UniKeyphrase": ("bert", {"total_steps": 250, **SURE}),
    "UniKeyphrase, RoBERTa": (
        "roberta",
        {"relation_layers": 1, "bag": "off", **SURE},
    ),
    "UniKeyphrase, as printed": (
        "bert",
        {"leak_free": False, "bag": "released", **SURE},
    ),
    "PUSL": ("t5", {}),
    "PUSL, BART": ("bart", {}),
    "One2Seq": ("t5", {}),
    "One2One": ("t5", {"k": 3}),
    "GROOV": ("t5", {"beams": 3}),
}


# Steps until the documents are known. Masks are drawn at random, and one document has
# several sequences of the same labels, where it takes longer.
STEPS = {"UniKeyphrase": 250, "GROOV": 300}


@pytest.fixture(scope="module")
def tokenizers(models_dir):
    return models_dir / "tokenizers"


def make_examples(nlp):
    examples = []
    for text, phrases in LESSONS.items():
        reference = nlp.make_doc(text)
        reference._.keyphrases = phrases
        examples.append(Example(nlp.make_doc(text), reference))
    return examples


def make_pipeline(name, tokenizers, folder, **settings):
    """A pipeline with one of the architectures, and its examples."""
    fix_random_seed(0)
    base, sizes = ARCHITECTURES[name]
    model = {"@architectures": f"spacy_keyphrase.{name.split(',')[0]}.v1", **sizes}
    if base in ("t5", "bart"):
        model["name"] = str(make_model(base, tokenizers, folder / "base"))
    elif base:
        model["name"] = str(make_bert(base, tokenizers, folder / "base"))
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_generator", config={"model": model, **settings})
    examples = make_examples(nlp)
    fix_random_seed(0)
    nlp.initialize(lambda: examples)
    return nlp, examples


def learn(nlp, examples, steps):
    optimizer = Adam(4e-3, L2=0.0, grad_clip=1.0)
    losses = []
    for _ in range(steps):
        losses.append(nlp.update(examples, sgd=optimizer)["keyphrase_generator"])
    return losses


def written(docs):
    return [[(k.normal_form, k.is_present) for k in doc._.keyphrases] for doc in docs]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def trained(request, tokenizers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("generator")
    nlp, examples = make_pipeline(request.param, tokenizers, folder)
    steps = STEPS.get(request.param.split(",")[0], 120)
    losses = learn(nlp, examples, steps)
    return request.param, nlp, examples, losses, folder


def test_documents_are_learned(trained):
    name, nlp, examples, losses, _ = trained
    assert losses[-1] < losses[0] / 3
    docs = list(nlp.pipe(LESSONS, component_cfg={"keyphrase_generator": {"k": 3}}))
    found = total = 0
    for doc, example in zip(docs, examples):
        gold = {(k.normal_form, k.is_present) for k in example.reference._.keyphrases}
        own = {(k.normal_form, k.is_present) for k in doc._.keyphrases}
        found += len(gold & own)
        total += len(gold)
        for phrase in doc._.keyphrases:
            assert 0 <= phrase.score <= 1
            assert phrase.source == "keyphrase_generator"
            assert all(span.doc is doc for span in phrase.spans)
    assert found >= 0.8 * total, (name, written(docs))
