"""Save a trained generator with weights of 16 bits: half as large, to be shipped.

python scripts/halve.py PIPELINE OUTPUT
"""

import sys

import spacy
import torch

from spacy_keyphrase.models.generator import get_module
from spacy_keyphrase.pipeline.generator import KeyphraseGenerator


def main(pipeline: str, output: str) -> None:
    nlp = spacy.load(pipeline)
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, KeyphraseGenerator):
            get_module(pipe.model).saved_as = torch.float16
    nlp.to_disk(output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
