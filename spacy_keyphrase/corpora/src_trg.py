"""Pairs of line files: a source line, and its phrases in the target file."""

from itertools import zip_longest
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

from .context import CorpusError, ReadContext
from .document import KeyphraseDocument
from .files import read_lines, stem_of, walk
from .formats import Format, Probe
from .records import clean_phrases

SUFFIXES = (".txt", ".src", "")
TITLE_END = "<eos>"
ABSENT_FROM = "<peos>"


def _target_of(source: Path) -> Optional[Path]:
    """The target beside a source: "src" in its file name becomes "trg"."""
    before, found, after = source.name.rpartition("src")
    target = source.with_name(f"{before}trg{after}")
    return target if found and target.is_file() else None


def _source_of(target: Path) -> Optional[Path]:
    before, found, after = target.name.rpartition("trg")
    source = target.with_name(f"{before}src{after}")
    return source if found and source.is_file() else None


def find_pairs(path: Path) -> List[Tuple[Path, Path]]:
    """The pairs of a folder, or the pair that a file is one half of."""
    if not path.is_dir():
        path = _source_of(path) or path
    pairs = [(source, _target_of(source)) for source in walk(path, SUFFIXES)]
    return [(source, target) for source, target in pairs if target]


def _detect(probe: Probe) -> bool:
    return not probe.suffixes.isdisjoint((*SUFFIXES, ".trg")) and bool(
        find_pairs(probe.path)
    )


def _build(source: str, target: str, id: str, lang: str) -> KeyphraseDocument:
    title, separator, body = source.partition(TITLE_END)
    if not separator:
        title, body = "", source
    title = title.strip()
    present, separator, absent = target.partition(ABSENT_FROM)
    halves = [clean_phrases(half.split(";")) for half in (present, absent)]
    return KeyphraseDocument(
        id=id,
        title=title,
        # The text is tokenised, and stays so: a full stop is a word of its own.
        text=" . ".join(part for part in (title, body.strip()) if part),
        keyphrases=halves[0] + halves[1],
        lang=lang,
        extra={"present": halves[0], "absent": halves[1]} if separator else {},
    )


def read_src_trg(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """Line files "...src..." and "...trg...": title <eos> body; phrase;phrase;....

    The one-line-a-document form of Yuan et al. (2020) and One2Set (Ye et al.,
    2021). `<eos>` after the title and `<peos>` between present and absent
    phrases are optional; the halves around `<peos>` are kept in `extra`.
    """
    pairs = find_pairs(path)
    if not pairs:
        raise CorpusError(
            f"{path}: no pair of files whose names differ by 'src' and 'trg' only"
        )
    for source, target in pairs:
        lines = zip_longest(read_lines(source, context), read_lines(target, context))
        for left, right in lines:
            if left is None or right is None:
                number, longer = (left or right)[0], source if left else target
                shorter = target if left else source
                context.malformed(
                    f"{longer}:{number}",
                    f"no line {number} in {shorter}: the two files must have the same "
                    "number of lines",
                )
                break
            (number, text), (_, phrases) = left, right
            if text is not None and phrases is not None:
                yield _build(text, phrases, f"{stem_of(source)}:{number}", context.lang)


FORMAT = Format(
    "src_trg", read_src_trg, _detect, 'pairs of line files, "...src..." and "...trg..."'
)
