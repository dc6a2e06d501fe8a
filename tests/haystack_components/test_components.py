"""Haystack components: what they write, that they change nothing they were given, that
they survive YAML, and what they do with bad input."""

import asyncio
import copy
import subprocess
import sys

import pytest

haystack = pytest.importorskip("haystack")

from haystack import Document, Pipeline  # noqa: E402
from haystack.components.preprocessors import DocumentSplitter  # noqa: E402
from haystack.components.writers import DocumentWriter  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402
from haystack.document_stores.types import DuplicatePolicy  # noqa: E402
from haystack.utils import ComponentDevice  # noqa: E402

from haystack_kp import (  # noqa: E402
    KeyphraseDocumentExpander,
    KeyphraseDocumentRestorer,
    KeyphraseEvaluator,
    KeyphraseExtractor,
    KeyphraseFilterBuilder,
    KeyphraseProjector,
    KeyphraseQueryExpander,
    KeyphraseRanker,
)

TEXTS = [
    "Dense retrieval finds passages by their embeddings. Dense retrieval needs a GPU.",
    "Neural networks learn to translate. A neural network has many layers.",
    "The bank lends money to small firms.",
]


def make_documents():
    return [Document(content=t, meta={"n": i}) for i, t in enumerate(TEXTS)]


def run(component, documents, **inputs):
    """Run a component; what it was given stays what it was."""
    before = copy.deepcopy(documents)
    result = component.run(documents=documents, **inputs)
    assert documents == before
    assert [d.id for d in result["documents"]] == [d.id for d in documents]
    return result


def test_extractor_writes_all_formats():
    formats = ["list", "scores", "text", "records", "flat"]
    extractor = KeyphraseExtractor(settings={"top_n": 2}, formats=formats)
    result = run(extractor, make_documents())
    assert result["failed_documents"] == []
    first, second, _ = (document.meta for document in result["documents"])
    assert first["n"] == 0
    assert first["keyphrases"][0] == "Dense retrieval"
    assert first["keyphrases_text"] == "; ".join(first["keyphrases"])
    assert first["keyphrases_scores"] == sorted(first["keyphrases_scores"])[::-1]
    record = first["keyphrases_records"][0]
    assert record["offsets"] == [[0, 15], [52, 67]]
    assert record["is_present"] and record["score"] == first["keyphrases_scores"][0]
    assert first["keyphrases_has_dens_retriev"] is True
    assert second["keyphrases_has_neural_network"] is True


def test_extractor_in_a_thread_of_its_own():
    extractor = KeyphraseExtractor()
    expected = extractor.run(make_documents())
    assert asyncio.run(extractor.run_async(make_documents())) == expected


@pytest.mark.parametrize("n_process", [1, 2])
def test_extractor_is_the_same_in_any_batch(n_process):
    documents = [Document(content=f"{TEXTS[i % 3]} Number {i}.") for i in range(9)]
    # Scores differ by rounding, as sums of another order do.
    formats = ["list", "text"]
    alone = KeyphraseExtractor(formats=formats, batch_size=1).run(documents)
    many = KeyphraseExtractor(formats=formats, batch_size=4, n_process=n_process)
    assert many.run(documents) == alone


@pytest.mark.parametrize(
    "existing, expected",
    [
        ("replace", {"Dense retrieval"}),
        ("keep", {"my own"}),
        ("merge", {"my own", "Dense retrieval"}),
    ],
)
def test_keyphrases_that_are_there(existing, expected):
    documents = make_documents()[:1]
    documents[0].meta["keyphrases"] = ["my own"]
    extractor = KeyphraseExtractor(settings={"top_n": 1}, existing=existing)
    (document,) = run(extractor, documents)["documents"]
    assert set(document.meta["keyphrases"]) == expected
    if existing == "keep":
        assert document is documents[0]


def test_merged_keyphrases_are_equal_by_stems():
    document = Document(content=TEXTS[0], meta={"keyphrases": ["Dense retrievals"]})
    extractor = KeyphraseExtractor(settings={"top_n": 1}, existing="merge")
    (found,) = extractor.run([document])["documents"]
    assert found.meta["keyphrases"] == ["Dense retrieval"]


def test_pipelines_by_path_config_and_name(tmp_path):
    import spacy

    nlp = spacy.blank("de")
    nlp.add_pipe("keyphrase", config={"top_n": 1})
    nlp.to_disk(tmp_path / "pipeline")
    nlp.config.to_disk(tmp_path / "pipeline.cfg")
    text = "Der Bundestag hat ein neues Klimaschutzgesetz beschlossen."
    models = [str(tmp_path / "pipeline"), str(tmp_path / "pipeline.cfg")]
    for model in [*models, dict(nlp.config)]:
        extractor = KeyphraseExtractor(model)
        (document,) = extractor.run([Document(content=text)])["documents"]
        assert len(document.meta["keyphrases"]) == 1
        changed = KeyphraseExtractor(model, settings={"top_n": 2})
        (document,) = changed.run([Document(content=text)])["documents"]
        assert len(document.meta["keyphrases"]) == 2
    with pytest.raises(OSError, match="no_such_pipeline"):
        KeyphraseExtractor("no_such_pipeline").warm_up()


BAD = [
    Document(content=None),
    Document(content=""),
    Document(content=" \n\t "),
    Document(content="\x00\ufffd\U0001f600"),
    Document(content="\u6f22\u5b57 und \u0440\u0443\u0441\u0441\u043a\u0438\u0439"),
    Document(content="word " * 200_000 + "keyphrase extraction. " * 2000),
    Document(content=TEXTS[0]),
    Document(content=TEXTS[0]),
]


def test_bad_input_is_not_lost():
    result = run(KeyphraseExtractor(formats=["list", "text"]), BAD)
    assert result["failed_documents"] == []
    assert len(result["documents"]) == len(BAD)
    assert "keyphrases" not in result["documents"][0].meta
    assert result["documents"][5].meta["keyphrases"]
    assert result["documents"][6] == result["documents"][7]
    for wrong in ("text", [TEXTS[0]], None):
        with pytest.raises(TypeError, match="Haystack Documents"):
            KeyphraseExtractor().run(wrong)


def test_a_document_that_fails(tmp_path):
    """The others are not lost with it, and it is there with the reason."""
    import spacy

    @spacy.Language.component("fails_at_banks")
    def fails(doc):
        if "bank" in doc.text:
            raise RuntimeError("no banks")
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("fails_at_banks")
    nlp.to_disk(tmp_path)
    documents = make_documents()
    result = run(KeyphraseExtractor(str(tmp_path)), documents)
    (failed,) = result["failed_documents"]
    assert failed.id == documents[2].id == result["documents"][2].id
    assert "no banks" in failed.meta["keyphrases_error"]
    assert all(d.meta["keyphrases"] for d in result["documents"][:2])
    # Once it works, the reason is gone.
    (again,) = KeyphraseExtractor().run([failed])["documents"]
    assert "keyphrases_error" not in again.meta and again.meta["keyphrases"]
    with pytest.raises(RuntimeError, match="no banks"):
        KeyphraseExtractor(str(tmp_path), raise_on_failure=True).run(documents)


def test_meta_that_holds_something_else():
    document = Document(content=TEXTS[0], meta={"keyphrases": [{"no": "text"}]})
    result = run(KeyphraseExtractor(existing="merge"), [document])
    assert "keyphrases_error" in result["failed_documents"][0].meta
    assert run(KeyphraseDocumentExpander(), [document])["documents"] == [document]


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"formats": ["lists"]}, "formats"),
        ({"existing": "drop"}, "existing"),
        ({"batch_size": 0}, "batch_size"),
        ({"device": ComponentDevice.from_str("mps")}, "cuda"),
        ({"device": ComponentDevice.from_str("cuda"), "n_process": 2}, "one process"),
    ],
)
def test_settings_that_there_are_not(settings, message):
    with pytest.raises(ValueError, match=message):
        KeyphraseExtractor(**settings)


def test_expander_and_back():
    meta = {"keyphrases": ["rain", "weather"], "keyphrases_scores": [0.9, 0.3]}
    documents = [
        Document(content="Rain fell.", meta=meta, score=0.5),
        Document(content="Nothing."),
        Document(content=None, meta={"keyphrases": ["lost"]}),
    ]

    def expand(**settings):
        expander = KeyphraseDocumentExpander(**settings)
        return run(expander, documents)["documents"]

    assert expand()[0].content == "Rain fell.\n\nrain. weather"
    assert expand(kind="absent")[0].content == "Rain fell.\n\nweather"
    assert expand(kind="present", repeat=2)[0].content == "Rain fell.\n\nrain. rain"
    three = expand(repeat=3, weighted=True)[0].content
    assert three == "Rain fell.\n\nrain. rain. rain. weather"
    assert expand(top_n=1, separator=" | ")[0].content == "Rain fell. | rain"
    assert [d.content for d in expand()[1:]] == ["Nothing.", "lost"]
    # Once more, and back.
    twice = KeyphraseDocumentExpander(repeat=2).run(expand())["documents"]
    assert twice[0].content.startswith("Rain fell.\n\nrain. rain")
    restored = run(KeyphraseDocumentRestorer(), twice)["documents"]
    assert [d.content or "" for d in restored] == [d.content or "" for d in documents]
    assert [d.meta for d in restored] == [d.meta for d in documents]
    assert restored[0].score == 0.5


def test_projection_to_chunks():
    text = "Dense retrieval finds passages. Rain fell on the old town."
    phrases = ["dense retrievals", "town", "information retrieval"]
    splitter = DocumentSplitter(split_by="word", split_length=4)
    splitter.warm_up()
    whole = Document(content=text, meta={"keyphrases": phrases})
    chunks = splitter.run([whole])["documents"]
    projector = KeyphraseProjector(formats=("list", "records"))
    found = run(projector, chunks)["documents"]
    # One that no chunk has stays with all of them.
    assert [d.meta["keyphrases"] for d in found] == [
        ["dense retrievals", "information retrieval"],
        ["information retrieval"],
        ["town", "information retrieval"],
    ]
    for document in found:
        for record in document.meta["keyphrases_records"]:
            for start, end in record["offsets"]:
                shown = document.content[start:end].lower()
                assert shown in ("dense retrieval", "town")
    without = run(KeyphraseProjector(keep_absent=False), chunks)["documents"]
    kept = [d.meta["keyphrases"] for d in without]
    assert kept == [["dense retrievals"], [], ["town"]]


@pytest.mark.parametrize("match, expected", [("any", {0, 1}), ("all", set())])
def test_filters_in_memory(match, expected):
    """The store in memory compares lists as a whole: flat fields are for it."""
    extractor = KeyphraseExtractor(formats=["list", "flat"])
    store = InMemoryDocumentStore()
    store.write_documents(extractor.run(make_documents())["documents"])
    builder = KeyphraseFilterBuilder(match=match)
    filters = builder.run(["dense retrieval", "Neural networks", " "])["filters"]
    found = store.filter_documents(filters=filters)
    assert {document.meta["n"] for document in found} == expected
    wanted = {"field": "meta.n", "operator": "==", "value": 1}
    both = builder.run(["neural network"], filters=wanted)["filters"]
    assert [d.meta["n"] for d in store.filter_documents(filters=both)] == [1]
    assert builder.run([])["filters"] is None
    assert builder.run([], filters=wanted)["filters"] == wanted


def test_filters_of_other_stores():
    build = KeyphraseFilterBuilder(style="list").run(["a", "b", "a"])["filters"]
    assert build["conditions"] == [
        {"field": "meta.keyphrases", "operator": "in", "value": ["a", "b"]}
    ]
    every = KeyphraseFilterBuilder(style="array_overlaps", match="all").run(["a", "b"])
    assert [c["value"] for c in every["filters"]["conditions"]] == [["a"], ["b"]]
    with pytest.raises(ValueError, match="style"):
        KeyphraseFilterBuilder(style="lists")
    with pytest.raises(ValueError, match="match"):
        KeyphraseFilterBuilder(match="some")


def test_evaluator_by_hand():
    documents = [
        Document(content="Rain fell on towns.", meta={"keyphrases": ["rain", "town"]}),
        Document(content="Graphs.", meta={"keyphrases": ["tree"]}),
        Document(content="Nothing."),
    ]
    gold = [["towns", "weather"], ["graph"], []]
    result = KeyphraseEvaluator(metric="all_p@M").run(documents, gold)
    assert result["individual_scores"][:2] == [0.5, 0.0]
    assert result["score"] == result["scores"]["all_p@M"]
    # A keyphrase at the end of a sentence is present, whatever the preset splits at.
    ends = [Document(content="Rain on the town.", meta={"keyphrases": ["town"]})]
    for preset in ("default", "one2set"):
        evaluator = KeyphraseEvaluator(metric="present_r@M", preset=preset)
        assert evaluator.run(ends, [["town"]])["score"] == 1.0
    with pytest.raises(ValueError, match="3 documents and 1"):
        KeyphraseEvaluator().run(documents, gold[:1])
    with pytest.raises(ValueError, match="no metric 'f1'"):
        KeyphraseEvaluator(metric="f1").run(documents, gold)
    with pytest.raises(ValueError, match="preset"):
        KeyphraseEvaluator(preset="nobody")


def test_ranker_behind_a_retriever():
    documents = [
        Document(content="A", score=0.6, meta={"keyphrases": ["weather"]}),
        Document(content="B", score=0.5, meta={"keyphrases": ["dense retrieval"]}),
        Document(content="C", score=0.5),
    ]
    ranker = KeyphraseRanker(match=2.0)
    query = "How does retrieval work?"
    result = ranker.run(query, documents)["documents"]
    assert [d.content for d in result] == ["B", "A", "C"]
    assert [d.id for d in result] == [documents[i].id for i in (1, 0, 2)]
    assert [d.score for d in documents] == [0.6, 0.5, 0.5]
    assert len(ranker.run(query, documents, top_k=1)["documents"]) == 1
    assert len(KeyphraseRanker(top_k=2).run(query, documents)["documents"]) == 2
    # Without scores the order counts.
    bare = [Document(content=text) for text in "ABC"]
    ranked = ranker.run(query, bare)["documents"]
    assert [d.content for d in ranked] == list("ABC")
    assert ranker.run(query, [])["documents"] == []
    with pytest.raises(ValueError, match="top_k"):
        KeyphraseRanker(top_k=0)


def test_query_expander():
    found = [
        Document(content="A", score=2.0, meta={"keyphrases": ["dual encoders"]}),
        Document(content="B", score=1.0, meta={"keyphrases": ["dense retrieval"]}),
    ]
    expander = KeyphraseQueryExpander(top_n=1, repeat_query=2)
    query = "How does dense retrieval work?"
    result = expander.run(query, found)
    assert result["query"] == f"{query} {query} dual encoders"
    assert result["added"] == ["dual encoders"]
    assert "dense retrieval" in result["phrases"]
    assert expander.run(query)["query"] == query
    assert asyncio.run(expander.run_async(query, found)) == result
    assert expander.run("")["phrases"] == []
    with pytest.raises(ValueError, match="top_n is -1"):
        KeyphraseQueryExpander(top_n=-1)


def make_indexing():
    pipeline = Pipeline()
    extractor = KeyphraseExtractor(settings={"top_n": 3}, formats=["list", "flat"])
    pipeline.add_component("keyphrases", extractor)
    splitter = DocumentSplitter(split_by="word", split_length=6)
    pipeline.add_component("split", splitter)
    pipeline.add_component("project", KeyphraseProjector(formats=["list", "flat"]))
    pipeline.add_component("expand", KeyphraseDocumentExpander())
    store = InMemoryDocumentStore(index="haystack_kp_test")
    writer = DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE)
    pipeline.add_component("write", writer)
    pipeline.connect("keyphrases.documents", "split.documents")
    pipeline.connect("split.documents", "project.documents")
    pipeline.connect("project.documents", "expand.documents")
    pipeline.connect("expand.documents", "write.documents")
    return pipeline


def test_a_pipeline_survives_yaml():
    pipeline = make_indexing()
    again = Pipeline.loads(pipeline.dumps())
    assert again.to_dict()["components"] == pipeline.to_dict()["components"]
    result = again.run({"keyphrases": {"documents": make_documents()}})
    assert result["write"]["documents_written"] > 3


def test_a_device_survives_yaml():
    pipeline = Pipeline()
    device = ComponentDevice.from_str("cuda:1")
    pipeline.add_component("keyphrases", KeyphraseExtractor(device=device))
    again = Pipeline.loads(pipeline.dumps()).get_component("keyphrases")
    assert again.device == device


SCRIPT = """
import sys
from haystack import Document, Pipeline
pipeline = Pipeline.loads(sys.stdin.read())
documents = [Document(content="Dense retrieval finds passages.")]
print(pipeline.run({"keyphrases": {"documents": documents}})["write"])
"""


def test_a_pipeline_in_a_fresh_process():
    """Nothing of ours is imported but by the YAML."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=make_indexing().dumps(),
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert "documents_written" in found.stdout


def test_close_and_go_on():
    extractor = KeyphraseExtractor()
    first = extractor.run(make_documents())
    extractor.close()
    assert extractor.run(make_documents()) == first
