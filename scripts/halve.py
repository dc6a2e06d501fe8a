"""Save a trained generator with weights of 16 bits: half as large, to be shipped.

python scripts/halve.py PIPELINE OUTPUT [--meta FILE]

FILE is JSON: what the pipeline's meta, and with it the card of the package, is to say.
"""

import argparse
import json
from pathlib import Path

import spacy
import torch

from spacy_keyphrase.models.wrapped import get_module
from spacy_keyphrase.pipeline.generator import KeyphraseGenerator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--meta", type=Path)
    options = parser.parse_args()
    nlp = spacy.load(options.pipeline)
    if options.meta:
        nlp.meta.update(json.loads(options.meta.read_text("utf8")))
    # Paths of the machine that trained it are of no use to others.
    for name in nlp.config["paths"]:
        nlp.config["paths"][name] = None
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, KeyphraseGenerator):
            get_module(pipe.model).saved_as = torch.float16
    nlp.to_disk(options.output)


if __name__ == "__main__":
    main()
