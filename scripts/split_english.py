"""Cut the English training corpora into what is learned from and what is held out.

python scripts/split_english.py DATA OUTPUT

DATA is the folder of the corpora, OUTPUT becomes a folder of ``<name>-train.jsonl.gz``
and ``<name>-dev.jsonl.gz``. No document of a test set is in either.
"""

import gzip
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Tuple


class Source(NamedTuple):
    """Where a corpus comes from, and which of its documents are held out; those before
    are left out (the first 460 of Krapivin are its customary test set)."""

    files: Tuple[str, ...]
    first_dev: int = 0
    n_dev: int = 0


SOURCES = {
    # Author keywords of scientific papers.
    "acmdl": Source(("acmdl/train",), 0, 1000),
    "krapivin": Source(("krapivin/abstract_rest",), 460, 300),
    "paperlists": Source(("paperlists/train",)),
    "taln": Source(("taln/en",)),
    # The same of whole papers; those held out are held out as abstracts as well.
    "krapivin_full": Source(("krapivin/full_rest",), 460, 300),
    "cstr": Source(("cstr/train",), 0, 40),
    # Index terms, tags, what readers marked.
    "inspec": Source(("inspec/train",)),
    "stackexchange": Source(("stackexchange/valid",), 0, 945),
    "kpcrowd": Source(("kpcrowd500n/train",), 0, 90),
    # Only to choose by.
    "inspec_valid": Source(("inspec/valid",), 0, 500),
    "semeval2010": Source(("semeval2010/train_abstract",), 0, 130),
}


def read(data: Path, names: Tuple[str, ...]) -> Iterator[str]:
    for name in names:
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf8") as lines:
            yield from lines


def write(path: Path, lines: List[str]) -> None:
    if lines:
        with gzip.open(path, "wt", encoding="utf8", compresslevel=6) as out:
            out.writelines(lines)


def main(data: Path, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        lines = list(read(data, source.files))
        end = source.first_dev + source.n_dev
        dev, train = lines[source.first_dev : end], lines[end:]
        write(output / f"{name}-train.jsonl.gz", train)
        write(output / f"{name}-dev.jsonl.gz", dev)
        print(f"{name}: {len(train)} to learn from, {len(dev)} held out")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
