"""A loaded pipeline that works on chunks and writes what it finds."""

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Union

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import require_gpu

from ..corpora.document import join_title
from ..keyphrase import KEY, get_keyphrases
from ..load import keyphrase_pipes, load_pipeline
from ..pipeline.outcomes import get_error
from ..vocabulary import vocabulary_zone
from .items import Chunk, Item, Row, Unreadable
from .parquet import to_parquet
from .places import Folder

# Texts that go through the pipeline at a time, and their characters.
BATCH, BATCH_CHARACTERS = 64, 400_000
Found = Union[List[Dict[str, Any]], str]


@dataclass(frozen=True)
class PipelineSpec:
    """A pipeline that each worker loads.

    pipeline (Optional[str]): Name or path; on other machines it must be there too.
    config (Optional[Mapping[str, Any]]): Config to build one from.
    lang (str): Language of a blank one, where neither is given.
    settings (Mapping[str, Any]): For the components that set keyphrases.
    gpu_id (Optional[int]): The GPU that it runs on; None for the CPU.
    """

    pipeline: Optional[str] = None
    config: Optional[Mapping[str, Any]] = None
    lang: str = "en"
    settings: Mapping[str, Any] = field(default_factory=dict)
    gpu_id: Optional[int] = None

    def load(self) -> Language:
        """The pipeline."""
        if self.gpu_id is not None:
            require_gpu(self.gpu_id)
        return load_pipeline(self.pipeline, self.config, self.lang, self.settings)[0]


@dataclass(frozen=True)
class Output:
    """What is written, and where.

    folder (str): Path or URL.
    format (str): "parquet" or "jsonl".
    columns (List[str]): Those with the texts; several are joined, a title first.
    column (str): The one that is added.
    schema (Optional[bytes]): Of Parquet where the input is not: an Arrow schema,
        serialised.
    """

    folder: str
    format: str
    columns: List[str]
    column: str = KEY
    schema: Optional[bytes] = None


class Done(NamedTuple):
    """What became of a chunk.

    name (str): The chunk.
    rows (int): Rows that were written.
    failed (int): Rows that were set aside.
    """

    name: str
    rows: int
    failed: int


class Worker:
    """Works on chunks, one after the other.

    spec (PipelineSpec): The pipeline, loaded at once.
    output (Output): Where to write.
    """

    def __init__(self, spec: PipelineSpec, output: Output) -> None:
        self.nlp = spec.load()
        self.output = output
        self.folder = Folder(output.folder)
        last = keyphrase_pipes(self.nlp)[-1]
        self.key: str = self.nlp.get_pipe_config(last).get("key", KEY)

    def run(self, chunk: Chunk) -> Done:
        """Find the keyphrases of rows, and write them.

        A chunk that is done again is written in the place of what is there: first the
        rows that failed, then, whole, the others.
        RAISES: OSError where they cannot be written.
        """
        texts = [self.text(item) for item in chunk.items]
        found = list(find(self.nlp, texts, self.key))
        if self.output.format == "parquet" and chunk.table is None:
            found = self._fit(chunk, found)
        failed = [
            _failure(item, error)
            for item, error in zip(chunk.items, found)
            if isinstance(error, str)
        ]
        if failed:
            lines = "".join(json.dumps(f, default=str) + "\n" for f in failed)
            self.folder.write(f"_failed-{chunk.name}.jsonl", lines.encode())
        good = [i for i, own in enumerate(found) if _is_good(own)]
        contents = self._contents(chunk, good, [found[i] for i in good])
        self.folder.write(part_name(chunk.name, self.output.format), contents)
        return Done(chunk.name, len(good), sum(f["rows"] for f in failed))

    def text(self, item: Item) -> Union[str, Unreadable]:
        """The text of a row, or why it has none."""
        if isinstance(item.row, Unreadable):
            return item.row
        texts = []
        if item.row.keys().isdisjoint(self.output.columns):
            return Unreadable(f"no column {' or '.join(self.output.columns)}")
        for column in self.output.columns:
            value = item.row.get(column)
            if value is not None and not isinstance(value, str):
                kind = type(value).__name__
                return Unreadable(f"{column!r} is no text, but of type {kind}")
            texts.append(value or "")
        text = texts[0]
        for more in texts[1:]:
            text = join_title(text, more) if text else more
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return Unreadable(f"not valid Unicode: {error}")
        return text

    def _contents(self, chunk: Chunk, good: List[int], found: List[Any]) -> bytes:
        if chunk.table is not None:
            table = chunk.table.take(good)
            if self.output.format == "parquet":
                return to_parquet(table, self.output.column, found)
            rows = table.to_pylist()
        else:
            rows = [chunk.items[i].row for i in good]
            if self.output.format == "parquet":
                table = self._table(rows)
                return to_parquet(table, self.output.column, found)
        lines = [
            json.dumps({**row, self.output.column: phrases}, default=str)
            for row, phrases in zip(rows, found)
        ]
        return "".join(line + "\n" for line in lines).encode()

    def _table(self, rows: List[Row]) -> Any:
        import pyarrow

        assert self.output.schema is not None
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(self.output.schema))
        return pyarrow.Table.from_pylist(rows, schema=schema)

    def _fit(self, chunk: Chunk, found: List[Found]) -> List[Found]:
        """Set aside the rows that do not fit the schema."""
        rows = [item.row for item, own in zip(chunk.items, found) if _is_good(own)]
        if self._misfit(rows) is None:
            return found
        return [
            (self._misfit([item.row]) or own) if _is_good(own) else own
            for item, own in zip(chunk.items, found)
        ]

    def _misfit(self, rows: List[Any]) -> Optional[str]:
        try:
            known = set(self._table(rows).column_names)
        except Exception as error:
            return f"another type than in the first rows: {error}"
        new = sorted({name for row in rows for name in row} - known)
        return f"columns that the first rows do not have: {new}" if new else None


def part_name(chunk: str, format: str) -> str:
    """The file of a chunk."""
    return f"part-{chunk}.{format}"


def find(
    nlp: Language, texts: List[Union[str, Unreadable]], key: str = KEY
) -> Iterator[Found]:
    """The keyphrases of texts, as `Keyphrase.to_dict` has them, or in their place what
    went wrong; in order."""
    batch: List[str] = []
    size = 0
    for text in texts:
        if isinstance(text, str) and len(text) <= nlp.max_length:
            if batch and (len(batch) == BATCH or size + len(text) > BATCH_CHARACTERS):
                yield from _find(nlp, batch, key)
                batch, size = [], 0
            batch.append(text)
            size += len(text)
            continue
        yield from _find(nlp, batch, key)
        batch, size = [], 0
        if isinstance(text, Unreadable):
            yield text.error
        else:
            yield (
                f"{len(text)} characters, more than the pipeline's max_length "
                f"({nlp.max_length})"
            )
    yield from _find(nlp, batch, key)


def _find(nlp: Language, texts: List[str], key: str) -> List[Found]:
    if not texts:
        return []
    try:
        with vocabulary_zone(nlp):
            docs = nlp.pipe(texts, batch_size=len(texts))
            return [_read(doc, key) for doc in docs]
    except Exception as error:
        if len(texts) == 1:
            return [f"{type(error).__name__}: {error}"]
    # The others are not to suffer for one.
    return [_find(nlp, [text], key)[0] for text in texts]


def _read(doc: Doc, key: str) -> Found:
    error = get_error(doc, key)
    if error is not None:
        return error
    return [phrase.to_dict() for phrase in get_keyphrases(doc, key)]


def _is_good(found: Found) -> bool:
    return not isinstance(found, str)


def _failure(item: Item, error: str) -> Dict[str, Any]:
    failure = {"file": item.place.file, "row": item.place.row, "error": error}
    if isinstance(item.row, Unreadable):
        return {**failure, "rows": item.row.rows, "raw": item.row.raw}
    return {**failure, "rows": 1, "record": item.row}
