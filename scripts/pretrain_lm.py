"""Train a small causal language model from scratch, for selectors where no pretrained
one can be had.

python scripts/pretrain_lm.py CORPUS... OUTPUT [options]

Of the corpora, in any format with gold keyphrases, texts are read, half of them
followed by their keyphrases. With --start it is not from scratch: FOLDER has a BERT,
which from then on sees what is before a word only. OUTPUT becomes a folder with `model`
(as transformers saves it, with its tokenizer), `log.jsonl` and a checkpoint; run again,
it goes on from there.
"""

import argparse
import json
import math
import os
import shutil
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import numpy
import torch
import transformers
from spacy.util import minibatch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

from spacy_keyphrase.corpora import read_corpus

END = "<|endoftext|>"
BLOCK = 512
# Blocks that are held out.
HELD_OUT = 64


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--start", metavar="FOLDER", help="then sizes are its own")
    parser.add_argument("--vocabulary", type=int, default=16000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--inner", type=int, default=704)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=8, help="blocks of 512 sub-tokens")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--limit", type=int, default=0, help="documents of each corpus")
    parser.add_argument("--save-every", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def read_texts(corpora: List[Path], limit: int) -> Iterator[str]:
    for corpus in corpora:
        for i, document in enumerate(read_corpus(corpus)):
            if limit and i == limit:
                break
            text = document.text
            if i % 2 and document.keyphrases:
                text += "\n\nKeyphrases: " + ", ".join(document.keyphrases)
            yield text


def make_tokenizer(options: argparse.Namespace) -> Any:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options.vocabulary,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(read_texts(options.corpora, options.limit), trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END
    )


def make_blocks(options: argparse.Namespace, tokenizer: Any) -> numpy.ndarray:
    """All texts one after the other, cut into blocks of one length."""
    ids: List[numpy.ndarray] = []
    end = tokenizer.eos_token_id
    for batch in minibatch(read_texts(options.corpora, options.limit), 1000):
        for own in tokenizer(list(batch), verbose=False)["input_ids"]:
            own = own if own[-1:] == [end] else [*own, end]
            ids.append(numpy.array(own, dtype="u2"))
    flat = numpy.concatenate(ids)
    n = len(flat) // BLOCK
    return flat[: n * BLOCK].reshape(n, BLOCK)


def make_model(options: argparse.Namespace, size: int) -> Any:
    torch.manual_seed(options.seed)
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=size,
            hidden_size=options.width,
            intermediate_size=options.inner,
            num_hidden_layers=options.layers,
            num_attention_heads=options.heads,
            num_key_value_heads=options.heads,
            max_position_embeddings=2048,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=0,
            pad_token_id=0,
        )
    )


def start_from(options: argparse.Namespace) -> Any:
    torch.manual_seed(options.seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.start)
    if tokenizer.eos_token is None:
        tokenizer.eos_token = tokenizer.sep_token
    model = transformers.AutoModelForCausalLM.from_pretrained(
        options.start, is_decoder=True
    )
    return model.float(), tokenizer


def loss_of(model: Any, blocks: numpy.ndarray, device: str) -> Tensor:
    ids = torch.from_numpy(blocks.astype("i8")).to(device)
    with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16):
        loss: Tensor = model(input_ids=ids, labels=ids, use_cache=False).loss
    return loss.float()


@torch.inference_mode()
def evaluate(model: Any, held_out: numpy.ndarray, device: str) -> float:
    model.eval()
    parts = [held_out[i : i + 8] for i in range(0, len(held_out), 8)]
    losses = [float(loss_of(model, part, device)) * len(part) for part in parts]
    model.train()
    return sum(losses) / max(len(held_out), 1)


def save(output: Path, model: Any, tokenizer: Any, optimizer: Any, step: int) -> None:
    """All or nothing."""
    temporary, previous = output / "checkpoint.tmp", output / "checkpoint.old"
    for folder in (temporary, previous):
        shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(temporary / "model")
    tokenizer.save_pretrained(temporary / "model")
    state = {"optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, temporary / "state.pt")
    if (output / "checkpoint").exists():
        os.rename(output / "checkpoint", previous)
    os.rename(temporary, output / "checkpoint")
    shutil.rmtree(previous, ignore_errors=True)


def main() -> None:
    options = read_arguments()
    checkpoint = options.output / "checkpoint"
    if not checkpoint.exists() and (options.output / "checkpoint.old").exists():
        os.rename(options.output / "checkpoint.old", checkpoint)  # killed between both
    saved = checkpoint.exists()
    folder = checkpoint / "model"
    if saved:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    elif options.start:
        model, tokenizer = start_from(options)
    else:
        tokenizer = make_tokenizer(options)
        model = make_model(options, len(tokenizer))
    model = model.to(options.device).train()
    blocks = make_blocks(options, tokenizer)
    order = numpy.random.default_rng(0).permutation(len(blocks))
    n_held = min(HELD_OUT, len(blocks) // 10)
    held_out, rest = blocks[order[:n_held]], blocks[order[n_held:]]
    n = sum(values.numel() for values in model.parameters())
    print(f"{n / 1e6:.1f} million weights, {rest.size / 1e6:.1f} million sub-tokens")
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.rate, betas=(0.9, 0.95), weight_decay=0.1
    )
    first = 0
    if saved:
        state = torch.load(checkpoint / "state.pt", weights_only=True)
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        print(f"goes on after {first} steps", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    began, losses = time.time(), []
    for step in range(first, options.steps):
        # The same blocks whether it was interrupted or not.
        random = numpy.random.default_rng([options.seed, step])
        batch = rest[random.integers(len(rest), size=options.batch)]
        warm = min(1.0, (step + 1) / options.warmup)
        cosine = 0.5 + 0.5 * math.cos(math.pi * step / options.steps)
        for group in optimizer.param_groups:
            group["lr"] = options.rate * warm * (0.1 + 0.9 * cosine)
        loss = loss_of(model, batch, options.device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
        if (step + 1) % options.save_every and step + 1 < options.steps:
            continue
        seconds = time.time() - began
        line: Dict[str, float] = {
            "step": step + 1,
            "loss": round(sum(losses) / len(losses), 4),
            "held_out": round(evaluate(model, held_out, options.device), 4),
            "tokens_per_second": round(len(losses) * options.batch * BLOCK / seconds),
        }
        print(json.dumps(line), flush=True)
        with (options.output / "log.jsonl").open("a", encoding="utf8") as log:
            log.write(json.dumps(line) + "\n")
        save(options.output, model, tokenizer, optimizer, step + 1)
        began, losses = time.time(), []
    shutil.copytree(checkpoint / "model", options.output / "model", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
