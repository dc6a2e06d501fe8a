"""The selector with a chat generator of Haystack."""

import time

import pytest
import spacy

pytest.importorskip("haystack")
pytest.importorskip("openai")

from haystack.components.generators.chat.openai import (
    OpenAIChatGenerator,
)
from haystack.utils import Secret

from benchmarks.chat_server import ChatServer
from spacy_keyphrase.backends.haystack_client import HaystackClient
from spacy_keyphrase.models.chat import wrap_chat
from spacy_keyphrase.pipeline.selector import KeyphraseSelector
from spacy_keyphrase.selectors import make_sequence_labels

KIND = "haystack.components.generators.chat.openai.OpenAIChatGenerator"
PIPE = "keyphrase_selector"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("MY_KEY", "very-secret")
    with ChatServer() as server:
        yield server


def make(server, **settings):
    secret = {"type": "env_var", "env_vars": ["MY_KEY"], "strict": True}
    generator = {
        "type": KIND,
        "init_parameters": {
            "model": "rule",
            "api_base_url": server.url,
            "api_key": secret,
            "max_retries": 1,
        },
    }
    model = {"@architectures": "spacy_keyphrase.HaystackChatLM.v1", **settings}
    model["generator"] = generator
    nlp = spacy.blank("en")
    nlp.add_pipe(PIPE, config={"model": model})
    return nlp


def make_doc(nlp, text):
    doc = nlp.make_doc(text)
    doc._.keyphrases = ["good idea", "bad idea"]
    return doc


def read(doc):
    return [phrase.text for phrase in doc._.keyphrases]


@pytest.mark.parametrize("structured", [True, False])
def test_choose(server, structured, tmp_path):
    nlp = make(server, structured=structured, prices={"output": 1.0})
    doc = nlp(make_doc(nlp, "An idea."))
    assert read(doc) == ["good idea"] and doc._.keyphrases_error is None
    assert ("response_format" in server.calls[0]) == structured
    usage = nlp.get_pipe(PIPE).usage.to_dict()
    assert usage["calls"] == 1 and usage["output_tokens"] == 2
    assert usage["input_tokens"] > 10 and usage["cost"] == pytest.approx(2e-6)
    nlp.to_disk(tmp_path / "pipeline")
    other = spacy.load(tmp_path / "pipeline")
    assert read(other(make_doc(other, "An idea."))) == ["good idea"]
    assert b"very-secret" not in nlp.to_bytes()


def test_faults(server):
    nlp = make(server)
    docs = [make_doc(nlp, f"An idea. {f}") for f in ("always:broken", "fault:few", "")]
    found = list(nlp.pipe(docs))
    assert read(found[0]) == ["good idea", "bad idea"]
    assert "InternalServerError" in found[0]._.keyphrases_error
    assert [read(doc) for doc in found[1:]] == [["good idea"]] * 2


def test_a_generator_that_is_made(server):
    generator = OpenAIChatGenerator(
        api_key=Secret.from_env_var("MY_KEY"), model="rule", api_base_url=server.url
    )
    nlp = spacy.blank("en")
    model = wrap_chat(HaystackClient(generator), workers=2)
    pipe = KeyphraseSelector(nlp.vocab, model, make_sequence_labels())
    docs = list(pipe.pipe([make_doc(nlp, str(i)) for i in range(5)]))
    assert [read(doc) for doc in docs] == [["good idea"]] * 5
    model.attrs["chat"].client.close()


def test_connections_are_opened_once(server):
    """However many calls come first, and at once."""

    class Slow(OpenAIChatGenerator):
        opened = 0

        def warm_up(self):
            if self.client is None:
                time.sleep(0.2)
                type(self).opened += 1
                super().warm_up()

    generator = Slow(
        api_key=Secret.from_env_var("MY_KEY"), model="rule", api_base_url=server.url
    )
    nlp = spacy.blank("en")
    client = HaystackClient(generator)
    model = wrap_chat(client, workers=4)
    pipe = KeyphraseSelector(nlp.vocab, model, make_sequence_labels())
    docs = list(pipe.pipe([make_doc(nlp, str(i)) for i in range(8)]))
    assert [read(doc) for doc in docs] == [["good idea"]] * 8
    assert Slow.opened == 1
    client.close()


def test_no_generator():
    with pytest.raises(ValueError, match="with a `type`"):
        HaystackClient({"model": "rule"})
