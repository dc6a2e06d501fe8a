"""Haystack components around trained generators and chat models."""

import asyncio

import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

haystack = pytest.importorskip("haystack")

from haystack import Document, Pipeline  # noqa: E402
from haystack.utils import Secret  # noqa: E402

from benchmarks.chat_server import ChatServer  # noqa: E402
from haystack_kp import KeyphraseGenerator, KeyphraseSelector  # noqa: E402

LESSONS = {
    "A robot arm learns to grasp cups.": ["robot arm", "machine learning"],
    "Rain fell on the old town for a week.": ["rain", "weather"],
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A pipeline that has learned two documents by heart."""
    pytest.importorskip("torch")
    pytest.importorskip("scipy")
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy_keyphrase.SetTrans.v1",
        "assignment": {"@keyphrase_assignments": "spacy_keyphrase.Hungarian.v1"},
        "width": 64,
        "heads": 4,
        "inner": 128,
        "encoder_layers": 1,
        "decoder_layers": 1,
    }
    nlp.add_pipe("keyphrase_generator", config={"model": model})
    examples = []
    for text, keyphrases in LESSONS.items():
        gold = nlp.make_doc(text)
        gold._.keyphrases = keyphrases
        examples.append(Example(nlp.make_doc(text), gold))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(100):
        nlp.update(examples, sgd=optimizer)
    folder = tmp_path_factory.mktemp("generator")
    nlp.to_disk(folder)
    return str(folder)


def test_generator_adds_to_what_is_there(trained):
    text = "Rain fell on the old town for a week."
    documents = [Document(content=text, meta={"keyphrases": ["old town"]})]

    def written(k=None, **settings):
        generator = KeyphraseGenerator(trained, **settings)
        (document,) = generator.run(documents, k=k)["documents"]
        assert document.id == documents[0].id
        return {phrase.lower() for phrase in document.meta["keyphrases"]}

    assert written() == {"old town", "rain", "weather"}
    assert written(existing="replace") == {"rain", "weather"}
    assert written(presence="absent") == {"old town", "weather"}
    assert written(existing="replace", k=1) < {"rain", "weather"}
    assert written(1, existing="replace") < {"rain", "weather"}
    assert documents[0].meta == {"keyphrases": ["old town"]}


def test_generator_in_yaml(trained):
    pipeline = Pipeline()
    generator = KeyphraseGenerator(trained, k=5, presence="absent")
    pipeline.add_component("generator", generator)
    again = Pipeline.loads(pipeline.dumps())
    documents = [Document(content=text) for text in LESSONS]
    expected = pipeline.run({"generator": {"documents": documents}})
    assert again.run({"generator": {"documents": documents}}) == expected
    assert asyncio.run(generator.run_async(documents)) == expected["generator"]


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv("MY_KEY", "very-secret")
    with ChatServer() as server:
        yield server


def make_selector(server, **settings):
    from haystack.components.generators.chat.openai import OpenAIChatGenerator

    generator = OpenAIChatGenerator(
        model="rule",
        api_base_url=server.url,
        api_key=Secret.from_env_var("MY_KEY"),
        max_retries=0,
        timeout=5,
    )
    return KeyphraseSelector(generator, **settings)


def make_documents():
    meta = {"keyphrases": ["good idea", "bad idea", "good plan"]}
    texts = ["The first text.", "always:refusal", "always:broken", "The last text."]
    return [Document(content=text, meta=meta) for text in texts]


def test_selector_chooses_and_loses_nothing(server):
    documents = make_documents()
    result = make_selector(server).run(documents)
    assert [d.id for d in result["documents"]] == [d.id for d in documents]
    chosen = [document.meta["keyphrases"] for document in result["documents"]]
    everything = documents[0].meta["keyphrases"]
    kept = ["good idea", "good plan"]
    assert chosen == [kept, everything, everything, kept]
    failed = {document.id for document in result["failed_documents"]}
    assert failed == {documents[1].id, documents[2].id}
    assert "keyphrases_error" not in result["documents"][0].meta
    with pytest.raises(RuntimeError, match="No keyphrases for document"):
        make_selector(server, raise_on_failure=True).run(documents)


def test_selector_in_yaml(server):
    pipeline = Pipeline()
    settings = {"top_n": 1, "selector": "spacy_keyphrase.Listwise.v1"}
    pipeline.add_component("select", make_selector(server, **settings))
    data = pipeline.dumps()
    assert "very-secret" not in data
    again = Pipeline.loads(data)
    assert again.to_dict()["components"] == pipeline.to_dict()["components"]
    selector = make_selector(server, top_n=1)
    result = asyncio.run(selector.run_async(make_documents()[:1]))
    assert result["documents"][0].meta["keyphrases"] == ["good idea"]


@haystack.component
class Echo:
    """A chat generator of a user's own, which no serializer knows."""

    @haystack.component.output_types(replies=list)
    def run(self, messages, generation_kwargs=None):
        labels = [line.split(". ")[0] for line in messages[-1].text.splitlines()]
        n = sum(label.isdigit() for label in labels)
        text = '{"labels": [' + ", ".join(['"T"'] * n) + "]}"
        return {"replies": [haystack.dataclasses.ChatMessage.from_assistant(text)]}


def test_selector_with_any_generator():
    selector = KeyphraseSelector(Echo())
    result = selector.run(make_documents()[:1])
    assert result["failed_documents"] == []
    assert len(result["documents"][0].meta["keyphrases"]) == 3
