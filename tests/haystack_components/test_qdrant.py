"""Keyphrases in a store that people run: Qdrant, in this process."""

import pytest

pytest.importorskip("haystack")
qdrant = pytest.importorskip(
    "haystack_integrations.document_stores.qdrant", exc_type=ImportError
)

from haystack import Document, Pipeline  # noqa: E402
from haystack.components.writers import DocumentWriter  # noqa: E402
from haystack_integrations.components.retrievers.qdrant import (  # noqa: E402
    QdrantEmbeddingRetriever,
)

from haystack_kp import (  # noqa: E402
    KeyphraseExtractor,
    KeyphraseFilterBuilder,
    KeyphraseRanker,
)

TEXTS = {
    "Dense retrieval finds passages by their embeddings.": [1.0, 0.1, 0.0],
    "Rain fell on the old town for a week.": [0.0, 1.0, 0.0],
    "A town by the sea has rain in autumn.": [0.1, 0.9, 0.2],
}


def make_store(path):
    return qdrant.QdrantDocumentStore(
        path=str(path), index="keyphrases", embedding_dim=3, return_embedding=False
    )


def test_index_filter_and_rank(tmp_path):
    store = make_store(tmp_path)
    indexing = Pipeline()
    formats = ["list", "scores", "text", "records", "flat"]
    indexing.add_component("keyphrases", KeyphraseExtractor(formats=formats))
    indexing.add_component("write", DocumentWriter(store))
    indexing.connect("keyphrases.documents", "write.documents")
    documents = [Document(content=t, embedding=v) for t, v in TEXTS.items()]
    indexing.run({"keyphrases": {"documents": documents}})
    assert store.count_documents() == 3
    for style in ("list", "flat"):
        builder = KeyphraseFilterBuilder(style=style)
        filters = builder.run(["old town"])["filters"]
        (found,) = store.filter_documents(filters=filters)
        assert found.content == documents[1].content
        assert found.meta["keyphrases_records"][0]["offsets"]
    querying = Pipeline()
    querying.add_component("retrieve", QdrantEmbeddingRetriever(store))
    querying.add_component("rank", KeyphraseRanker(match=1.0))
    querying.connect("retrieve.documents", "rank.documents")
    asked = {
        "retrieve": {"query_embedding": [0.0, 1.0, 0.1]},
        "rank": {"query": "rain by the sea"},
    }
    ranked = querying.run(asked)["rank"]["documents"]
    assert ranked[0].content == documents[2].content
    assert {d.id for d in ranked} == {d.id for d in documents}
