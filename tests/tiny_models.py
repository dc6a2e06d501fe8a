"""Causal language models and encoders with random weights, small enough for tests."""

import torch
import transformers

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
}


def make_causal(kind, tokenizers, folder, template=None, std=0.3):
    """Save a tiny causal model with the tokenizer of GPT-2; returns the folder."""
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizers / "gpt2")
    if template:
        tokenizer.add_tokens(["<turn>", "</turn>"], special_tokens=True)
        tokenizer.chat_template = template
    shared = {"vocab_size": len(tokenizer), "bos_token_id": 50256}
    shared.update(eos_token_id=50256, pad_token_id=50256)
    if kind == "gpt2":
        config = transformers.GPT2Config(
            n_embd=32, n_layer=2, n_head=4, n_positions=512, **shared
        )
    elif kind == "gemma2":
        config = transformers.Gemma2Config(
            **SIZES, **shared, final_logit_softcapping=2.0, query_pre_attn_scalar=8
        )
    elif kind == "cohere":
        config = transformers.CohereConfig(**SIZES, **shared, logit_scale=0.25)
    elif kind == "granite":
        config = transformers.GraniteConfig(**SIZES, **shared, logits_scaling=3.0)
    elif kind == "bert":
        sizes = {k: v for k, v in SIZES.items() if k not in ("head_dim",)}
        config = transformers.BertConfig(is_decoder=True, **sizes, **shared)
    else:
        config = transformers.LlamaConfig(**SIZES, **shared)
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for values in model.parameters():
            # Attention that looks somewhere, and labels that are not all alike.
            if values.dim() > 1:
                values.normal_(std=std)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_encoder(tokenizers, folder):
    """Save a tiny BERT; returns the folder."""
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        tokenizers / "bert-base-uncased"
    )
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    tokenizer.model_max_length = 128
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
