"""Folders of texts with their keyphrases in files of the same name."""

from pathlib import Path
from typing import Iterator, List, Optional, Tuple

from .context import CorpusError, ReadContext
from .document import KeyphraseDocument, join_title
from .files import read_text, walk
from .folders import document_id
from .formats import Format, Probe
from .records import clean_phrases

TEXT_SUFFIXES = (".abstr", ".txt")
GOLD_SUFFIXES = (".uncontr", ".contr", ".key")
# Folders in which the keys of docsutf8/1.txt are found, beside the text's own.
KEY_FOLDERS = (".", "../keys", "../Keys")


def _detect(probe: Probe) -> bool:
    return ".abstr" in probe.suffixes or {".txt", ".key"} <= probe.suffixes


def _title_and_body(text: str) -> Tuple[str, str]:
    """In .abstr files the title comes first and the abstract starts with a tab."""
    text = text.strip().replace("\r\n", "\n")
    title, separator, body = text.partition("\n\t")
    if not separator:
        title, separator, body = text.partition("\n")
    return " ".join(title.split()), " ".join(body.split())


def _phrases(text: str, suffix: str) -> List[str]:
    """Terms between semicolons, which wrap; in .key files one term a line."""
    return clean_phrases(text.split("\n" if suffix == ".key" else ";"))


def _gold_file(file: Path, suffix: str) -> Optional[Path]:
    name = file.name.removesuffix(".gz")
    for folder in KEY_FOLDERS:
        beside = (file.parent / folder / name).with_suffix(suffix)
        if beside.is_file():
            return beside
    return None


def read_inspec(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """A folder of .abstr or .txt texts with .uncontr, .contr or .key beside them.

    Hulth (2003), "Improved Automatic Keyword Extraction Given More Linguistic
    Knowledge". The gold are the uncontrolled terms, as is the convention; the
    thesaurus terms go to `extra["keyphrases_controlled"]`, unless there are no
    others. Keys may also be in a sibling folder "keys" (docsutf8/, keys/).
    """
    if not path.is_dir():
        raise CorpusError(f"{path}: give the folder of the texts and their keyphrases")
    for file in walk(path, TEXT_SUFFIXES):
        gold = {
            suffix: found
            for suffix in GOLD_SUFFIXES
            if (found := _gold_file(file, suffix)) is not None
        }
        if not gold:
            names = ", ".join(GOLD_SUFFIXES)
            context.malformed(str(file), f"no keyphrases beside it ({names})")
            continue
        text = read_text(file, context)
        contents = {name: read_text(found, context) for name, found in gold.items()}
        if text is None or None in contents.values():
            continue
        phrases = {name: _phrases(c or "", name) for name, c in contents.items()}
        controlled = phrases.pop(".contr", None)
        keyphrases = next(iter(phrases.values()), controlled or [])
        is_abstract = file.name.removesuffix(".gz").endswith(".abstr")
        title, body = _title_and_body(text) if is_abstract else ("", text.strip())
        extra = {"keyphrases_controlled": controlled} if controlled and phrases else {}
        yield KeyphraseDocument(
            id=document_id(file, path),
            title=title,
            text=join_title(title, body),
            keyphrases=keyphrases,
            lang=context.lang,
            extra=extra,
        )


FORMAT = Format(
    "inspec",
    read_inspec,
    _detect,
    "a folder of .abstr or .txt with .uncontr, .contr or .key",
)
