"""Pipelines that set keyphrases, by name, path or config."""

from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import spacy
from spacy.language import Language
from spacy.util import copy_config, load_config, load_model_from_config
from thinc.api import Config

ATTRIBUTE = "doc._.keyphrases"
# For blank pipelines: the limit is for parsers, whose memory grows with the text.
MAX_LENGTH = 1_000_000_000


def load_pipeline(
    pipeline: Optional[str] = None,
    config: Union[Path, Mapping[str, Any], None] = None,
    lang: str = "en",
    settings: Optional[Mapping[str, Any]] = None,
) -> Tuple[Language, str]:
    """A pipeline, and what to call it.

    pipeline (Optional[str]): Its name or path.
    config (Union[Path, Mapping[str, Any], None]): Config to build one from.
    lang (str): Language of a blank one, where neither is given.
    settings (Optional[Mapping[str, Any]]): For the components that set keyphrases and
        have them.
    RETURNS (Tuple[Language, str]): One without keyphrases gets the component
        `keyphrase` at its end.
    RAISES: OSError where there is no such pipeline.
    """
    settings = dict(settings or {})
    if pipeline:
        nlp = spacy.load(pipeline)
        changes = _changes(nlp, settings)
        if changes:
            nlp = spacy.load(pipeline, config={"components": changes})
        name = f"{nlp.lang}_{nlp.meta['name'] or pipeline}"
    elif config:
        loaded = (
            load_config(config) if isinstance(config, Path) else Config(dict(config))
        )
        nlp = load_model_from_config(copy_config(loaded), auto_fill=True)
        changes = _changes(nlp, settings)
        if changes:
            for pipe, change in changes.items():
                loaded["components"][pipe].update(change)
            nlp = load_model_from_config(loaded, auto_fill=True)
        name = config.stem if isinstance(config, Path) else "config"
    else:
        nlp = spacy.blank(lang)
        nlp.max_length = MAX_LENGTH
        name = f"blank:{lang}"
    if not keyphrase_pipes(nlp):
        nlp.add_pipe("keyphrase", config=settings)
        name += " + keyphrase"
    return nlp, name


def keyphrase_pipes(nlp: Language) -> List[str]:
    """The components that set keyphrases."""
    return [
        name for name in nlp.pipe_names if ATTRIBUTE in nlp.get_pipe_meta(name).assigns
    ]


def _changes(nlp: Language, settings: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The settings that each keyphrase component has, where any."""
    changes = {}
    for pipe in keyphrase_pipes(nlp):
        has = nlp.get_pipe_config(pipe).keys() & settings.keys()
        if has:
            changes[pipe] = {name: settings[name] for name in sorted(has)}
    return changes
