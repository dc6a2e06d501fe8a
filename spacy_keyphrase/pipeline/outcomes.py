"""What becomes of the candidates of a doc when a model has chosen."""

from functools import partial
from typing import Dict, List, NamedTuple, Optional, Sequence

from spacy.tokens import Doc

from ..keyphrase import KEY, Alignment, Keyphrase, Record
from ..selectors.questions import Choice, Malformed, Question
from .annotate import as_record

# In the attributes of the span group.
ERROR = "selection_error"


class SelectionError(Exception):
    """A model gave no answer that could be used."""


class Outcome(NamedTuple):
    """What became of the candidates of a doc.

    kept (List[Record]): The keyphrases, best first.
    rejected (List[Record]): The other candidates, as they were.
    error (Optional[str]): Why the model gave no answer; then all candidates are kept as
        they were.
    """

    kept: List[Record]
    rejected: List[Record]
    error: Optional[str] = None


def keep(
    doc: Doc,
    phrases: Sequence[Keyphrase],
    choices: Sequence[Choice],
    question: Question,
    source: str,
) -> List[Record]:
    """The keyphrases that were chosen.

    doc (Doc): The document.
    phrases (Sequence[Keyphrase]): Its candidates, as the model was shown them.
    choices (Sequence[Choice]): What it has chosen.
    question (Question): What it was asked.
    source (str): Source of phrases of the document that were no candidates.
    RETURNS (List[Record]): Best first.
    RAISES: Malformed where nothing that was chosen is there.
    """
    records: Dict[str, Record] = {}
    alignment: Optional[Alignment] = None
    numbers = {phrase.normal_form: i for i, phrase in enumerate(phrases)}
    for number, text, score in choices:
        if number < 0:
            alignment = alignment or Alignment(doc)
            form = alignment.normalizer.form(text)
            number = numbers.get(form, -1)
            if number < 0:
                mentions = alignment.find(text)
                # What is nowhere has been made up.
                if form and mentions and not question.listed:
                    shown = " ".join(doc[slice(*mentions[0])].text.split())
                    own = Record(shown, form, score or 0.0, mentions, source)
                    records.setdefault(form, own)
                continue
        record = as_record(phrases[number])
        if score is not None:
            record = record._replace(score=score)
        records.setdefault(record.form, record)
    if choices and not records:
        raise Malformed("no phrase of the answer is one of the document")
    return list(records.values())


def get_error(doc: Doc, key: str = KEY) -> Optional[str]:
    """Why a selector left the candidates of a doc as they were; None where it did not.
    The getter of ``doc._.keyphrases_error``."""
    return doc.spans[key].attrs.get(ERROR) if key in doc.spans else None


def register_error(key: str) -> None:
    """Make ``doc._.<key>_error`` known to spaCy, once."""
    name = f"{key}_error"
    if not Doc.has_extension(name):
        Doc.set_extension(name, getter=partial(get_error, key=key))
