"""Ways to have a language model choose keyphrases."""

from .labels import make_independent_labels, make_sequence_labels
from .listwise import make_listwise
from .questions import (
    Answer,
    Choice,
    Failed,
    Labelled,
    Labels,
    Listing,
    Malformed,
    Message,
    Question,
    Selector,
)
from .replies import read_reply
from .zero_shot import make_zero_shot

__all__ = [
    "Answer",
    "Choice",
    "Failed",
    "Labelled",
    "Labels",
    "Listing",
    "Malformed",
    "Message",
    "Question",
    "Selector",
    "make_independent_labels",
    "make_listwise",
    "make_sequence_labels",
    "make_zero_shot",
    "read_reply",
]
