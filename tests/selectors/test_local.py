"""The selector with models that run here: they learn, are saved, and go to other
processes."""

import pickle
import re

import numpy
import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import SGD, Adam

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import make_causal, make_encoder  # noqa: E402

from spacy_keyphrase.corpora.reader import create_corpus  # noqa: E402
from spacy_keyphrase.keyphrase import set_keyphrases  # noqa: E402
from spacy_keyphrase.models.wrapped import get_module  # noqa: E402

LESSONS = {
    "A robot arm learns to grasp cups.": (
        ["robot arm", "machine learning"],
        ["cups", "robot arm", "robot", "machine learning"],
    ),
    "Rain fell on the old town for a week.": (
        ["rain", "weather"],
        ["old town", "week", "rains", "weather", "climate"],
    ),
    "The bank lends money to small firms.": (
        ["credit"],
        ["bank", "money", "credit", "firms"],
    ),
    "Enzymes cut proteins in the cell.": (["enzymes"], ["enzyme"]),
}
PIPE = "keyphrase_selector"


def make(model, mode="SequenceLabels", **settings):
    nlp = spacy.blank("en")
    selector = {"@keyphrase_selectors": f"spacy_keyphrase.{mode}.v1"}
    config = {"model": model, "selector": selector, **settings}
    nlp.add_pipe(PIPE, config=config)
    return nlp


def local(models_dir, folder, **settings):
    path = make_causal("llama", models_dir / "tokenizers", folder / "base", std=0.1)
    return {
        "@architectures": "spacy_keyphrase.LocalLM.v1",
        "name": str(path),
        # What is trained in whole can only be saved in whole.
        "bundle": "lora" not in settings,
        **settings,
    }


def cross(models_dir, folder):
    path = make_encoder(models_dir / "tokenizers", folder / "base")
    return {"@architectures": "spacy_keyphrase.CrossEncoder.v1", "name": str(path)}


def make_examples(nlp):
    examples = []
    for text, (gold, candidates) in LESSONS.items():
        example = Example(nlp.make_doc(text), nlp.make_doc(text))
        example.reference._.keyphrases = gold
        example.predicted._.keyphrases = candidates
        examples.append(example)
    return examples


def make_docs(nlp):
    docs = []
    for text, (_, candidates) in LESSONS.items():
        doc = nlp.make_doc(text)
        doc._.keyphrases = candidates
        docs.append(doc)
    return docs


def learn(nlp, examples, steps, rate=3e-3):
    optimizer = Adam(rate, L2=0.0, grad_clip=1.0)
    return [nlp.update(examples, sgd=optimizer)[PIPE] for _ in range(steps)]


def read(docs):
    return [[(p.text, round(p.score, 4)) for p in doc._.keyphrases] for doc in docs]


def forms(docs):
    return [{phrase.normal_form for phrase in doc._.keyphrases} for doc in docs]


RIGHT = [
    {"robot arm", "machin learn"},
    {"rain", "weather"},
    {"credit"},
    {"enzym"},
]
WAYS = {
    "all weights": ("SequenceLabels", {}),
    "an adapter": (
        "SequenceLabels",
        {"lora": {"r": 16, "alpha": 32.0, "dropout": 0.0}},
    ),
    "independent": ("IndependentLabels", {}),
    "cross-encoder": ("IndependentLabels", None),
}


@pytest.fixture(scope="module", params=WAYS)
def trained(request, models_dir, tmp_path_factory):
    mode, settings = WAYS[request.param]
    if settings and "lora" in settings:
        pytest.importorskip("peft")
    folder = tmp_path_factory.mktemp("selector")
    fix_random_seed(0)
    model = cross(models_dir, folder)
    if settings is not None:
        model = local(models_dir, folder, **settings)
    nlp = make(model, mode)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    module = get_module(nlp.get_pipe(PIPE).model)
    before = {n: v.detach().clone() for n, v in module.named_parameters()}
    losses = learn(nlp, examples, 300)
    return request.param, nlp, losses, before, folder


def test_labels_are_learned(trained):
    way, nlp, losses, before, _ = trained
    assert losses[-1] < 0.2 < losses[0]
    docs = list(nlp.pipe(make_docs(nlp)))
    assert forms(docs) == RIGHT
    for doc in docs:
        scores = [phrase.score for phrase in doc._.keyphrases]
        assert scores == sorted(scores, reverse=True) and min(scores) >= 0.5
    module = get_module(nlp.get_pipe(PIPE).model)
    changed = {
        name
        for name, values in module.named_parameters()
        if not torch.equal(values, before[name])
    }
    assert changed
    if way == "an adapter":
        assert all("lora_" in name for name in changed)


def test_batch_without_a_lesson(trained):
    """Of documents with no room for labels, or no candidates: nothing is learned."""
    way, nlp, _, _, _ = trained
    expected = read(nlp.pipe(make_docs(nlp)))
    example, empty = [
        Example(nlp.make_doc("Rain."), nlp.make_doc("Rain.")) for _ in range(2)
    ]
    example.predicted._.keyphrases = [f"candidate {i} of many" for i in range(1000)]
    for one in (example, empty):
        one.reference._.keyphrases = ["rain"]
    # A cross-encoder has room for each candidate.
    lessons = [[empty], [example], [example, empty]]
    for examples in lessons[: 1 if way == "cross-encoder" else 3]:
        # Without momentum, which goes on by itself.
        losses = nlp.update(examples, sgd=SGD(0.1))
        assert losses[PIPE] == 0
    assert read(nlp.pipe(make_docs(nlp))) == expected


def test_save_and_load(trained):
    way, nlp, _, _, folder = trained
    expected = read(nlp.pipe(make_docs(nlp)))
    nlp.to_disk(folder / "pipeline")
    size = (folder / "pipeline" / PIPE / "model").stat().st_size
    # An adapter is small; it needs the model that it is for.
    assert (size < 200_000) == (way == "an adapter")
    if way != "an adapter":
        (folder / "base").rename(folder / "away")
    other = spacy.load(folder / "pipeline")
    assert read(other.pipe(make_docs(other))) == expected
    copy = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    copy.from_bytes(nlp.to_bytes())
    assert read(copy.pipe(make_docs(copy))) == expected
    if way != "an adapter":
        (folder / "away").rename(folder / "base")


def test_sent_to_another_process(trained):
    _, nlp, _, _, _ = trained
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe(PIPE)))
    expected = read(nlp.pipe(make_docs(nlp)))
    assert read(pipe.pipe(make_docs(nlp))) == expected
    assert read(nlp.pipe(make_docs(nlp), n_process=2, batch_size=2)) == expected


def test_alone_or_in_a_batch(trained):
    _, nlp, _, _, _ = trained
    together = read(nlp.pipe(make_docs(nlp), batch_size=4))
    for doc, expected in zip(make_docs(nlp), together):
        (found,) = read([nlp(doc)])
        assert [text for text, _ in found] == [text for text, _ in expected]
        for (_, one), (_, other) in zip(found, expected):
            assert one == pytest.approx(other, abs=1e-4)
    empty = nlp.make_doc("")
    assert nlp(empty)._.keyphrases == []


def test_before_it_is_trained(models_dir, tmp_path):
    """A model from the hub labels at once; a cross-encoder has to learn first."""
    nlp = make(local(models_dir, tmp_path, bundle=False))
    (doc,) = nlp.pipe(make_docs(nlp)[:1])
    assert len(doc._.keyphrases) + len(doc._.keyphrases_rejected) == 4
    nlp.to_disk(tmp_path / "pipeline")
    assert (tmp_path / "pipeline" / PIPE / "model").stat().st_size < 10_000
    other = spacy.load(tmp_path / "pipeline")
    assert read(other.pipe(make_docs(other)[:1])) == read([doc])
    untrained = make(cross(models_dir, tmp_path), "IndependentLabels")
    with pytest.raises(ValueError, match=r"not loaded: .*nlp\.initialize"):
        untrained(make_docs(untrained)[0])


def test_candidates_in_the_corpus(models_dir, tmp_path):
    """What a generator has found may be a part of the corpus, beside the gold."""
    nlp = make(local(models_dir, tmp_path), shuffle=False)
    kept = DocBin()
    for text, (gold, candidates) in LESSONS.items():
        doc = nlp.make_doc(text)
        doc._.keyphrases = gold
        set_keyphrases(doc, candidates, "candidates")
        kept.add(doc)
    kept.to_disk(tmp_path / "corpus.spacy")
    read = create_corpus(tmp_path / "corpus.spacy", candidates="candidates")
    losses = learn(nlp, list(read(nlp)), 1)
    other = make(local(models_dir, tmp_path), shuffle=False)
    assert losses == pytest.approx(learn(other, make_examples(other), 1))
    scores = nlp.evaluate(list(read(nlp)))
    assert scores["keyphrases_f1@M"] > 0
    # Nothing to learn from.
    example = Example(nlp.make_doc("A text."), nlp.make_doc("A text."))
    assert learn(nlp, [example], 1) == [0.0]


def test_candidates_in_another_order_each_time(models_dir, tmp_path):
    nlp = make(local(models_dir, tmp_path))
    pipe = nlp.get_pipe(PIPE)
    (example,) = make_examples(nlp)[:1]
    numpy.random.seed(0)
    asked = [pipe._lesson(example) for _ in range(8)]
    orders = {tuple(question.candidates) for question, _ in asked}
    assert len(orders) > 4
    for question, kept in asked:
        chosen = {c for c, is_kept in zip(question.candidates, kept) if is_kept}
        assert chosen == {"robot arm", "machine learning"}
    pipe.shuffle = False
    orders = {tuple(pipe._lesson(example)[0].candidates) for _ in range(3)}
    assert orders == {("cups", "robot arm", "robot", "machine learning")}


def test_another_adapter(models_dir, tmp_path):
    pytest.importorskip("peft")
    model = local(models_dir, tmp_path, lora={"r": 2})
    nlp = make(model)
    nlp.initialize(lambda: make_examples(nlp))
    saved = nlp.to_bytes()
    for lora, message in (
        ({"r": 4}, "adapter is of another model or rank"),
        (None, "has an adapter"),
    ):
        other = make({**model, "lora": lora})
        with pytest.raises(ValueError, match=f"does not fit the config.*{message}"):
            other.from_bytes(saved)


def test_merge(models_dir, tmp_path):
    """An adapter becomes a part of the weights, and changes nothing else."""
    pytest.importorskip("peft")
    from spacy_keyphrase.backends.lora import merge_adapter

    nlp = make(local(models_dir, tmp_path, lora={"r": 4, "dropout": 0.0}))
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    learn(nlp, examples, 3, rate=0.05)
    expected = read(nlp.pipe(make_docs(nlp)))
    module = get_module(nlp.get_pipe(PIPE).model)
    merge_adapter(module.model).save_pretrained(tmp_path / "merged")
    module.tokenizer.save_pretrained(tmp_path / "merged")
    other = make({**local(models_dir, tmp_path), "name": str(tmp_path / "merged")})
    found = read(other.pipe(make_docs(other)))
    assert [[t for t, _ in doc] for doc in found] == [
        [t for t, _ in doc] for doc in expected
    ]
    assert [s for doc in found for _, s in doc] == pytest.approx(
        [s for doc in expected for _, s in doc], abs=2e-4
    )


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"lora": {"r": 0}}, "rank of the adapter is 0"),
        ({"quantize": "3bit"}, "quantize is '3bit'"),
        ({"window": 0}, "window is 0"),
    ],
)
def test_wrong_settings(settings, message, models_dir, tmp_path):
    with pytest.raises(ValueError, match=message):
        make(local(models_dir, tmp_path, **settings))


def test_nothing_learned_is_lost(models_dir, tmp_path):
    """All weights are trained, and only an adapter would be saved."""
    nlp = make(local(models_dir, tmp_path, bundle=False))
    with pytest.raises(ValueError, match="would not be saved: give it an adapter"):
        learn(nlp, make_examples(nlp), 1)


def test_an_adapter_of_a_model_in_16_bits(models_dir, tmp_path):
    pytest.importorskip("peft")
    model = local(models_dir, tmp_path, lora={"r": 16, "alpha": 32, "dropout": 0})
    coarse = transformers.AutoModelForCausalLM.from_pretrained(model["name"])
    coarse.to(torch.bfloat16).save_pretrained(model["name"])
    nlp = make(model, shuffle=False)
    fix_random_seed(0)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    module = get_module(nlp.get_pipe(PIPE).model)
    kinds = {n: v.dtype for n, v in module.named_parameters()}
    assert {kinds[n] for n in kinds if "lora_" in n} == {torch.float32}
    assert {kinds[n] for n in kinds if "lora_" not in n} == {torch.bfloat16}
    losses = learn(nlp, examples, 150)
    assert losses[-1] < losses[0] / 2
    assert all(doc._.keyphrases_error is None for doc in nlp.pipe(make_docs(nlp)))


def test_only_the_docs_at_fault_are_lost(models_dir, tmp_path, monkeypatch):
    nlp = make(local(models_dir, tmp_path))
    module = get_module(nlp.get_pipe(PIPE).model)
    write = module.write

    def sick(request):
        if any("Rain" in question.text for question in request.questions):
            raise RuntimeError("out of memory")
        return write(request)

    monkeypatch.setattr(module, "write", sick)
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.extend(docs))
    found = [doc.text for doc in nlp.pipe(make_docs(nlp))]
    assert len(found) == 3 and [doc.text[:4] for doc in failed] == ["Rain"]


def test_no_such_model():
    model = {"@architectures": "spacy_keyphrase.LocalLM.v1", "name": "no/such"}
    nlp = make(model)
    with pytest.raises(ValueError, match=r"'no/such' could not be loaded"):
        nlp(make_docs(nlp)[0])


def test_no_number(models_dir, tmp_path):
    nlp = make(local(models_dir, tmp_path))
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    module = get_module(nlp.get_pipe(PIPE).model)
    with torch.no_grad():
        module.model.get_input_embeddings().weight.fill_(float("inf"))
    with pytest.raises(ValueError, match=re.compile(r"loss .* is nan.*learn_rate")):
        nlp.update(examples, sgd=Adam(0.1))
