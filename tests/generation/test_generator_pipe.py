"""`keyphrase_generator` with each of its architectures: a few documents are learned by
heart, written again, saved and loaded."""

import math
import pickle
import shutil
import warnings

import numpy
import pytest
import spacy
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

from lessons import LESSONS, make_bert, make_model  # noqa: E402

from spacy_keyphrase.generation.base import Request  # noqa: E402
from spacy_keyphrase.models.wrapped import get_module  # noqa: E402

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


def test_save_and_load(trained):
    _, nlp, _, _, folder = trained
    expected = written(nlp.pipe(LESSONS))
    nlp.to_disk(folder / "pipeline")
    # What the model began with is not needed.
    shutil.rmtree(folder / "base", ignore_errors=True)
    assert written(spacy.load(folder / "pipeline").pipe(LESSONS)) == expected
    copy = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    copy.from_bytes(nlp.to_bytes())
    assert written(copy.pipe(LESSONS)) == expected


def test_sent_to_another_process(trained):
    """Where processes are spawned, pipes are pickled."""
    _, nlp, _, _, _ = trained
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe("keyphrase_generator")))
    docs = map(nlp.make_doc, LESSONS)
    assert written(pipe.pipe(docs)) == written(nlp.pipe(LESSONS))


@pytest.mark.parametrize("kind, size", [("float16", 0.6), ("int8", 0.4)])
def test_fewer_bits(kind, size, one2set, tmp_path):
    """A half or a third as large, about the same."""
    nlp, _ = one2set
    nlp.to_disk(tmp_path / "whole")
    other = remake(nlp)
    module = get_module(other.get_pipe("keyphrase_generator").model)
    module.saved_as = getattr(torch, kind)
    other.to_disk(tmp_path / "small")
    sizes = [
        (tmp_path / name / "keyphrase_generator" / "model").stat().st_size
        for name in ("whole", "small")
    ]
    assert sizes[1] < size * sizes[0]
    small = spacy.load(tmp_path / "small")
    assert written(small.pipe(LESSONS)) == written(nlp.pipe(LESSONS))
    loaded = get_module(small.get_pipe("keyphrase_generator").model)
    for a, b in zip(module.parameters(), loaded.parameters()):
        assert b.dtype == torch.float32
        # Half a step of the largest number of a row.
        most = 0.5 / 127 if a.dim() > 1 and kind == "int8" else 2**-10
        rows = a.abs().amax(-1, keepdim=True) if a.dim() > 1 else a.abs()
        assert ((a - b).abs() <= 1.01 * most * rows + 1e-7).all()


def test_alone_or_in_a_batch(trained):
    _, nlp, _, _, _ = trained
    texts = ["", " \n", *LESSONS, "Short.", "😀 ?!", " ".join(LESSONS)]
    together = list(nlp.pipe(texts))
    for text, doc in zip(texts, together):
        alone = nlp(text)
        assert [str(k) for k in alone._.keyphrases] == [
            str(k) for k in doc._.keyphrases
        ]
        for a, b in zip(alone._.keyphrases, doc._.keyphrases):
            # Sums of other sizes are added up in another order.
            assert a.score == pytest.approx(b.score, abs=1e-4)
    assert not together[0]._.keyphrases and not together[1]._.keyphrases


def test_how_many_are_asked_for(trained):
    name, nlp, _, _, _ = trained
    text = next(iter(LESSONS))
    asked = {
        k: len(nlp(text, component_cfg={"keyphrase_generator": {"k": k}})._.keyphrases)
        for k in (0, 1, 2, 30)
    }
    assert asked[0] == 0 and asked[1] == 1 and asked[2] == 2 <= asked[30]
    if name == "PUSL":
        # It writes as many as it is asked for, though it was never taught so many; some
        # of them twice.
        module = get_module(nlp.get_pipe("keyphrase_generator").model)
        assert len(module.write(Request([text], k=30))[0]) == 30
    with pytest.raises(ValueError, match="k is -1"):
        nlp(text, component_cfg={"keyphrase_generator": {"k": -1}})


def test_long_documents_are_read_to_the_end(trained):
    """What stands in the last window is found, and nothing is as long as the text."""
    name, nlp, _, _, _ = trained
    filler = "It is said here that it is so, and no more is said. " * 120
    last = "Rain fell on the old town for a week."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doc = nlp(filler + last)
    assert all(len(phrase.text) < 500 for phrase in doc._.keyphrases)
    if name in ("SetTrans", "UniKeyphrase"):
        pipe = nlp.get_pipe("keyphrase_generator")
        module = get_module(pipe.model)
        read = []
        encode = module._encode if name == "SetTrans" else module._pad_source

        def spy(windows):
            read.extend(len(window.ids) for window in windows)
            return encode(windows)

        spied = "_encode" if name == "SetTrans" else "_pad_source"
        setattr(module, spied, spy)
        try:
            nlp(filler + last)
        finally:
            delattr(module, spied)
        assert len(read) > 1 and sum(read) > 120 * 12
        assert max(read) - min(read) <= 1


@pytest.fixture(scope="module")
def one2set(tokenizers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("one2set")
    nlp, examples = make_pipeline("SetTrans", tokenizers, folder)
    learn(nlp, examples, 120)
    return nlp, examples


def remake(nlp, **settings):
    """The same pipeline with other settings of the pipe."""
    config = nlp.config.copy()
    config["components"]["keyphrase_generator"].update(settings)
    other = spacy.util.load_model_from_config(config, auto_fill=True)
    return other.from_bytes(nlp.to_bytes())


def test_present_or_absent_ones_only(one2set):
    nlp, _ = one2set
    both = list(nlp.pipe(LESSONS))
    present = list(remake(nlp, presence="present").pipe(LESSONS))
    absent = list(remake(nlp, presence="absent").pipe(LESSONS))
    for doc, some, others in zip(both, present, absent):
        assert all(k.is_present for k in some._.keyphrases)
        assert not any(k.is_present for k in others._.keyphrases)
        texts = {str(k) for k in some._.keyphrases + others._.keyphrases}
        assert texts == {str(k) for k in doc._.keyphrases}
    assert any(doc._.keyphrases for doc in absent)


def test_known_absent_ones_only(one2set, tmp_path):
    """What is absent from the text is of the phrases that were set, or is left out;
    what is present stays. Phrases are compared by stems, and saved with the pipe."""
    nlp = remake(one2set[0], known_only=True)
    text = "Rain fell on the old town for a week."
    assert {str(k) for k in one2set[0](text)._.keyphrases} == {"Rain", "weather"}
    with pytest.raises(ValueError, match="spacy keyphrase phrases"):
        nlp(text)
    for phrases, expected in (
        (["WEATHERS", ""], {"Rain", "weather"}),
        (["climate"], {"Rain"}),
        ([], {"Rain"}),
    ):
        nlp.get_pipe("keyphrase_generator").set_phrases(phrases)
        nlp.to_disk(tmp_path / "pipeline")
        for some in (nlp, spacy.load(tmp_path / "pipeline")):
            assert {str(k) for k in some(text)._.keyphrases} == expected


def test_a_single_phrase_is_no_list(one2set):
    with pytest.raises(TypeError, match=r"takes a list of phrases.*\['weather'\]"):
        one2set[0].get_pipe("keyphrase_generator").set_phrases("weather")


def test_phrases_of_a_file(one2set, tmp_path):
    """`initialize` reads them; what was learned before stays."""
    (tmp_path / "phrases.txt").write_text("weather\nsnow\n", encoding="utf8")
    nlp = remake(one2set[0], known_only=True)
    nlp.get_pipe("keyphrase_generator").initialize(
        lambda: make_examples(nlp), nlp=nlp, phrases=tmp_path / "phrases.txt"
    )
    doc = nlp("Rain fell on the old town for a week.")
    assert {str(k) for k in doc._.keyphrases} == {"Rain", "weather"}


def test_order_and_least_score(one2set):
    nlp, _ = one2set
    for doc in nlp.pipe(LESSONS):
        scores = [k.score for k in doc._.keyphrases]
        assert scores == sorted(scores, reverse=True)
    scores = sorted(k.score for doc in nlp.pipe(LESSONS) for k in doc._.keyphrases)
    middle = scores[len(scores) // 2]
    kept = [
        k.score
        for doc in remake(nlp, min_score=middle).pipe(LESSONS)
        for k in doc._.keyphrases
    ]
    assert sorted(kept) == pytest.approx([s for s in scores if s >= middle])


@pytest.mark.parametrize("existing", ["keep", "replace"])
def test_after_other_pipes(one2set, existing):
    """What others have found stays, or goes; of equal ones the better score counts.
    A second time nothing changes."""
    nlp = remake(one2set[0], existing=existing)
    other = spacy.blank("en")
    other.add_pipe("keyphrase_ranker")
    text = "Rain fell on the old town for a week."
    alone = {k.normal_form for k in nlp(text)._.keyphrases}
    assert "weather" in alone
    doc = other(text)
    before = {k.normal_form for k in doc._.keyphrases}
    assert "old town" in before
    doc = nlp(doc)
    assert {k.normal_form for k in doc._.keyphrases} == (
        alone | before if existing == "keep" else alone
    )
    sources = {k.normal_form: k.source for k in doc._.keyphrases}
    assert sources["weather"] == "keyphrase_generator"
    scores = [k.score for k in doc._.keyphrases]
    assert scores == sorted(scores, reverse=True)
    again = nlp(doc)
    assert [str(k) for k in again._.keyphrases] == [str(k) for k in doc._.keyphrases]


def test_before_an_extractor(one2set):
    """The extractor keeps what was written, if it is told so."""
    nlp = remake(one2set[0])
    text = "Rain fell on the old town for a week."
    assert {str(k) for k in nlp(text)._.keyphrases} == {"Rain", "weather"}
    examples = make_examples(nlp)
    for existing in ("keep", "replace"):
        pipe = nlp.add_pipe("keyphrase_extractor", config={"existing": existing})
        pipe.initialize(lambda: examples, nlp=nlp)
        found = {str(k): k.source for k in nlp(text)._.keyphrases}
        assert ("weather" in found) == (existing == "keep")
        assert found["old town"] == "keyphrase_extractor"
        nlp.remove_pipe("keyphrase_extractor")


def test_in_several_processes(one2set):
    nlp, _ = one2set
    texts = list(LESSONS) * 3
    assert written(nlp.pipe(texts, n_process=2, batch_size=4)) == written(
        nlp.pipe(texts)
    )


def test_candidates_for_recall(one2set):
    """Beams and samples of each slot: more candidates, the first ones among them."""
    nlp, _ = one2set
    few = written(nlp.pipe(LESSONS))
    for more in ({"beams": 3}, {"samples": 4, "temperature": 2.0}):
        model = {**nlp.config["components"]["keyphrase_generator"]["model"], **more}
        other = remake(nlp, model=model)
        many = written(other.pipe(LESSONS))
        assert many == written(other.pipe(LESSONS))
        assert sum(map(len, many)) > 2 * sum(map(len, few))
        assert all(set(a) <= set(b) for a, b in zip(few, many))


def test_gold_of_all_kinds(one2set):
    """No gold, absent gold only, more than slots, longer than a slot, an empty text,
    and none that is annotated."""
    nlp = remake(one2set[0])
    golds = [
        [],
        ["quite absent"],
        [f"phrase {i}" for i in range(30)],
        ["a keyphrase that is longer than any slot of the model can hold at all"],
        ["emoji 😀", "?!"],
    ]
    made = []
    for gold in golds:
        reference = nlp.make_doc("A short text about rain.")
        reference._.keyphrases = gold
        made.append(Example(nlp.make_doc(reference.text), reference))
    empty = nlp.make_doc("")
    empty._.keyphrases = ["rain"]
    made.append(Example(nlp.make_doc(""), empty))
    for batch in ([example] for example in made):
        assert math.isfinite(nlp.update(batch)["keyphrase_generator"])
    assert math.isfinite(nlp.update(made)["keyphrase_generator"])
    plain = Example(nlp.make_doc("Text."), nlp.make_doc("Text."))
    assert nlp.update([plain, made[-1]])["keyphrase_generator"] == 0


def test_a_loss_that_is_no_number(one2set):
    """Training stops with a message; the weights are as before."""
    nlp, examples = one2set
    nlp = remake(nlp)
    pipe = nlp.get_pipe("keyphrase_generator")
    module = get_module(pipe.model)
    before = nlp.to_bytes()
    loss = type(module).loss
    module.loss = lambda request: loss(module, request) * float("nan")
    with pytest.raises(ValueError, match=r"is nan after 120 updates.*learn_rate"):
        nlp.update(examples, sgd=Adam(0.1))
    assert nlp.to_bytes() == before


def test_another_architecture(one2set, tokenizers, tmp_path):
    nlp, _ = one2set
    model = nlp.config["components"]["keyphrase_generator"]["model"]
    with pytest.raises(ValueError, match="config: the saved model has width 48, the"):
        remake(nlp, model={**model, "width": 96})
    bart = {
        "@architectures": "spacy_keyphrase.PUSL.v1",
        "name": "not needed",
    }
    with pytest.raises(ValueError, match=r"the config: it is one of .*SetTrans"):
        remake(nlp, model=bart)
    uni, _ = make_pipeline("UniKeyphrase", tokenizers, tmp_path)
    model = uni.config["components"]["keyphrase_generator"]["model"]
    with pytest.raises(ValueError, match="relation_layers 2, the config 1"):
        remake(uni, model={**model, "relation_layers": 1})


def test_wrong_settings(tokenizers, tmp_path):
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="presence"):
        nlp.add_pipe("keyphrase_generator", config={"presence": "some"})
    with pytest.raises(ValueError, match="slots is 7"):
        make_with(nlp, "SetTrans", slots=7, assignment=HUNGARIAN)
    with pytest.raises(ValueError, match="beams 0"):
        make_with(nlp, "SetTrans", beams=0, assignment=HUNGARIAN)
    with pytest.raises(ValueError, match="bag"):
        make_with(nlp, "UniKeyphrase", name="x", bag="full")
    with pytest.raises(ValueError, match="its architecture must be that of a generat"):
        make_with(
            nlp,
            "JointKPE",
            tok2vec={
                "@architectures": "spacy.HashEmbedCNN.v2",
                "width": 8,
                "depth": 1,
                "embed_size": 10,
                "window_size": 1,
                "maxout_pieces": 1,
                "subword_features": False,
                "pretrained_vectors": None,
            },
        )
    pipe = make_with(nlp, "UniKeyphrase", name=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="could not be loaded"):
        nlp.initialize(lambda: make_examples(nlp))
    nlp.remove_pipe("keyphrase_generator")
    t5 = make_model("t5", tokenizers, tmp_path / "t5")
    make_with(nlp, "PUSL", name=str(t5), window=1)
    with pytest.raises(ValueError, match=r"t5' cannot be used: a window of 1 sub-tok"):
        nlp.initialize(lambda: make_examples(nlp))
    assert pipe.name == "keyphrase_generator"


def make_with(nlp, architecture, **model):
    return nlp.add_pipe(
        "keyphrase_generator",
        config={
            "model": {"@architectures": f"spacy_keyphrase.{architecture}.v1", **model}
        },
    )


def test_before_it_is_trained():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_generator")
    with pytest.raises(ValueError, match="is not loaded: initialize the pipeline"):
        nlp("A text.")
    reference = nlp.make_doc("A text.")
    with pytest.raises(ValueError, match="None of the first 100 examples has gold"):
        nlp.initialize(lambda: [Example(nlp.make_doc("A text."), reference)])
    analysis = nlp.analyze_pipes()["summary"]["keyphrase_generator"]
    assert "doc._.keyphrases" in analysis["assigns"]


def test_word_vectors_to_begin_with(tmp_path):
    """Words with vectors begin alike where their vectors are; the file of words is
    kept in its order."""
    vectors = spacy.blank("xx")
    random = numpy.random.default_rng(0)
    for word in ("rain", "weather", "bank", "credit"):
        vectors.vocab.set_vector(word, random.normal(size=300).astype("f4"))
    vectors.vocab.set_vector("weather", vectors.vocab["rain"].vector * 1.01)
    vectors.to_disk(tmp_path / "vectors")
    (tmp_path / "words.txt").write_text("the\nrain\nweather\nbank\ncredit\ntown\n")
    nlp = spacy.blank("en")
    model = {**ARCHITECTURES["SetTrans"][1], "width": 4, "heads": 2}
    pipe = make_with(nlp, "SetTrans", **model)
    pipe.initialize(
        lambda: make_examples(nlp),
        nlp=nlp,
        words=tmp_path / "words.txt",
        vectors=tmp_path / "vectors",
    )
    module = get_module(pipe.model)
    assert module.vocabulary.words[7:] == [
        "the",
        "rain",
        "weather",
        "bank",
        "credit",
        "town",
    ]
    _, rain, weather, bank, _, _ = module.network.embed.weight[7:].detach()
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(rain, weather, dim=0) > 0.99 > 0.9 > cosine(rain, bank, dim=0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="There is no GPU.")
@pytest.mark.parametrize(
    "name", ["SetTrans", "SetSeq2Seq", "UniKeyphrase", "PUSL", "GROOV"]
)
def test_gpu(name, tokenizers, tmp_path):
    """Learned on a GPU, written there and on a CPU."""
    from thinc.api import get_current_ops, set_current_ops

    before = get_current_ops()
    try:
        spacy.require_gpu()
        nlp, examples = make_pipeline(name, tokenizers, tmp_path)
        module = get_module(nlp.get_pipe("keyphrase_generator").model)
        assert module.device.type == "cuda"
        losses = learn(nlp, examples, STEPS.get(name, 120))
        assert losses[-1] < losses[0] / 3
        expected = written(nlp.pipe(LESSONS))
        nlp.to_disk(tmp_path / "pipeline")
        spacy.require_cpu()
        nlp = spacy.load(tmp_path / "pipeline")
        module = get_module(nlp.get_pipe("keyphrase_generator").model)
        assert module.device.type == "cpu"
        assert written(nlp.pipe(LESSONS)) == expected
    finally:
        set_current_ops(before)
