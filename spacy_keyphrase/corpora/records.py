"""JSON lines, and fields of the right type from their records."""

import json
from pathlib import Path
from typing import Any, Iterable, Iterator, List, Mapping

from .context import MalformedError, ReadContext
from .document import KeyphraseDocument
from .files import Line, read_lines, stem_of, walk
from .formats import JSON_SUFFIXES, Build, Record


def read_records(
    path: Path, context: ReadContext, build: Build
) -> Iterator[KeyphraseDocument]:
    """The documents of a JSON lines file, or of all those below a folder.

    path (Path): File or folder; ".gz" is read through.
    context (ReadContext): Takes the malformed lines.
    build (Build): Makes a document of a record.
    """
    for file in walk(path, JSON_SUFFIXES):
        lines = read_lines(file, context)
        yield from build_documents(lines, str(file), stem_of(file), context, build)


def build_documents(
    lines: Iterable[Line], name: str, stem: str, context: ReadContext, build: Build
) -> Iterator[KeyphraseDocument]:
    """The documents of JSON lines.

    lines (Iterable[Line]): The lines with their numbers.
    name (str): What messages call the file.
    stem (str): With the line number, the identifier of records that have none.
    context (ReadContext): Takes the malformed lines.
    build (Build): Makes a document of a record.
    """
    for number, line in lines:
        if line is None or not line.strip():
            continue
        try:
            document = build(parse_record(line), f"{stem}:{number}", context)
        except MalformedError as error:
            context.malformed(f"{name}:{number}", str(error))
        else:
            yield document


def parse_record(line: str) -> Record:
    """One line as a JSON object."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        hint = "; the file must hold one JSON object per line" * (line.strip() == "[")
        message = f"not valid JSON ({error.msg} at column {error.colno}){hint}"
        raise MalformedError(message) from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"not valid JSON ({error})") from None
    if not isinstance(record, dict):
        raise MalformedError(
            f"expected a JSON object, found {_kind(record)}; "
            "the file must hold one JSON object per line"
        )
    return record


def get_text(record: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    """A text field; null counts as missing, and missing as empty."""
    value = record.get(name)
    if value is None:
        if required:
            fields = ", ".join(record) or "none"
            raise MalformedError(f"no field {name!r}; the fields are: {fields}")
        return ""
    if not isinstance(value, str):
        raise MalformedError(f"field {name!r} must be a string, not {_kind(value)}")
    return check_text(value, name)


def get_id(record: Mapping[str, Any], name: str, default: str) -> str:
    """An identifier: a string, or a number made one."""
    value = record.get(name)
    if value is None or value == "":
        return default
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return check_text(str(value), name)
    raise MalformedError(
        f"field {name!r} must be a string or an integer, not {_kind(value)}"
    )


def get_phrases(
    record: Mapping[str, Any], name: str, *, separator: str = ""
) -> List[str]:
    """A list of phrases: strings, or objects with a field "text".

    separator (str): Where given, a single string is cut at it.
    """
    value = record.get(name)
    if value is None:
        return []
    if separator and isinstance(value, str):
        value = value.split(separator)
    if not isinstance(value, list):
        also = f" or a string with {separator!r} between them" * bool(separator)
        raise MalformedError(
            f"field {name!r} must be a list of strings{also}, not {_kind(value)}"
        )
    phrases: List[str] = []
    for item in value:
        phrase = item.get("text") if isinstance(item, dict) else item
        if not isinstance(phrase, str):
            raise MalformedError(
                f"field {name!r} must hold strings, but item {len(phrases) + 1} is "
                f"{_kind(item)}"
            )
        phrases.append(check_text(phrase, name))
    return clean_phrases(phrases)


def clean_phrases(phrases: List[str]) -> List[str]:
    """White space made single, empty phrases dropped."""
    return [clean for phrase in phrases if (clean := " ".join(phrase.split()))]


def get_extra(record: Mapping[str, Any], *used: str) -> Record:
    """The fields that no attribute of the document holds."""
    return {name: value for name, value in record.items() if name not in used}


def check_text(text: str, name: str) -> str:
    """JSON can escape half a surrogate pair, which no text can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedError(f"field {name!r} is not valid Unicode ({error})") from None
    return text


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "null"
    return kinds.get(type(value), "a number")
