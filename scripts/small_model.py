"""A small BERT or T5 with random weights and a tokenizer of its own, to train
generators from scratch where no pretrained model can be had.

python scripts/small_model.py {bert,t5} CORPUS OUTPUT [--vocabulary 8000]
    [--width 256] [--layers 4] [--embeddings PIPELINE]

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

LONGEST = 512
BERT = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
T5 = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def texts(corpus: Path) -> Iterator[str]:
    for document in read_corpus(corpus):
        yield document.text
        yield from document.keyphrases


def make_tokenizer(kind: str, corpus: Path, size: int) -> Any:
    special = BERT if kind == "bert" else T5
    names = list(special.values())
    trainer: Any
    if kind == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=names)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.NFKC(), normalizers.Lowercase()]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=size, special_tokens=names, unk_token="<unk>"
        )
    tokenizer.train_from_iterator(texts(corpus), trainer)
    ids = {name: tokenizer.token_to_id(name) for name in names}
    single, pair = ("$A </s>", "$A </s> $B </s>")
    if kind == "bert":
        single, pair = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=list(ids.items())
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def make_model(kind: str, size: int, width: int, layers: int) -> Any:
    torch.manual_seed(0)
    heads = max(width // 64, 1)
    if kind == "bert":
        return transformers.BertForMaskedLM(
            transformers.BertConfig(
                vocab_size=size,
                hidden_size=width,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                intermediate_size=4 * width,
                max_position_embeddings=LONGEST,
            )
        )
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=size,
            d_model=width,
            d_kv=64,
            d_ff=4 * width,
            num_layers=layers,
            num_heads=heads,
            decoder_start_token_id=0,
            pad_token_id=0,
            eos_token_id=1,
        )
    )


def begin(kind: str, model: Any, tokenizer: Any, pipeline: Path) -> None:
    vocab: Any = spacy.load(pipeline).vocab
    pieces: Dict[str, int] = tokenizer.get_vocab()
    words = [""] * len(pieces)
    for piece, i in pieces.items():
        # Those that begin a word.
        if kind == "bert" or piece.startswith("▁"):
            words[i] = piece.lstrip("▁")

    def vector(word: str) -> Any:
        return vocab.get_vector(word) if vocab.has_vector(word) else None

    embeddings = model.get_input_embeddings().weight
    n = begin_with(embeddings, words, vector)
    print(f"{n} of {len(words)} sub-tokens begin with vectors.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["bert", "t5"])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--embeddings", type=Path)
    options = parser.parse_args()
    tokenizer = make_tokenizer(options.kind, options.corpus, options.vocabulary)
    model = make_model(options.kind, len(tokenizer), options.width, options.layers)
    if options.embeddings:
        begin(options.kind, model, tokenizer, options.embeddings)
    model.save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)
    n = sum(values.numel() for values in model.parameters())
    print(f"{n / 1e6:.1f} million weights, {len(tokenizer)} sub-tokens.")


if __name__ == "__main__":
    main()
