"""Save a trained generator with weights of fewer bits, to be shipped.

python scripts/shrink.py PIPELINE OUTPUT [--bits 16|8] [--meta FILE]
    [--set components.keyphrase_generator.model.beams=5]

With 16 bits it is half as large, with 8 a quarter. FILE is JSON: what the pipeline's
meta, and with it the card of the package, is to say.
"""

import argparse
import json
from pathlib import Path

import spacy
import torch

from spacy_keyphrase.models.wrapped import get_module
from spacy_keyphrase.pipeline.generator import KeyphraseGenerator

KINDS = {16: torch.float16, 8: torch.int8}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--bits", type=int, choices=list(KINDS), default=16)
    parser.add_argument("--meta", type=Path)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in options.settings)
    overrides = {name: json.loads(value) for name, value in settings.items()}
    nlp = spacy.load(options.pipeline, config=overrides)
    if options.meta:
        nlp.meta.update(json.loads(options.meta.read_text("utf8")))
    # Sums over the last updates, which tell nobody anything.
    scores = nlp.meta.get("performance", {})
    for name in [name for name in scores if name.endswith("_loss")]:
        del scores[name]
    # Paths of the machine that trained it are of no use to others.
    for name in nlp.config["paths"]:
        # These are names of models, without which an architecture cannot be made.
        nlp.config["paths"][name] = "" if name in ("encoder", "model") else None
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, KeyphraseGenerator):
            get_module(pipe.model).saved_as = KINDS[options.bits]
    # All words that training has seen, which nothing needs.
    nlp.to_disk(options.output, exclude=["vocab"])


if __name__ == "__main__":
    main()
