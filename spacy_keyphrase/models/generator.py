"""What models that write keyphrases have in common."""

from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Optional,
    Sequence,
    Tuple,
)

import numpy
from thinc.api import Model

from ..precision import MixedPrecision
from .wrapped import Recipe, wrap

if TYPE_CHECKING:
    from ..generation.base import GoldPhrase

# From a `Request`. In training the output is a loss, of shape (1,); else the
# keyphrases of each document.
GeneratorModel = Model[Any, Any]


@dataclass(frozen=True)
class Lessons:
    """What a model is made for.

    documents (Callable[[], Iterable[Tuple[str, Sequence[GoldPhrase]]]]): Returns texts
        with their gold keyphrases.
    words (Optional[Sequence[str]]): The words that it should know, where it does not
        bring its own.
    vectors (Optional[Callable[[str], Optional[ndarray]]]): Of a word its vector, for
        models that bring none.
    """

    documents: "Callable[[], Iterable[Tuple[str, Sequence[GoldPhrase]]]]"
    words: Optional[Sequence[str]] = None
    vectors: Optional[Callable[[str], Optional[numpy.ndarray]]] = None


def build_generator(
    architecture: str,
    recipe: Recipe,
    mixed_precision: MixedPrecision = False,
    attrs: Optional[Dict[str, Any]] = None,
) -> GeneratorModel:
    """Wrap a generator; see `wrap`."""
    attrs = {"writes": True, **(attrs or {})}
    return wrap("keyphrase_generator", architecture, recipe, mixed_precision, attrs)
