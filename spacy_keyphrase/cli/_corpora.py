"""Which corpora the arguments of `evaluate` stand for, and their names."""

from pathlib import Path
from typing import Iterable, List, NamedTuple, Tuple

import typer

from ..corpora import Probe
from ..corpora.docbin import SUFFIX
from ..corpora.files import stem_of, walk
from ..corpora.formats import JSON_SUFFIXES
from ._run import say

GOLD_FIELDS = frozenset(("keyphrases", "keywords", "keyword", "KeyPhrases"))


class NamedCorpus(NamedTuple):
    """A corpus and what tables call it."""

    name: str
    path: Path


def find_corpora(
    paths: Iterable[Path], splits: Tuple[str, ...] = ()
) -> List[NamedCorpus]:
    """One corpus for each path; for a folder of JSON lines, one for each file.

    paths (Iterable[Path]): Files and folders.
    splits (Tuple[str, ...]): Take only the files of these names, such as "test"
        for "inspec/test.jsonl.gz".
    RETURNS (List[NamedCorpus]): The corpora. Files without gold are left out, and
        this is said.
    """
    found: List[NamedCorpus] = []
    for path in paths:
        probe = Probe(path)
        is_tree = path.is_dir() and SUFFIX not in probe.suffixes
        files = walk(path, JSON_SUFFIXES) if is_tree else []
        if files:
            found += [NamedCorpus(_name(file, path), file) for file in files]
        else:
            found.append(NamedCorpus(_name(path, path), path))
    if splits:
        known = sorted({stem_of(corpus.path) for corpus in found})
        found = [corpus for corpus in found if stem_of(corpus.path) in splits]
        if not found:
            raise typer.BadParameter(
                f"no corpus is called {' or '.join(splits)}; there are: "
                f"{', '.join(known)}."
            )
    if len(found) > 1:
        found = _with_gold(found)
    return found


def _name(path: Path, root: Path) -> str:
    if path == root:
        path = path.resolve()
        parent = "" if path.is_dir() else f"{path.parent.name}/"
        return f"{parent}{stem_of(path)}"
    parts = path.relative_to(root).parts
    folder = "/".join(parts[:-1]) or root.resolve().name
    return f"{folder}/{stem_of(path)}"


def _with_gold(corpora: List[NamedCorpus]) -> List[NamedCorpus]:
    kept: List[NamedCorpus] = []
    left_out: List[NamedCorpus] = []
    for corpus in corpora:
        record = Probe(corpus.path).record
        has_gold = not record or not GOLD_FIELDS.isdisjoint(record)
        (kept if has_gold else left_out).append(corpus)
    if left_out:
        names = ", ".join(corpus.name for corpus in left_out)
        say(f"Left out, as they have no keyphrases: {names}.")
    return kept
