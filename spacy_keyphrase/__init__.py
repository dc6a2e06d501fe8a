"""Keyphrases as a first-class annotation in spaCy."""

from .keyphrase import Keyphrase, keyphrases_to_json, register_extensions
from .normalize import is_present, normal_form

__version__ = "0.1.0"

__all__ = [
    "Keyphrase",
    "__version__",
    "is_present",
    "keyphrases_to_json",
    "normal_form",
    "register_extensions",
]
