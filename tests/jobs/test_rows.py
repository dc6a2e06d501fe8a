"""Input in parts: every row once, and what cannot be read is said and counted."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_keyphrase.jobs import rows
from spacy_keyphrase.jobs.chunks import read_chunks
from spacy_keyphrase.jobs.items import Unreadable
from spacy_keyphrase.jobs.places import Folder, find_inputs


def read_all(path, size=100, columns=("text",), done=frozenset()):
    splits = rows.make_splits(find_inputs([str(path)]))
    chunks = [c for s in splits for c in read_chunks(s, size, columns, done)]
    return chunks, [item for chunk in chunks for item in chunk.items]


@given(
    texts=st.lists(st.text(max_size=12), max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    last=st.booleans(),
    size=st.integers(1, 60),
)
@settings(deadline=None, max_examples=200)
def test_lines_belong_to_the_part_they_begin_in(
    texts, end, last, size, tmp_path_factory
):
    path = tmp_path_factory.mktemp("lines") / "in.jsonl"
    content = end.join(json.dumps({"text": t}, ensure_ascii=False) for t in texts)
    path.write_bytes((content + end * last).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "SPLIT_BYTES", size)
        _, items = read_all(path)
    good = [item.row for item in items if not isinstance(item.row, Unreadable)]
    assert good == [{"text": text} for text in texts]
    raw = path.read_bytes()
    for item in items:
        assert json.loads(raw[item.place.row :].split(b"\n")[0]) == item.row


def test_malformed_lines_are_named(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text"\n[1]\n\xff\n{"text": "b"}\n')
    _, items = read_all(path)
    assert [item.row for item in (items[0], items[-1])] == [
        {"text": "a"},
        {"text": "b"},
    ]
    assert [item.place.row for item in items] == [0, 14, 22, 26, 28]
    invalid, no_object, no_text = (item.row for item in items[1:-1])
    assert invalid.error.startswith("not valid JSON") and invalid.raw == '{"text"'
    assert no_object.error == "not a JSON object"
    assert "utf-8" in no_text.error


def test_compressed_and_cut_off(tmp_path):
    lines = "".join(json.dumps({"text": f"{i} " * 200}) + "\n" for i in range(200))
    packed = gzip.compress(lines.encode())
    whole, cut = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    whole.write_bytes(packed)
    cut.write_bytes(packed[: len(packed) // 2])
    chunks, items = read_all(whole, size=70)
    assert [len(chunk.items) for chunk in chunks] == [70, 70, 60]
    assert [chunk.name for chunk in chunks] == [f"000000-0000{i}" for i in range(3)]
    _, items = read_all(cut)
    assert "the rest cannot be read" in items[-1].row.error
    assert 0 < len(items) - 1 < 200
    chunks, _ = read_all(whole, size=70, done={"000000-00001"})
    assert [chunk.name for chunk in chunks] == ["000000-00000", "000000-00002"]


def test_csv_and_texts(tmp_path):
    (tmp_path / "a.csv").write_text('text,n\n"two\nlines",1\nmore,2,3\nlast,4\n')
    (tmp_path / "b.txt").write_bytes("\ufeffMünchen".encode())
    (tmp_path / "c.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "d.pdf").write_bytes(b"")
    _, items = read_all(tmp_path)
    assert items[0].row == {"text": "two\nlines", "n": "1"}
    assert items[1].row.error == "more fields than the first line has names"
    assert items[2].row == {"text": "last", "n": "4"}
    assert items[3].row["text"] == "München"
    assert items[4].row.error.startswith("cannot be read")
    assert len(items) == 5


def test_row_groups(tmp_path):
    """A damaged row group is said, with the number of its rows; the others are read."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "in.parquet"
    texts = [f"text {i} " * 20 for i in range(30)]
    table = pa.table({"text": texts, "n": pa.array(range(30), pa.int16())})
    parquet.write_table(table, path, row_group_size=10, compression="gzip")
    chunks, items = read_all(path, size=6)
    assert [len(chunk.items) for chunk in chunks] == [6, 4] * 3
    assert [item.row for item in items] == [{"text": text} for text in texts]
    assert [item.place.row for item in items] == list(range(30))
    assert chunks[0].table.schema.field("n").type == pa.int16()
    start = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    raw = bytearray(path.read_bytes())
    raw[start : start + 80] = bytes(80)
    path.write_bytes(raw)
    _, items = read_all(path)
    (bad,) = [item for item in items if isinstance(item.row, Unreadable)]
    assert (bad.place.row, bad.row.rows) == (10, 10)
    assert "row group 1" in bad.row.error
    assert len(items) == 21


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing to read"):
        find_inputs([str(tmp_path / "none.jsonl")])
    (tmp_path / "a.parquet").write_bytes(b"no such thing")
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="is no Parquet file"):
        read_all(tmp_path / "a.parquet")


@pytest.mark.parametrize("url", [False, True])
def test_files_are_whole(tmp_path, url):
    if url:
        pytest.importorskip("fsspec")
    folder = Folder(f"file://{tmp_path}/out" if url else str(tmp_path / "out"))
    assert folder.names() == set()
    folder.write("a", b"1")
    folder.write("a", b"2")
    assert folder.names() == {"a"} and folder.read("a") == b"2"
