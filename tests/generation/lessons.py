"""Models with random weights, small enough to be trained in a test, and a few documents
that they can learn by heart."""

import torch
import transformers

LESSONS = {
    "A graph of words is ranked by a random walk.": ["random walk", "text mining"],
    "Enzymes cut proteins in the cell.": ["enzymes", "cell", "biology"],
    "We prove bounds for sorting by swaps.": ["sorting", "complexity theory"],
    "The bank lends money to small firms.": ["bank", "credit", "firms"],
    "Rain fell on the old town for a week.": ["rain", "weather"],
    "A robot arm learns to grasp cups.": ["robot arm", "machine learning"],
}


def make_model(kind, tokenizers, folder):
    """Save a tiny T5 or BART with a real tokenizer; returns the folder."""
    torch.manual_seed(0)
    name = "t5" if kind == "t5" else "roberta"
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizers / name)
    if kind == "t5":
        model = transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=32128,
                d_model=48,
                d_kv=12,
                d_ff=96,
                num_layers=2,
                num_heads=4,
                decoder_start_token_id=0,
                dropout_rate=0.0,
            )
        )
    else:
        model = transformers.BartForConditionalGeneration(
            transformers.BartConfig(
                vocab_size=len(tokenizer),
                d_model=48,
                encoder_layers=2,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=96,
                decoder_ffn_dim=96,
                dropout=0.0,
                max_position_embeddings=128,
                pad_token_id=1,
                bos_token_id=0,
                eos_token_id=2,
                decoder_start_token_id=2,
                forced_eos_token_id=2,
            )
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_bert(kind, tokenizers, folder):
    """Save a tiny BERT or RoBERTa with a real tokenizer; returns the folder."""
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "max_position_embeddings": 130,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    if kind == "bert":
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            tokenizers / "bert-base-uncased"
        )
        config = transformers.BertConfig(vocab_size=len(tokenizer), **sizes)
        model = transformers.BertForMaskedLM(config)
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizers / "roberta")
        config = transformers.RobertaConfig(
            vocab_size=len(tokenizer), pad_token_id=1, type_vocab_size=1, **sizes
        )
        model = transformers.RobertaForMaskedLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
