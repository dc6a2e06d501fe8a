"""Texts as the conventions of evaluators take them."""

import re
from typing import Callable, Union

from .presets import Preset, get_preset

# Punctuation at the edges of a word.
_EDGES = re.compile(r"(?<!\S)([^\w\s]+)(?=\w)|(?<=\w)([^\w\s]+)(?!\S)")


def make_source(preset: Union[str, Preset]) -> Callable[[str], str]:
    """How a text is given to `score`, as one of its sources.

    The conventions that split at white space take tokenised texts for granted: there
    the punctuation around words is set apart. Without that a keyphrase at the end of a
    sentence counts as absent.

    preset (Union[str, Preset]): The convention.
    RETURNS (Callable[[str], str]): From a text to a source.
    """
    if get_preset(preset).words == "tokens":
        return lambda text: _EDGES.sub(r" \1\2 ", text)
    return str
