"""The example pipelines on a store that people run: PostgreSQL, started here."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("haystack")
pgserver = pytest.importorskip("pgserver")
pgvector = pytest.importorskip(
    "haystack_integrations.document_stores.pgvector", exc_type=ImportError
)

from haystack import Document  # noqa: E402

from haystack_kp import KeyphraseExtractor, KeyphraseFilterBuilder  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    server = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PG_CONN_STR", server.get_uri())
        yield
    server.cleanup()


def test_examples(connection, tmp_path):
    """Twice: what was indexed stays, and is not there twice."""
    texts = {
        "a": "Dense retrieval finds passages by their embeddings. " * 50,
        "b": "Rain fell on the old town for a week. " * 50,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf8")
    files = [str(tmp_path / f"{name}.txt") for name in texts]
    run = ROOT / "examples" / "haystack" / "run.py"
    command = [sys.executable, str(run), "--store", "pgvector", "dense passages"]
    outputs = []
    for part in (files, files[:1]):
        done = subprocess.run(
            [*command, *part], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    (chunks, *found), (fewer, *again) = outputs
    assert int(chunks.split()[0]) > int(fewer.split()[0]) > 2
    assert len(found) == 3 and all("(Dense retrieval" in line for line in found)
    assert len(again) == 3
    store = pgvector.PgvectorDocumentStore(table_name="keyphrases")
    assert store.count_documents() == int(chunks.split()[0])
    store.close()


def test_filters(connection):
    store = pgvector.PgvectorDocumentStore(
        table_name="filters", keyword_index_name="filters_words", embedding_dimension=3
    )
    texts = [
        "Dense networks find passages by their embeddings.",
        "Rain fell on the old town for a week.",
    ]
    extractor = KeyphraseExtractor(formats=["list", "scores", "records", "flat"])
    documents = [Document(content=text) for text in texts]
    store.write_documents(extractor.run(documents)["documents"])
    for style, phrases in {
        "array_overlaps": ["old town", "nothing"],
        "flat": ["old towns"],
    }.items():
        filters = KeyphraseFilterBuilder(style=style).run(phrases)["filters"]
        (found,) = store.filter_documents(filters=filters)
        assert found.content == texts[1]
        assert found.meta["keyphrases_records"][0]["offsets"]
    store.close()
