"""A small T5 with random weights and a tokenizer of its own, to train generators from
scratch where no pretrained one can be had.

python scripts/small_t5.py CORPUS OUTPUT [--vocabulary 8000] [--width 192] [--layers 2]
    [--embeddings PIPELINE]

The tokenizer is trained on the texts and keyphrases of CORPUS, in lower case. OUTPUT
becomes a folder as transformers reads it. Sub-tokens begin with the word vectors of
PIPELINE, where it has them.
"""

import argparse
from pathlib import Path
from typing import Any, Dict, Iterator

import spacy
import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from spacy_keyphrase.corpora import read_corpus
from spacy_keyphrase.generation.embeddings import begin_with

SPECIAL = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def texts(corpus: Path) -> Iterator[str]:
    for document in read_corpus(corpus):
        yield document.text
        yield from document.keyphrases


def make_tokenizer(corpus: Path, size: int) -> Any:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    names = list(SPECIAL.values())
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=names, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts(corpus), trainer)
    ids = {name: tokenizer.token_to_id(name) for name in names}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=list(ids.items())
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


def make_model(size: int, width: int, layers: int) -> Any:
    torch.manual_seed(0)
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=size,
            d_model=width,
            d_kv=64,
            d_ff=4 * width,
            num_layers=layers,
            num_heads=max(width // 64, 1),
            decoder_start_token_id=0,
            pad_token_id=0,
            eos_token_id=1,
        )
    )


def begin(model: Any, tokenizer: Any, pipeline: Path) -> None:
    vocab: Any = spacy.load(pipeline).vocab
    pieces: Dict[str, int] = tokenizer.get_vocab()
    words = [""] * len(pieces)
    for piece, i in pieces.items():
        # Those that begin a word.
        if piece.startswith("▁"):
            words[i] = piece.lstrip("▁")

    def vector(word: str) -> Any:
        return vocab.get_vector(word) if vocab.has_vector(word) else None

    embeddings = model.get_input_embeddings().weight
    n = begin_with(embeddings, words, vector)
    print(f"{n} of {len(words)} sub-tokens begin with vectors.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--embeddings", type=Path)
    options = parser.parse_args()
    tokenizer = make_tokenizer(options.corpus, options.vocabulary)
    model = make_model(len(tokenizer), options.width, options.layers)
    if options.embeddings:
        begin(model, tokenizer, options.embeddings)
    model.save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)
    n = sum(values.numel() for values in model.parameters())
    print(f"{n / 1e6:.1f} million weights, {len(tokenizer)} sub-tokens.")


if __name__ == "__main__":
    main()
