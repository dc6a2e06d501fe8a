"""The rankers that read with a language model, in a pipeline."""

import os
import re
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import spacy

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny import (  # noqa: E402
    bert_tokenizer,
    make_bart,
    make_bert,
    make_causal,
    make_t5,
    t5_tokenizer,
)

from spacy_keyphrase import rankers  # noqa: E402

TEXT = (
    "Graph networks learn from molecules. Molecules are graphs of atoms, and deep "
    "networks see every atom. Chemists use molecules. Their graph networks are slow."
)
ROOT = Path(__file__).resolve().parent.parent.parent
GENERATORS = ("MUDY", "PromptRank")
ENCODERS = ("SAMRank", "AttentionSeeker", "EmbedRank", "MDERank", "JointGL")


@pytest.fixture(scope="module")
def folders(models_dir, tmp_path_factory):
    """A folder of each kind of model."""
    home = tmp_path_factory.mktemp("models")
    t5, bert = t5_tokenizer(models_dir), bert_tokenizer(models_dir)
    for name, model, tokenizer in (
        ("t5", make_t5(), t5),
        ("llama", make_causal("llama"), t5),
        ("falcon", make_causal("falcon"), t5),
        ("mamba", make_causal("mamba"), t5),
        ("bart", make_bart(), t5),
        ("gpt2", make_causal("gpt2"), t5),
        ("bert", make_bert(), bert),
    ):
        model.save_pretrained(home / name)
        tokenizer.save_pretrained(home / name)
    return home


def make(name, model, **settings):
    nlp = spacy.blank("en")
    config = {
        "ranker": {
            "@keyphrase_rankers": f"spacy_keyphrase.{name}.v1",
            "model": str(model),
            **settings,
        },
        "top_n": 0,
    }
    nlp.add_pipe("keyphrase_ranker", config=config)
    return nlp


def found(doc):
    return [(k.text, k.score, k.mention_scores) for k in doc._.keyphrases]


ALL = [
    *((name, "t5") for name in GENERATORS),
    *((name, "llama") for name in GENERATORS),
    *((name, "bert") for name in ENCODERS),
    ("SAMRank", "t5"),
    ("AttentionSeeker", "llama"),
]


@pytest.mark.parametrize("name,model", ALL)
def test_keyphrases(name, model, folders):
    """One line of config; every candidate has a score, and every occurrence its own."""
    doc = make(name, folders / model)(TEXT)
    phrases = doc._.keyphrases
    assert {"molecules", "graph networks"} <= {k.text.lower() for k in phrases}
    scores = [k.score for k in phrases]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-6 <= score <= 1 + 1e-6 for score in scores)
    if name in GENERATORS:
        (molecules,) = (k for k in phrases if k.text.lower() == "molecules")
        assert len(molecules.mention_scores) == len(molecules.spans) == 3
        assert max(molecules.mention_scores) == pytest.approx(molecules.score)


@pytest.mark.parametrize("name,model", ALL)
def test_little_to_read(name, model, folders):
    """Nothing, no candidate, one candidate, one sentence, a very long word: what there
    is comes out, and what stands beside it is not touched."""
    nlp = make(name, folders / model)
    texts = ["", " \n ", "the of and", "Molecules", "molecules " * 3, "x" * 2000, TEXT]
    docs = list(nlp.pipe(texts))
    assert [len(doc._.keyphrases) for doc in docs[:3]] == [0, 0, 0]
    assert [k.text for k in docs[3]._.keyphrases] == ["Molecules"]
    assert docs[4]._.keyphrases
    assert [k.text for k in docs[5]._.keyphrases] == ["x" * 2000]
    alone = found(nlp(TEXT))
    for (text, score, _), (expected, value, _) in zip(found(docs[6]), alone):
        assert (text, score) == (expected, pytest.approx(value, abs=1e-4))


@pytest.mark.parametrize("name,model", ALL)
def test_beyond_the_window(name, model, folders):
    """Windows or parts instead of a cut: what stands at the end is found too."""
    nlp = make(name, folders / model, max_length=64)
    doc = nlp(f"{TEXT} " * 20 + "At the end there are purple zebras.")
    phrases = {k.text.lower(): k for k in doc._.keyphrases}
    assert len(phrases["molecules"].spans) == 60
    assert phrases["purple zebras"].score > 0


@pytest.mark.parametrize("name,model", ALL)
def test_saved_and_loaded(name, model, folders, tmp_path):
    nlp = make(name, folders / model)
    nlp.to_disk(tmp_path)
    assert found(spacy.load(tmp_path)(TEXT)) == found(nlp(TEXT))


@pytest.mark.parametrize("variant", ["default", "paper", "reference"])
@pytest.mark.parametrize(
    "weighting", ["full", "aligned", "mixture", "gaussian", "none"]
)
def test_ablations(variant, weighting, folders):
    """Each is another ranking score, and none is undefined."""
    settings = {"variant": variant, "weighting": weighting}
    doc = make("MUDY", folders / "t5", **settings)(TEXT)
    full = make("MUDY", folders / "t5", variant=variant)(TEXT)
    assert all(0 < k.score < 1 for k in doc._.keyphrases)
    if weighting != "full":
        assert found(doc) != found(full)


@pytest.mark.parametrize("attention", ["global", "local", "none"])
@pytest.mark.parametrize("blocks", ["within", "alone"])
def test_attention_parts(attention, blocks, folders):
    settings = {"attention": attention, "blocks": blocks}
    doc = make("MUDY", folders / "t5", **settings)(TEXT)
    full = make("MUDY", folders / "t5", blocks=blocks)(TEXT)
    assert all(0 < k.score < 1 for k in doc._.keyphrases)
    assert found(doc) != found(full)


def test_neighbours_of_a_decoder_only_model(folders):
    """They come from another model, if there is one."""
    alone = make("MUDY", folders / "llama")(TEXT)
    with_encoder = make("MUDY", folders / "llama", encoder=str(folders / "t5"))(TEXT)
    assert found(alone) != found(with_encoder)


def test_promptrank_is_mudy_without_weighting(folders):
    """With neither attention nor the factor of the position."""
    mudy = make("MUDY", folders / "t5", weighting="none", attention="none")
    prompt = make("PromptRank", folders / "t5", position_factor=None)
    assert found(mudy(TEXT)) == found(prompt(TEXT))


def test_half_precision(folders):
    """About the same scores, on a CPU as well."""
    whole = {k.text: k.score for k in make("MUDY", folders / "t5")(TEXT)._.keyphrases}
    half = make("MUDY", folders / "t5", dtype="bfloat16")(TEXT)._.keyphrases
    for phrase in half:
        # bfloat16 has 8 bits.
        assert phrase.score == pytest.approx(whole[phrase.text], rel=0.05)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="There is no GPU.")
@pytest.mark.parametrize("name,model", ALL)
def test_gpu(name, model, folders):
    """What a CPU finds."""
    cpu = found(make(name, folders / model, device="cpu")(TEXT))
    gpu = found(make(name, folders / model, device="cuda")(TEXT))
    for (text, score, _), (expected, value, _) in zip(gpu, cpu):
        assert (text, score) == (expected, pytest.approx(value, abs=1e-3))


ERRORS = [
    ("MUDY", "nowhere", {}, "local folder or a name on the Hugging Face hub"),
    ("MUDY", "bert", {}, "an encoder: it gives no probabilities"),
    ("MUDY", "bart", {}, "only the T5 family"),
    ("MUDY", "falcon", {}, "can be neither seen nor changed"),
    (
        "MUDY",
        "falcon",
        {"after_softmax": True, "attention": "none"},
        "can be neither seen nor changed",
    ),
    ("MUDY", "mamba", {}, "cannot read a document and then many sentences at once"),
    ("MUDY", "t5", {"attention_layer": 2}, "2 layers; there is no layer 2"),
    ("MUDY", "llama", {"attention_layer": -1}, "2 layers; there is no layer -1"),
    ("MUDY", "t5", {"template": "no gap"}, "must have {} once"),
    ("MUDY", "t5", {"template": "{} first"}, "must begin with a word"),
    ("MDERank", "llama", {}, "the tokenizer has no mask"),
    ("SAMRank", "bert", {"layer": 2}, "2 layers, from 0 to 1; there is no layer 2"),
    ("SAMRank", "bert", {"head": 9}, "4 heads, from 0 to 3; there is no head 9"),
]


@pytest.mark.parametrize("name,model,settings,message", ERRORS)
def test_errors(name, model, settings, message, folders):
    with pytest.raises(ValueError, match=message):
        make(name, folders / model, **settings)(TEXT)


def test_prompts_alone_need_no_attention(folders):
    """PromptRank is at home in models that MUDY cannot change."""
    doc = make("PromptRank", folders / "falcon")(TEXT)
    assert all(0 < k.score < 1 for k in doc._.keyphrases)


def test_a_tokenizer_without_offsets(folders, monkeypatch):
    monkeypatch.setattr(
        transformers.PreTrainedTokenizerFast, "is_fast", property(lambda _: False)
    )
    with pytest.raises(ValueError, match=r"a fast tokenizer \(tokenizer.json\)"):
        make("JointGL", folders / "bert", max_length=63)(TEXT)


@pytest.mark.parametrize(
    "name,settings,message",
    [
        ("MUDY", {"preset": "acl"}, "preset must be one of default, semeval2017"),
        ("MUDY", {"weighting": "x"}, "weighting must be one of full, aligned"),
        ("MUDY", {"attention": "x"}, "attention must be one of both, global"),
        ("MUDY", {"variant": "x"}, "variant must be one of default, paper"),
        ("MUDY", {"blocks": "x"}, "blocks must be one of within, alone"),
        ("MUDY", {"dtype": "int8"}, "dtype must be one of float32"),
        ("PromptRank", {"max_batch_tokens": 0}, "max_batch_tokens must be 1 or more"),
        ("SAMRank", {"part": "x"}, "part must be"),
        ("EmbedRank", {"pooling": "x"}, "pooling must be"),
        ("EmbedRank", {"diversity": 2.0}, "diversity must be between 0 and 1"),
    ],
)
def test_wrong_settings(name, settings, message):
    """Said before anything is loaded."""
    maker = getattr(rankers, f"make_{name.lower()}")
    with pytest.raises(ValueError, match=message):
        maker("anything", **settings)


def test_blocks_of_a_long_document(folders, monkeypatch):
    """What is read again alone is read in parts where it is long: a mention that stands
    far from where parts meet has about what it has in the whole."""
    monkeypatch.setattr("spacy_keyphrase.lm.prompt.LONGEST", 200)
    cut = make("MUDY", folders / "t5", blocks="alone", attention="global")(TEXT * 12)
    monkeypatch.undo()
    whole = make("MUDY", folders / "t5", blocks="alone", attention="global")(TEXT * 12)
    expected = {k.text: k.score for k in whole._.keyphrases}
    assert {k.text for k in cut._.keyphrases} == set(expected)
    assert found(cut) != found(whole)
    for phrase in cut._.keyphrases:
        assert phrase.score == pytest.approx(expected[phrase.text], rel=0.1)


def test_examples_of_the_docs(folders, capsys):
    """The page's examples run, with small models in place of those on the hub."""
    page = (ROOT / "docs" / "language-models.md").read_text("utf8")
    page = page.replace("google-t5/t5-base", str(folders / "t5"))
    page = page.replace("google/gemma-2-9b", str(folders / "llama"))
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for code in blocks[:3]:
        exec(compile(code, "language-models.md", "exec"), names)
    for ranker in (names["mudy_t5"], names["mudy_gemma"]):
        nlp = spacy.blank("en")
        nlp.add_pipe("keyphrase_ranker", config={"ranker": ranker})
        assert nlp(TEXT)._.keyphrases
    names["doc"] = names["nlp"](TEXT)
    exec(compile(blocks[3], "language-models.md", "exec"), names)
    place, score = capsys.readouterr().out.split()[:2]
    assert int(place) >= 0 and 0 < float(score) < 1


def test_a_model_with_few_places(folders):
    """GPT-2 cannot read beyond its places; the window leaves room for the sentences."""
    doc = make("MUDY", folders / "gpt2")(f"{TEXT} " * 12 + "They see purple zebras.")
    phrases = {k.text.lower(): k for k in doc._.keyphrases}
    assert len(phrases["molecules"].spans) == 36
    assert 0 < phrases["purple zebras"].score < 1
