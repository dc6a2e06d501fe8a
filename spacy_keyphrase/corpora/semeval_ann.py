"""SemEval-2017 task 10: texts with brat stand-off annotation."""

from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from .context import CorpusError, MalformedError, ReadContext
from .document import KeyphraseDocument
from .files import read_lines, read_text, walk
from .folders import document_id
from .formats import Format, Probe


def _detect(probe: Probe) -> bool:
    return {".txt", ".ann"} <= probe.suffixes


def parse_annotation(line: str, text: str) -> Dict[str, Any]:
    """One text-bound annotation, "T1<tab>Process 5 14<tab>oxidation".

    line (str): The line. An annotation in pieces has its pairs of offsets
        separated by semicolons.
    text (str): The text, which the offsets count in.
    RETURNS (Dict[str, Any]): id, label, offsets and text.
    """
    fields = line.split("\t")
    label, _, numbers = (fields[1] if len(fields) > 1 else "").strip().partition(" ")
    try:
        offsets = [list(map(int, pair.split())) for pair in numbers.split(";")]
        if not label or any(
            len(pair) != 2 or not 0 <= pair[0] < pair[1] <= len(text)
            for pair in offsets
        ):
            raise ValueError
    except ValueError:
        raise MalformedError(
            f"expected 'T1<tab>Label start end<tab>text' with offsets up to "
            f"{len(text)}, found {line!r}"
        ) from None
    surface = " ".join(text[start:end] for start, end in offsets)
    return {
        "id": fields[0],
        "label": label,
        "offsets": offsets,
        "text": " ".join(surface.split()),
    }


def _annotations(
    file: Path, text: str, context: ReadContext
) -> Optional[List[Dict[str, Any]]]:
    """The text-bound annotations of a file, or None where one is malformed."""
    found: List[Dict[str, Any]] = []
    for number, line in read_lines(file, context):
        if line is None:
            return None
        if line.startswith("T"):
            try:
                found.append(parse_annotation(line, text))
            except MalformedError as error:
                context.malformed(f"{file}:{number}", str(error))
                return None
    return found


def read_semeval_ann(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    """A folder of .txt texts with brat .ann files beside them, as SemEval-2017.

    Augenstein et al. (2017), "SemEval 2017 Task 10: ScienceIE". The gold is every
    annotated span, repeated ones once; relations and notes are passed over.
    """
    if not path.is_dir():
        raise CorpusError(f"{path}: give the folder of the .txt and .ann files")
    for file in walk(path, (".txt",)):
        annotation_file = file.with_name(file.name.removesuffix(".gz"))
        annotation_file = annotation_file.with_suffix(".ann")
        if not annotation_file.is_file():
            context.malformed(str(file), f"no {annotation_file.name} beside it")
            continue
        text = read_text(file, context)
        if text is None:
            continue
        annotations = _annotations(annotation_file, text, context)
        if annotations is None:
            continue
        yield KeyphraseDocument(
            id=document_id(file, path),
            text=text,
            keyphrases=list(dict.fromkeys(item["text"] for item in annotations)),
            lang=context.lang,
            extra={"annotations": annotations},
        )


FORMAT = Format(
    "semeval_ann", read_semeval_ann, _detect, "a folder of .txt with brat .ann"
)
