"""A generator and a selector as one component."""

import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

from tiny_models import make_causal  # noqa: E402

from benchmarks.chat_server import ChatServer  # noqa: E402

PIPE = "keyphrase_generate_select"
LESSONS = {
    "A robot arm learns to grasp cups.": ["robot arm", "good learning"],
    "Rain fell on the old town for a week.": ["rain", "good weather"],
    "The bank lends money to small firms.": ["bank", "good credit"],
}
GENERATOR = {
    "@architectures": "spacy_keyphrase.SetTrans.v1",
    "assignment": {"@keyphrase_assignments": "spacy_keyphrase.OptimalTransport.v1"},
    "width": 48,
    "heads": 4,
    "inner": 96,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}


def make(model, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe(PIPE, config={"generator": GENERATOR, "model": model, **settings})
    return nlp


def make_examples(nlp, lessons=LESSONS):
    examples = []
    for text, phrases in lessons.items():
        example = Example(nlp.make_doc(text), nlp.make_doc(text))
        example.reference._.keyphrases = phrases
        examples.append(example)
    return examples


def learn(nlp, steps, rate=4e-3):
    optimizer = Adam(rate, L2=0.0, grad_clip=1.0)
    losses = []
    for _ in range(steps):
        losses.append(nlp.update(make_examples(nlp), sgd=optimizer)[PIPE])
    return losses


def read(docs):
    return [sorted(phrase.normal_form for phrase in doc._.keyphrases) for doc in docs]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A pipeline with a generator that knows the lessons."""
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_generator", config={"model": GENERATOR})
    fix_random_seed(0)
    nlp.initialize(lambda: make_examples(nlp))
    optimizer = Adam(4e-3, L2=0.0, grad_clip=1.0)
    for _ in range(120):
        nlp.update(make_examples(nlp), sgd=optimizer)
    folder = tmp_path_factory.mktemp("written") / "generator"
    nlp.to_disk(folder)
    return folder


def test_with_a_chat_model(written, tmp_path):
    pytest.importorskip("openai")
    with ChatServer() as server:
        model = {"@architectures": "spacy_keyphrase.ChatLM.v1", "name": "rule"}
        model["base_url"] = server.url
        nlp = make(model)
        nlp.config["initialize"]["components"][PIPE] = {"generator": str(written)}
        nlp.initialize(lambda: make_examples(nlp))
        docs = list(nlp.pipe(LESSONS))
        assert read(docs) == [["good learn"], ["good weather"], ["good credit"]]
        rejected = [[p.text for p in doc._.keyphrases_rejected] for doc in docs]
        assert rejected[1] == ["Rain"]
        # It serialises as one.
        nlp.to_disk(tmp_path / "pipeline")
        parts = {path.name for path in (tmp_path / "pipeline" / PIPE).iterdir()}
        assert parts == {"generator", "selector"}
        other = spacy.load(tmp_path / "pipeline")
        assert read(other.pipe(LESSONS)) == read(docs)
        copy = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
        copy.from_bytes(nlp.to_bytes())
        assert read(copy.pipe(LESSONS)) == read(docs)
        # Only what can learn does.
        assert not nlp.get_pipe(PIPE).is_trainable
        assert learn(nlp, 1) == [0.0] and read(nlp.pipe(LESSONS)) == read(docs)


def test_with_a_local_model(written, models_dir, tmp_path):
    """The generator stays as it is while the selector learns what of it is right."""
    base = make_causal("llama", models_dir / "tokenizers", tmp_path / "base")
    model = {"@architectures": "spacy_keyphrase.LocalLM.v1", "name": str(base)}
    nlp = make({**model, "bundle": True})
    nlp.config["initialize"]["components"][PIPE] = {"generator": str(written)}
    fix_random_seed(0)
    nlp.initialize(lambda: make_examples(nlp))
    before = nlp.get_pipe(PIPE).generator.to_bytes()
    wrong = {text: [phrases[0]] for text, phrases in LESSONS.items()}
    optimizer = Adam(3e-3, L2=0.0, grad_clip=1.0)
    for _ in range(80):
        losses = nlp.update(make_examples(nlp, wrong), sgd=optimizer)
    assert losses[PIPE] < 0.2
    assert read(nlp.pipe(LESSONS)) == [["robot arm"], ["rain"], ["bank"]]
    assert nlp.get_pipe(PIPE).generator.to_bytes() == before
    scores = nlp.evaluate(make_examples(nlp, wrong))
    assert scores["keyphrases_present_f1@M"] == 1.0


def test_both_learn(models_dir, tmp_path):
    base = make_causal("llama", models_dir / "tokenizers", tmp_path / "base")
    model = {"@architectures": "spacy_keyphrase.LocalLM.v1", "name": str(base)}
    nlp = make({**model, "bundle": True}, learn="both")
    fix_random_seed(0)
    nlp.initialize(lambda: make_examples(nlp))
    losses = learn(nlp, 120)
    assert losses[-1] < losses[0] / 4
    assert read(nlp.pipe(LESSONS)) == [
        ["good learn", "robot arm"],
        ["good weather", "rain"],
        ["bank", "good credit"],
    ]


def test_begins_with_no_generator(tmp_path):
    pytest.importorskip("openai")
    spacy.blank("en").to_disk(tmp_path / "blank")
    model = {"@architectures": "spacy_keyphrase.ChatLM.v1", "name": "rule"}
    nlp = make(model)
    nlp.config["initialize"]["components"][PIPE] = {
        "generator": str(tmp_path / "blank")
    }
    with pytest.raises(ValueError, match="has no keyphrase_generator"):
        nlp.initialize(lambda: make_examples(nlp))
