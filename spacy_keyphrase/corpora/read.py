"""Reading a corpus of any known format as a stream of documents."""

from pathlib import Path
from typing import IO, Iterable, Iterator, Optional, Union

from . import docbin, inspec, jsonl, kp20k, openkp, semeval_ann, src_trg, text
from .context import OnError, ReadContext, ReadReport, make_context
from .document import KeyphraseDocument
from .files import Line, decode_lines
from .formats import FORMATS, get_format, register_format
from .records import build_documents

# The most general first: to detect a format, the last one is asked first.
for _format in (
    text.FORMAT,
    src_trg.FORMAT,
    inspec.FORMAT,
    semeval_ann.FORMAT,
    jsonl.FORMAT,
    kp20k.FORMAT,
    openkp.FORMAT,
    docbin.FORMAT,
):
    register_format(_format)


def read_corpus(
    path: Union[str, Path],
    format: str = "auto",
    *,
    lang: str = "en",
    on_error: OnError = "raise",
    report: Optional[ReadReport] = None,
) -> Iterator[KeyphraseDocument]:
    """The documents of a corpus, one at a time: memory does not grow with it.

    path (Union[str, Path]): A file or a folder; ".gz" files are read through.
    format (str): Name of a format in `FORMATS`, or "auto" to tell it from the
        file names and the first record.
    lang (str): Language of documents that do not say theirs.
    on_error (OnError): At a malformed line "raise" `CorpusError`, which names
        file and line, or "skip" it and count it in the report.
    report (Optional[ReadReport]): Filled while the documents are read.
    RETURNS (Iterator[KeyphraseDocument]): The documents, in a fixed order.
    """
    path = Path(path)
    context = make_context(lang, on_error, report)
    if not path.exists():
        raise FileNotFoundError(f"There is no corpus at {path}.")
    return _count(get_format(format, path).read(path, context), context)


def read_stream(
    stream: IO[bytes],
    format: str = "text",
    *,
    name: str = "<stdin>",
    lang: str = "en",
    on_error: OnError = "raise",
    report: Optional[ReadReport] = None,
) -> Iterator[KeyphraseDocument]:
    """The documents of an open stream, such as standard input.

    stream (IO[bytes]): The stream.
    format (str): "text", all of which is one document, or one of the formats of
        one JSON record a line.
    name (str): What messages call the stream.
    lang (str): Language of documents that do not say theirs.
    on_error (OnError): As for `read_corpus`.
    report (Optional[ReadReport]): As for `read_corpus`.
    RETURNS (Iterator[KeyphraseDocument]): The documents as they come in.
    """
    context = make_context(lang, on_error, report)
    builds = {known.name: known.build for known in FORMATS.values() if known.build}
    if format != "text" and format not in builds:
        allowed = ", ".join(["text", *builds])
        raise ValueError(
            f"Format {format!r} cannot be read from {name}; allowed are: {allowed}."
        )
    lines = decode_lines(stream, name, context)
    build = builds.get(format)
    if build is None:
        return _count(_one_document(lines, name, lang), context)
    return _count(build_documents(lines, name, name, context, build), context)


def _one_document(
    lines: Iterable[Line], name: str, lang: str
) -> Iterator[KeyphraseDocument]:
    text = "\n".join(line for _, line in lines if line is not None)
    yield KeyphraseDocument(name, text, lang=lang)


def _count(
    documents: Iterable[KeyphraseDocument], context: ReadContext
) -> Iterator[KeyphraseDocument]:
    for document in documents:
        context.report.documents += 1
        yield document
