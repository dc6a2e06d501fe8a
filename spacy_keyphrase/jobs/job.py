"""A job: input, pipeline and output folder, and what is left to do of it.

The folder has `_job.json`, which says what it is of, a part for each chunk of the
input (`part-….parquet` or `.jsonl`) and, where rows failed, `_failed-….jsonl`. A part
is there when its chunk is done, whole: a job that was interrupted goes on with the
others.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Optional

from .. import __version__
from ..keyphrase import KEY
from .chunks import read_chunks
from .items import Split, Unreadable
from .parquet import infer_schema, read_schema
from .places import Folder, Input, find_inputs, suffix
from .rows import make_splits
from .worker import Output, PipelineSpec, part_name

# Names with this in front are left out by readers of Parquet folders.
MANIFEST = "_job.json"
# Columns that texts are in, where none are named, in order.
TEXTS = (["text"], ["title", "abstract"], ["abstract"], ["content"], ["body"])
# Rows that tell the columns of files without a schema.
FIRST = 1000


@dataclass(frozen=True)
class Job:
    """What is to be done.

    splits (List[Split]): The input.
    spec (PipelineSpec): The pipeline.
    output (Output): What is written, and where.
    rows_per_part (int): Rows of a chunk at most.
    done (FrozenSet[str]): Chunks that are done.
    """

    splits: List[Split]
    spec: PipelineSpec
    output: Output
    rows_per_part: int
    done: FrozenSet[str]


class JobError(ValueError):
    """The output folder is of another job."""


def make_job(
    inputs: List[str],
    output: str,
    spec: PipelineSpec,
    *,
    columns: Optional[List[str]] = None,
    column: str = KEY,
    format: Optional[str] = None,
    rows_per_part: int = 2000,
) -> Job:
    """Begin a job, or go on with it.

    inputs (List[str]): Files and folders, or URLs.
    output (str): The output folder, or its URL.
    spec (PipelineSpec): The pipeline.
    columns (Optional[List[str]]): Columns with the texts, which are joined; by default
        `text`, or `title` and `abstract`.
    column (str): The column that is added.
    format (Optional[str]): "parquet" or "jsonl"; by default that of the first file.
    rows_per_part (int): Rows of an output file at most: what is lost at an
        interruption, and is done again.
    RAISES: FileNotFoundError where there is no input; JobError where the folder is of
        another job; ValueError where columns are missing or in the way.
    """
    if rows_per_part < 1:
        raise ValueError(f"rows_per_part is {rows_per_part}; it must be 1 or more.")
    files = find_inputs(inputs)
    is_parquet = suffix(files[0].path) == ".parquet"
    format = format or ("parquet" if is_parquet else "jsonl")
    if format not in ("parquet", "jsonl"):
        raise ValueError(f"format is {format!r}; use 'parquet' or 'jsonl'.")
    schema = _first_schema(files[0], format)
    names = list(schema.names) if format == "parquet" else schema
    columns = _check_columns(columns, names, column, files[0].path)
    serialised = None
    if format == "parquet":
        serialised = schema.serialize().to_pybytes()
    target = Output(output, format, columns, column, serialised)
    splits = make_splits(files)
    _check_manifest(Folder(output), _describe(files, spec, target, rows_per_part))
    done = frozenset(_done(Folder(output), format))
    return Job(splits, spec, target, rows_per_part, done)


def _first_schema(file: Input, format: str) -> Any:
    """The Arrow schema of the input, or only the names of its columns."""
    if suffix(file.path) == ".parquet":
        schema = read_schema(file.path)
        return schema if format == "parquet" else list(schema.names)
    split = make_splits([file])[:1]
    chunks = (c for s in split for c in read_chunks(s, FIRST, [], frozenset()))
    first = next(chunks, None)
    items = first.items if first else []
    rows = [item.row for item in items if not isinstance(item.row, Unreadable)]
    if format == "parquet":
        return infer_schema(rows)
    return list(dict.fromkeys(name for row in rows for name in row))


def _check_columns(
    columns: Optional[List[str]], names: List[str], added: str, path: str
) -> List[str]:
    if added in names:
        raise ValueError(
            f"{path} has a column {added!r}; give the new one another name (column)."
        )
    if columns:
        missing = [name for name in columns if name not in names]
    else:
        found = [those for those in TEXTS if set(those) <= set(names)]
        columns, missing = (found[0], []) if found else ([], ["text"])
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; it has {', '.join(names) or 'none'}."
        )
    return columns


def _describe(
    files: List[Input], spec: PipelineSpec, output: Output, rows: int
) -> Dict[str, Any]:
    """What a job is: with the same, an interrupted one goes on."""
    return {
        "inputs": [[path, size] for path, size in files],
        "pipeline": _fingerprint(spec),
        "format": output.format,
        "columns": output.columns,
        "column": output.column,
        "rows_per_part": rows,
    }


def _fingerprint(spec: PipelineSpec) -> Dict[str, Any]:
    """The pipeline, and for one on disk the sum of its files."""
    described = asdict(spec)
    # Where it runs is free to change.
    del described["gpu_id"]
    path = Path(spec.pipeline) if spec.pipeline else None
    if path is not None and path.is_dir():
        described["files"] = _sum_of(path)
    return {**described, "spacy_keyphrase": __version__}


def _sum_of(folder: Path) -> str:
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            total.update(str(file.relative_to(folder)).encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _check_manifest(folder: Folder, wanted: Dict[str, Any]) -> None:
    names = folder.names()
    wanted = json.loads(json.dumps(wanted))
    if MANIFEST not in names:
        if any(not name.startswith(".") for name in names):
            raise JobError(
                f"{folder.path} is not empty and not the output of a job. Give another "
                "folder."
            )
        folder.write(MANIFEST, (json.dumps(wanted, indent=1) + "\n").encode())
        return
    try:
        found = json.loads(folder.read(MANIFEST))
    except ValueError as error:
        raise JobError(f"{folder.path}/{MANIFEST} is damaged: {error}") from error
    for name, value in wanted.items():
        if found.get(name) != value:
            raise JobError(
                f"{folder.path} has the output of another job: its {name} "
                f"{_difference(found.get(name), value)}. Give another folder, or "
                "delete this one."
            )


def _difference(found: Any, wanted: Any) -> str:
    if isinstance(found, dict) and isinstance(wanted, dict):
        keys = [k for k in {**found, **wanted} if found.get(k) != wanted.get(k)]
        found, wanted = ({k: d.get(k) for k in keys} for d in (found, wanted))
    texts = (json.dumps(value) for value in (found, wanted))
    before, now = (t if len(t) < 200 else t[:200] + "…" for t in texts)
    return f"was {before}, and is {now}"


def _done(folder: Folder, format: str) -> List[str]:
    """The chunks whose parts are there."""
    start, end = part_name("\0", format).split("\0")
    return [
        name.removeprefix(start).removesuffix(end)
        for name in folder.names()
        if name.startswith(start) and name.endswith(end)
    ]
