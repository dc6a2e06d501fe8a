"""Our own registries, beside spaCy's.

A third party adds to them with a decorator (``@registry.keyphrase_rankers(
"their_package.Theirs.v1")``) and, so that no import is needed, with an entry
point in the group of the same name behind ``spacy_``, for example
``spacy_keyphrase_rankers``.
"""

from spacy.util import registry

NAMES = (
    "keyphrase_candidates",
    "keyphrase_rankers",
    "keyphrase_selectors",
    "keyphrase_assignments",
)

for _name in NAMES:
    if not hasattr(registry, _name):
        registry.create(_name, entry_points=True)

__all__ = ["NAMES", "registry"]
