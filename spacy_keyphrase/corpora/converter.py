"""From a stream of corpus documents to ``.spacy`` files."""

import os
import secrets
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Callable, Iterable, List, Optional, Union

from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..keyphrase import KEY, set_keyphrases
from ..vocabulary import vocabulary_zone
from .context import CorpusError
from .docbin import SUFFIX
from .document import KeyphraseDocument

_BATCH = 256


@dataclass
class ConvertReport:
    """What a conversion wrote.

    documents (int): Documents written.
    present (int): Gold phrases aligned to the tokens of their document.
    absent (int): Gold phrases that are in the attributes only.
    files (List[Path]): The shards, in order.
    """

    documents: int = 0
    present: int = 0
    absent: int = 0
    files: List[Path] = field(default_factory=list)


def make_gold_doc(document: KeyphraseDocument, nlp: Language, *, key: str = KEY) -> Doc:
    """A tokenised document with its gold as ``doc._.keyphrases``.

    document (KeyphraseDocument): The document.
    nlp (Language): Its tokenizer is used, its pipes are not.
    key (str): Key of the span group. Present phrases are spans, absent ones are
        in the group's attributes, and so are "id", "title_length" (characters of
        the text that are the title) and "gold" (the phrases as they were given):
        unlike `Doc.user_data`, `DocBin` keeps group attributes by default.
    RETURNS (Doc): The document.
    """
    if len(document.text) > nlp.max_length:
        raise CorpusError(
            f"Document {document.id!r} has {len(document.text)} characters, more than "
            f"nlp.max_length ({nlp.max_length}); set a larger nlp.max_length."
        )
    doc = nlp.make_doc(document.text)
    set_keyphrases(doc, document.keyphrases, key)
    doc.spans[key].attrs.update(
        id=document.id,
        title_length=document.title_length,
        gold=list(document.keyphrases),
    )
    return doc


def convert(
    documents: Iterable[KeyphraseDocument],
    nlp: Language,
    output: Union[str, Path],
    *,
    max_docs_per_file: int = 5000,
    key: str = KEY,
    overwrite: bool = False,
    progress: Optional[Callable[[int], None]] = None,
) -> ConvertReport:
    """Write a corpus as ``.spacy`` files; at most one shard is in memory.

    documents (Iterable[KeyphraseDocument]): The corpus, read as it is written.
    nlp (Language): Its tokenizer is used.
    output (Union[str, Path]): A path that ends in ".spacy" becomes one file, or,
        where the documents are more than one file's, a folder of that name,
        which spaCy's readers take alike. Any other path becomes a folder.
    max_docs_per_file (int): Size of a shard in documents.
    key (str): Key of the span group that holds the gold.
    overwrite (bool): Replace what is at the output. Otherwise that is an error.
    progress (Optional[Callable[[int], None]]): Called with the number of
        documents done, after every few hundred.
    RETURNS (ConvertReport): What was written. A shard appears under its name only
        when it is complete. If the documents end in an error, the shards already
        in the folder stay.
    """
    if max_docs_per_file < 1:
        raise ValueError(f"max_docs_per_file is {max_docs_per_file}; it must be >= 1.")
    writer = _ShardWriter(Path(output), overwrite)
    report = ConvertReport(files=writer.files)
    shard = DocBin(attrs=["ORTH"])
    try:
        stream = iter(documents)
        while batch := list(islice(stream, _BATCH)):
            with vocabulary_zone(nlp):
                for document in batch:
                    if len(shard) == max_docs_per_file:
                        writer.write(shard)
                        shard = DocBin(attrs=["ORTH"])
                    doc = make_gold_doc(document, nlp, key=key)
                    for phrase in doc.spans[key].attrs["phrases"]:
                        report.present += phrase["mentions"] > 0
                        report.absent += phrase["mentions"] == 0
                    shard.add(doc)
                    report.documents += 1
            if progress is not None:
                progress(report.documents)
        if len(shard) or not writer.files:
            writer.write(shard)
        writer.finish()
    finally:
        writer.clean_up()
    return report


class _ShardWriter:
    """Writes shards under a temporary name, then renames them.

    output (Path): The file or folder to be.
    overwrite (bool): Whether something may be there already.
    """

    def __init__(self, output: Path, overwrite: bool):
        self.output = output
        self.files: List[Path] = []
        self.temporary = output.parent / f".{output.name}.{secrets.token_hex(4)}.tmp"
        # A single file is held back under its temporary name until all is well.
        self.is_single = output.suffix == SUFFIX
        old = sorted(output.glob(f"*{SUFFIX}")) if output.is_dir() else [output]
        old = [path for path in old if path.exists()]
        if old and not overwrite:
            raise FileExistsError(
                f"{old[0]} is there already; choose another output or overwrite it."
            )
        self.old = old

    def write(self, shard: DocBin) -> None:
        if self.is_single and self.files:
            self._become_folder()
        if self.is_single:
            self._save(shard, self.temporary)
            self.files.append(self.output)
        else:
            if not self.files:
                self._make_room()
            target = self.output / f"{len(self.files):05}{SUFFIX}"
            self._save(shard, self.temporary)
            os.replace(self.temporary, target)
            self.files.append(target)

    def _save(self, shard: DocBin, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shard.to_bytes())

    def _make_room(self) -> None:
        """Take away what is overwritten, and see that there is a folder."""
        for path in self.old:
            path.unlink()
        self.output.mkdir(parents=True, exist_ok=True)

    def _become_folder(self) -> None:
        self.is_single = False
        self._make_room()
        first = self.output / f"{0:05}{SUFFIX}"
        os.replace(self.temporary, first)
        self.files[:] = [first]

    def finish(self) -> None:
        if self.is_single:
            if self.output.is_dir():
                for path in self.old:
                    path.unlink()
                self.output.rmdir()
            os.replace(self.temporary, self.output)

    def clean_up(self) -> None:
        self.temporary.unlink(missing_ok=True)
