"""Vectors that a small T5 can begin with, from a sentence encoder.

python scripts/t5_embeddings.py ENCODER TOKENIZER OUTPUT [WIDTH]

ENCODER is the folder of an encoder of transformers (for English all-MiniLM-L6-v2,
Apache-2.0), TOKENIZER that of T5's tokenizer, OUTPUT the ``.npy`` file. Every sub-token
is encoded alone, as the word or part of a word that it is; vectors are projected on
their first principal components (WIDTH of them, 256 by default), turned at random so
that all dimensions are alike, and mixed with noise so that the same letters within and
at the start of a word differ.
"""

import sys
from pathlib import Path
from typing import Dict, List

import numpy
import torch
from transformers import AutoModel, AutoTokenizer

# Sub-tokens but for those that stand for gaps.
SIZE = 32000
BATCH = 512
NOISE = 0.6


@torch.inference_mode()
def embed(texts: List[str], encoder: Path) -> numpy.ndarray:
    """The mean of the last states, of unit length."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModel.from_pretrained(encoder).eval()
    unique = sorted(set(texts))
    found: Dict[str, numpy.ndarray] = {}
    for start in range(0, len(unique), BATCH):
        some = unique[start : start + BATCH]
        batch = tokenizer(
            some, return_tensors="pt", padding=True, truncation=True, max_length=16
        )
        mask = batch["attention_mask"][..., None]
        states = (model(**batch).last_hidden_state * mask).sum(dim=1) / mask.sum(dim=1)
        found.update(zip(some, states.numpy()))
    vectors = numpy.stack([found[text] for text in texts])
    normed: numpy.ndarray = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return normed


def main(encoder: Path, tokenizer: Path, output: Path, width: int = 256) -> None:
    pieces = AutoTokenizer.from_pretrained(tokenizer).convert_ids_to_tokens(
        list(range(SIZE))
    )
    vectors = embed([p.replace("▁", "").lower() or p for p in pieces], encoder)
    vectors -= vectors.mean(axis=0)
    _, _, components = numpy.linalg.svd(vectors, full_matrices=False)
    random = numpy.random.default_rng(0)
    turn, _ = numpy.linalg.qr(random.normal(size=(width, width)))
    vectors = vectors @ components[:width].T @ turn
    vectors /= vectors.std()
    noise = random.normal(size=vectors.shape)
    mixed = (1 - NOISE**2) ** 0.5 * vectors + NOISE * noise
    output.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(output, mixed.astype("f2"))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:4]), *map(int, sys.argv[4:]))
