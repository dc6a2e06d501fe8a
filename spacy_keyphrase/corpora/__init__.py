"""Keyphrase corpora: readers of the public formats, and ``.spacy`` files."""

from .context import CorpusError, MalformedError, ReadContext, ReadReport
from .converter import ConvertReport, convert, make_gold_doc
from .document import KeyphraseDocument
from .formats import FORMATS, Format, Probe, register_format
from .read import read_corpus, read_stream
from .reader import KeyphraseCorpus, create_corpus

__all__ = [
    "FORMATS",
    "ConvertReport",
    "CorpusError",
    "Format",
    "KeyphraseCorpus",
    "KeyphraseDocument",
    "MalformedError",
    "Probe",
    "ReadContext",
    "ReadReport",
    "convert",
    "create_corpus",
    "make_gold_doc",
    "read_corpus",
    "read_stream",
    "register_format",
]
