"""Files and folders, on disk or wherever fsspec reaches."""

import os
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterator, List, NamedTuple, Set, cast

# Of the files of a folder that are read.
SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".txt")


class Input(NamedTuple):
    """A file to read.

    path (str): Path or URL.
    size (int): Bytes.
    """

    path: str
    size: int


def suffix(path: str) -> str:
    """What tells the format of a file: of "train.jsonl.gz" it is ".jsonl"."""
    return Path(path.removesuffix(".gz")).suffix.lower()


def find_inputs(paths: List[str]) -> List[Input]:
    """The files that paths name, in a fixed order.

    paths (List[str]): Files and folders, or URLs of such ("s3://bucket/folder").
    RAISES: FileNotFoundError where there is none.
    """
    found: List[Input] = []
    for path in paths:
        files = _walk_url(path) if "://" in path else _walk(Path(path))
        if not files:
            raise FileNotFoundError(
                f"There is nothing to read at {path}; files of a folder need one of "
                f"the endings {', '.join(SUFFIXES)}, or .gz behind it."
            )
        found += files
    return found


def _walk(path: Path) -> List[Input]:
    if path.is_file():
        return [Input(str(path), path.stat().st_size)]
    return [
        Input(str(file), file.stat().st_size)
        for file in sorted(path.rglob("*"))
        if suffix(file.name) in SUFFIXES and file.is_file() and not _hidden(file, path)
    ]


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


def _walk_url(url: str) -> List[Input]:
    fs, path = _filesystem(url)
    if fs.isfile(path):
        return [Input(url, fs.info(path)["size"])]
    details = fs.find(path, detail=True)
    return [
        Input(fs.unstrip_protocol(name), entry["size"])
        for name, entry in sorted(details.items())
        if suffix(name) in SUFFIXES
    ]


@contextmanager
def open_input(path: str) -> Iterator[IO[bytes]]:
    """A file to read, as bytes, not decompressed."""
    if "://" not in path:
        with open(path, "rb") as file:
            yield file
        return
    fs, name = _filesystem(path)
    with fs.open(name, "rb") as file:
        yield cast(IO[bytes], file)


class Folder:
    """A folder whose files are whole or not there.

    path (str): Path or URL. It is made when something is written.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_url = "://" in path

    def names(self) -> Set[str]:
        """The files that are there."""
        if self.is_url:
            fs, path = _filesystem(self.path)
            fs.invalidate_cache()
            if not fs.exists(path):
                return set()
            return {name.rsplit("/", 1)[-1] for name in fs.ls(path, detail=False)}
        folder = Path(self.path)
        return (
            {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()
        )

    def read(self, name: str) -> bytes:
        """The contents of a file."""
        with open_input(f"{self.path}/{name}") as file:
            return file.read()

    def write(self, name: str, contents: bytes) -> None:
        """Write a file, in the place of one that is there.

        RAISES: OSError where there is no room or no permission; the file is then as it
            was.
        """
        if self.is_url:
            # Stores of objects show what was written when it is whole.
            fs, path = _filesystem(self.path)
            fs.makedirs(path, exist_ok=True)
            with fs.open(f"{path}/{name}", "wb") as file:
                file.write(contents)
            return
        folder = Path(self.path)
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{name}.{uuid.uuid4().hex}"
        try:
            with partial.open("wb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, folder / name)
        finally:
            partial.unlink(missing_ok=True)


def _filesystem(url: str) -> Any:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        message = f'{url} needs fsspec: pip install "spacy-keyphrase[ray]".'
        raise ImportError(message) from error
    return url_to_fs(url)
