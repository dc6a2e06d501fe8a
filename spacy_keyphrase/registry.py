"""Our own registries, beside spaCy's.

A third party adds to them with a decorator (``@registry.keyphrase_rankers(
"their_package.Theirs.v1")``) and, so that no import is needed, with an entry
point in the group of the same name behind ``spacy_``, for example
``spacy_keyphrase_rankers``.
"""

from typing import Any, Callable, Dict, Protocol, TypeVar

import spacy.util

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class Decorator(Protocol):
    """Registers a function and returns it as it is."""

    def __call__(self, function: FunctionT) -> FunctionT: ...


NAMES = (
    "keyphrase_candidates",
    "keyphrase_rankers",
    "keyphrase_selectors",
    "keyphrase_assignments",
)

for _name in NAMES:
    if not hasattr(spacy.util.registry, _name):
        spacy.util.registry.create(_name, entry_points=True)


class registry:
    """Typed decorators that register a function by name, one per registry."""

    @staticmethod
    def keyphrase_candidates(name: str) -> Decorator:
        """Register a maker of candidate suggesters."""
        return _register("keyphrase_candidates", name)

    @staticmethod
    def keyphrase_rankers(name: str) -> Decorator:
        """Register a maker of rankers."""
        return _register("keyphrase_rankers", name)

    @staticmethod
    def keyphrase_selectors(name: str) -> Decorator:
        """Register a maker of selection modes of language models."""
        return _register("keyphrase_selectors", name)

    @staticmethod
    def keyphrase_assignments(name: str) -> Decorator:
        """Register a maker of assignments of targets to slots."""
        return _register("keyphrase_assignments", name)


def _register(registry_name: str, name: str) -> Decorator:
    def decorate(function: FunctionT) -> FunctionT:
        getattr(spacy.util.registry, registry_name).register(name, func=function)
        return function

    return decorate


def get_registered(registry_name: str) -> Dict[str, Callable[..., Any]]:
    """All functions of one of the registries by name, entry points included.

    registry_name (str): One of `NAMES`.
    """
    functions: Dict[str, Callable[..., Any]] = getattr(
        spacy.util.registry, registry_name
    ).get_all()
    return functions
