"""Models with random weights, small enough to be built in a test."""

import torch
import transformers

T5 = {"d_model": 24, "d_kv": 6, "d_ff": 32, "num_layers": 2, "num_heads": 3}
SMALL = {
    "vocab_size": 32128,
    "hidden_size": 24,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "pad_token_id": 0,
}


def make_t5(**settings):
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=32128, decoder_start_token_id=0, **T5, **settings
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    # Attention that is not the same everywhere.
    for name, values in model.named_parameters():
        if name.endswith(("q.weight", "k.weight")):
            torch.nn.init.normal_(values, std=0.4)
    return model


def make_causal(name):
    torch.manual_seed(0)
    if name == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=32128,
            n_embd=24,
            n_layer=2,
            n_head=4,
            n_positions=256,
            bos_token_id=1,
            eos_token_id=1,
        )
    elif name == "gemma2":
        config = transformers.Gemma2Config(
            num_key_value_heads=2, head_dim=6, attn_logit_softcapping=1.0, **SMALL
        )
    elif name == "falcon":
        config = transformers.FalconConfig(**SMALL)
    elif name == "mamba":
        config = transformers.MambaConfig(
            vocab_size=32128, hidden_size=24, num_hidden_layers=2
        )
    else:
        config = transformers.LlamaConfig(num_key_value_heads=2, **SMALL)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def make_bert():
    torch.manual_seed(0)
    config = transformers.BertConfig(**{**SMALL, "vocab_size": 30522})
    return transformers.BertForMaskedLM(config).eval()


def make_bart():
    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=32128,
        d_model=24,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
    )
    return transformers.BartForConditionalGeneration(config).eval()


def t5_tokenizer(models_dir):
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(models_dir / "tokenizers/t5/tokenizer.json"),
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )


def bert_tokenizer(models_dir):
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(models_dir / "tokenizers/bert-base-uncased/tokenizer.json"),
        mask_token="[MASK]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
