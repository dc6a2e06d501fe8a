"""The public code of the five heads, its weights and its outputs."""

import json
from types import SimpleNamespace

import numpy
import pytest
from numpy.testing import assert_allclose
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_keyphrase.models.heads import HEADS, Gold
from spacy_keyphrase.models.heads.tag import tag_labels
from spacy_keyphrase.models.mentions import Mentions, phrase_max
from spacy_keyphrase.models.ngram import build_chunk, build_joint, build_rank
from spacy_keyphrase.models.token import build_span, build_tag
from spacy_keyphrase.normalize import get_normalizer

BUILDERS = {
    "joint": build_joint,
    "rank": build_rank,
    "chunk": build_chunk,
    "tag": build_tag,
    "span": build_span,
}
VARIANTS = ("openkp_nostem", "kp20k_stem")
LONGEST = 5


@pytest.fixture(scope="module")
def reference(fixtures_dir):
    safetensors = pytest.importorskip("safetensors.numpy")
    data = json.loads((fixtures_dir / "bertkpe.json").read_text("utf8"))
    data["weights"] = {
        name: values.astype("f4")
        for name, values in safetensors.load_file(
            fixtures_dir / "bertkpe_heads_fp16.safetensors"
        ).items()
    }
    return data


def encoder(reference):
    """Stands for BERT: the given states of the first sub-token of every word."""
    states = [
        of_doc[numpy.flatnonzero(valid)]
        for of_doc, valid in zip(
            reference["weights"]["hidden_states"], reference["valid_ids"], strict=True
        )
    ]
    forward = lambda model, docs, is_train: (states, lambda d: docs)  # noqa: E731
    return Model("states", forward, dims={"nO": 32})


def load(model, weights, head):
    own = {
        name.removeprefix(f"bert2{head}."): values
        for name, values in weights.items()
        if name.startswith(f"bert2{head}.")
    }
    output = model.get_ref("output")
    if head == "span":
        attention = "self_att_classifier"
        layers = ["classifier", f"{attention}.query_layer", f"{attention}.key_layer"]
    else:
        layers = ["classifier"] + ["chunk_classifier"] * (head == "joint")
    output.set_param("W", numpy.vstack([own[f"{name}.weight"] for name in layers]))
    output.set_param("b", numpy.hstack([own[f"{name}.bias"] for name in layers]))
    for n in range(1, LONGEST + 1):
        name = f"cnn2gram.cnn_{n}" if head == "chunk" else f"cnn2gram.cnn_list.{n - 1}"
        if f"{name}.weight" in own:
            kernel = own[f"{name}.weight"].transpose(0, 2, 1)
            composer = model.get_ref("composer")
            composer.set_param(f"W{n}", kernel.reshape(len(kernel), -1).copy())
            composer.set_param(f"b{n}", own[f"{name}.bias"])


@pytest.fixture(params=[(h, v) for h in BUILDERS for v in VARIANTS], ids="-".join)
def case(request, reference):
    """One head on both documents: its output, the gold, and the expected values."""
    head, variant = request.param
    stem = get_normalizer("en").stem if "_stem" in variant else str
    docs, starts, ends, phrases, counts = [], [], [], [], []
    strings, offset, gold_phrases, gold_mentions, spans = [], 0, [], [], []
    examples = reference["examples_kp20k" if stem is not str else "examples_openkp"]
    for example in examples:
        words = example["doc_words"]
        docs.append(Doc(Vocab(), words=words))
        annotated = {(s, e + 1) for of in example["start_end_pos"] for s, e in of}
        spans.append(sorted(annotated))
        ids, mentions = {}, {}
        for n in range(1, LONGEST + 1):
            for i in range(len(words) - n + 1):
                form = tuple(map(stem, words[i : i + n]))
                ids.setdefault(form, " ".join(words[i : i + n]))
                mentions.setdefault(form, []).append((i, i + n))
        for form in ids:
            gold_phrases.append(any(m in annotated for m in mentions[form]))
            for start, end in mentions[form]:
                starts.append(start + offset)
                ends.append(end + offset)
                phrases.append(len(strings))
                gold_mentions.append((start, end) in annotated)
            strings.append(ids[form])
        counts.append((len(words), len(ids)))
        offset += len(words)
    arrays = [numpy.asarray(values, dtype="i4") for values in (starts, ends, phrases)]
    batch = Mentions(*arrays, *numpy.asarray(counts, dtype="i4").T)
    model = BUILDERS[head](encoder(reference))
    model.initialize(X=(docs, batch))
    load(model, reference["weights"], head)
    return SimpleNamespace(
        name=head,
        head=HEADS[head](),
        docs=docs,
        mentions=batch,
        strings=numpy.array(strings),
        form=lambda phrase: [stem(word) for word in phrase.split()],
        output=model.predict((docs, batch)),
        gold=Gold(numpy.array(gold_phrases), numpy.array(gold_mentions), spans),
        expected=reference["outputs"][f"bert2{head}"][variant],
    )


def test_loss(case):
    loss = case.head.loss(case.output, case.mentions, case.gold)
    assert loss.value == pytest.approx(case.expected["loss"], abs=1e-4)
    for part in loss.parts:
        if f"{part}_loss_part" in case.expected:
            expected = case.expected[f"{part}_loss_part"]
            assert loss.parts[part] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "case", [(h, v) for h in ("joint", "rank") for v in VARIANTS], indirect=True
)
def test_phrase_scores(case):
    scores = phrase_max(case.head.scores(case.output, case.mentions), case.mentions)
    expected = [s for of_doc in case.expected["phrase_scores"] for s in of_doc]
    named = [p for of_doc in case.expected["phrase_list"] for p in of_doc]
    assert case.strings.tolist() == named
    assert_allclose(scores, expected, atol=1e-4)


def test_decoded_lists(case):
    scores = case.head.scores(case.output, case.mentions)
    phrases = phrase_max(scores, case.mentions)
    for i, (_, names, values) in enumerate(case.expected["topk_10"]):
        rows = numpy.flatnonzero(case.mentions.phrase_docs == i)
        best = rows[numpy.argsort(-phrases[rows], kind="stable")][: len(names)]
        assert_allclose(phrases[best], values, atol=1e-4)
        # Phrases of equal score (to the last bit of a probability) in any order; of
        # equal stems Chunk, Tag and Span show the best surface, we the first.
        for name, value in zip(names, values, strict=True):
            equal = rows[numpy.isclose(phrases[rows], value, atol=1e-6)]
            assert case.form(name) in map(case.form, case.strings[equal])


def test_labels(case):
    """What the losses are made of: tags, gold phrases, gold mentions."""
    expected = case.expected
    if case.name == "tag":
        pairs = zip(case.gold.spans, case.docs, expected["labels"], strict=True)
        for spans, doc, labels in pairs:
            assert tag_labels(spans, len(doc)).tolist() == labels[: len(doc)]
    if case.name == "rank":
        found = numpy.where(case.gold.phrases, 1, -1)
        labels = [label for of_doc in expected["labels"] for label in of_doc]
        assert found.tolist() == [label for label in labels if label]  # 0 is padding
    if case.name in ("chunk", "joint"):
        name = "labels" if case.name == "chunk" else "chunk_label"
        assert case.gold.mentions.sum() == sum(of.count(1) for of in expected[name])
