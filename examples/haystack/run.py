"""Index text files with their keyphrases, and search them.

python examples/haystack/run.py [--store pgvector] QUERY FILE...

By default in memory. With `--store pgvector` the same two pipelines run on PostgreSQL
(`pip install pgvector-haystack`), which PG_CONN_STR names, and which keeps what was
indexed.
"""

import argparse
from pathlib import Path

from haystack import Pipeline

HERE = Path(__file__).resolve().parent
# What stands in the place of the store in memory.
STORES = {
    "memory": {},
    "pgvector": {
        "haystack.document_stores.in_memory.document_store.InMemoryDocumentStore": (
            "haystack_integrations.document_stores.pgvector.document_store"
            ".PgvectorDocumentStore"
        ),
        "haystack.components.retrievers.in_memory.bm25_retriever"
        ".InMemoryBM25Retriever": (
            "haystack_integrations.components.retrievers.pgvector.keyword_retriever"
            ".PgvectorKeywordRetriever"
        ),
        "index: keyphrases": "table_name: keyphrases",
    },
}


def load(name: str, store: str) -> Pipeline:
    """One of the pipelines, on a store."""
    text = (HERE / f"{name}.yml").read_text("utf8")
    for old, new in STORES[store].items():
        text = text.replace(old, new)
    return Pipeline.loads(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("query")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--store", choices=list(STORES), default="memory")
    options = parser.parse_args()
    indexing = load("indexing", options.store)
    written = indexing.run({"convert": {"sources": options.files}})["write"]
    print(f"{written['documents_written']} chunks")
    querying = load("querying", options.store)
    asked = {"retrieve": {"query": options.query}, "rank": {"query": options.query}}
    for document in querying.run(asked)["rank"]["documents"][:3]:
        name = Path(document.meta["file_path"]).name
        shown = " ".join((document.content or "").split())[:60]
        phrases = ", ".join(document.meta["keyphrases"][:3])
        print(f"{document.score:5.2f}  {name}: {shown} ... ({phrases})")


if __name__ == "__main__":
    main()
