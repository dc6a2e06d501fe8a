"""Train a small T5 from scratch, for rankers that need one.

python scripts/pretrain_t5.py CORPUS TOKENIZER OUTPUT [options]

CORPUS is what ``t5_corpus.py`` made, TOKENIZER the folder of T5's tokenizer, OUTPUT
becomes a folder with ``model`` (as transformers saves it), ``log.jsonl`` and a
checkpoint; run again, it goes on from there. The learning rate rises, stays, and falls
in the last part; ``--steps`` may be raised later, as long as it has not fallen.
"""

import argparse
import json
import os
import shutil
import time
from itertools import count, islice
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import numpy
import torch
from t5_denoising import Example, Prompts, examples, make_windows
from torch import Tensor
from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

from spacy_keyphrase.lm.sentences import SEQ2SEQ_PROMPT

Batch = Tuple[Tensor, Tensor, Tensor]
LONGEST = 512
# Parts of texts that are held out, at the end of the corpus of the first seed's order.
HELD_OUT = 100
# Examples that are sorted by length at a time.
BUFFER = 2048


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--inner", type=int, default=640)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--encoder-layers", type=int, default=4)
    parser.add_argument("--decoder-layers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=4096, help="sub-tokens")
    parser.add_argument("--rate", type=float, default=2e-2)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--fall", type=float, default=0.2, help="share of the steps")
    parser.add_argument("--asked", type=float, default=0.0, help="share of titles")
    parser.add_argument("--embeddings", type=Path, help="of t5_embeddings.py")
    parser.add_argument("--start", type=Path, help="a model to begin with")
    parser.add_argument("--save-every", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def make_model(options: argparse.Namespace) -> T5ForConditionalGeneration:
    if options.start is not None:
        return T5ForConditionalGeneration.from_pretrained(options.start)
    config = T5Config(
        d_model=options.width,
        d_ff=options.inner,
        d_kv=options.width // options.heads,
        num_heads=options.heads,
        num_layers=options.encoder_layers,
        num_decoder_layers=options.decoder_layers,
        dropout_rate=0.0,
        vocab_size=32128,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    if options.embeddings is not None:
        vectors = torch.from_numpy(numpy.load(options.embeddings)).float()
        with torch.no_grad():
            model.shared.weight[: len(vectors)] = vectors
    return model


def make_prompts(tokenizer: Any) -> Prompts:
    """Those that rankers ask with. The decoder's first input takes the place of the
    first sub-token, as it does there."""
    prompt = SEQ2SEQ_PROMPT
    saying, end = prompt.template.split("{}")
    parts = [
        tokenizer(text, add_special_tokens=False).input_ids
        for text in (prompt.before, prompt.after, saying.strip(), end.strip())
    ]
    parts[2] = parts[2][1:]
    return Prompts(*parts)


def make_batches(
    stream: Iterator[Example], tokens: int, skip: int = 0
) -> Iterator[Tuple[int, int, List[Example]]]:
    """Examples of like length, as many as there may be sub-tokens; before them how many
    times the buffer was filled before, and how many batches have been taken from it."""
    for buffer in count():
        some = list(islice(stream, BUFFER))
        some.sort(key=lambda example: len(example.source))
        batches: List[List[Example]] = [[]]
        for example in some:
            if batches[-1] and (len(batches[-1]) + 1) * len(example.source) > tokens:
                batches.append([])
            batches[-1].append(example)
        order = numpy.random.default_rng(len(batches)).permutation(len(batches))
        for taken in range(skip, len(order)):
            yield buffer, taken, batches[order[taken]]
        skip = 0


def collate(batch: List[Example], device: str) -> Batch:
    def pad(rows: List[List[int]], value: int) -> Tensor:
        padded = torch.full((len(rows), max(map(len, rows))), value)
        for i, row in enumerate(rows):
            padded[i, : len(row)] = torch.tensor(row)
        return padded.to(device)

    source = pad([example.source for example in batch], 0)
    return source, (source != 0).long(), pad([e.target for e in batch], -100)


def loss_of(model: T5ForConditionalGeneration, batch: Batch) -> Tensor:
    ids, mask, labels = batch
    loss: Tensor = model(input_ids=ids, attention_mask=mask, labels=labels).loss
    return loss


@torch.inference_mode()
def evaluate(
    model: T5ForConditionalGeneration, held_out: List[Example], device: str
) -> float:
    """Loss a sub-token."""
    model.eval()
    total, n = 0.0, 0
    for start in range(0, len(held_out), 20):
        batch = collate(held_out[start : start + 20], device)
        count = int((batch[2] >= 0).sum())
        total += float(loss_of(model, batch)) * count
        n += count
    model.train()
    return total / max(n, 1)


def rate_at(step: int, options: argparse.Namespace) -> float:
    falling = max(options.steps * options.fall, 1)
    return float(
        options.rate
        * min(1.0, (step + 1) / options.warmup, (options.steps - step) / falling)
    )


def save(output: Path, model: Any, tokenizer: Any, optimizer: Any, state: Any) -> None:
    """All or nothing."""
    temporary = output / "checkpoint.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    model.save_pretrained(temporary / "model")
    tokenizer.save_pretrained(temporary / "model")
    torch.save({"optimizer": optimizer.state_dict(), **state}, temporary / "state.pt")
    previous = output / "checkpoint.old"
    shutil.rmtree(previous, ignore_errors=True)
    if (output / "checkpoint").exists():
        os.rename(output / "checkpoint", previous)
    os.rename(temporary, output / "checkpoint")
    shutil.rmtree(previous, ignore_errors=True)


def main() -> None:
    options = read_arguments()
    torch.manual_seed(options.seed)
    corpus = numpy.load(options.corpus)
    ids = corpus["ids"]
    windows = make_windows(corpus["lengths"], LONGEST)
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    prompts = make_prompts(tokenizer)
    shuffled = windows[numpy.random.default_rng(0).permutation(len(windows))]
    held_out = {
        name: list(
            islice(examples(ids, shuffled[:HELD_OUT], prompts, asked, 0), HELD_OUT)
        )
        for name, asked in (("gaps", 0.0), ("titles", 1.0))
    }
    windows = shuffled[HELD_OUT:]

    checkpoint = options.output / "checkpoint"
    state: Dict[str, int] = {"step": 0, "buffer": 0, "batch": 0}
    if not checkpoint.exists() and (options.output / "checkpoint.old").exists():
        os.rename(options.output / "checkpoint.old", checkpoint)  # killed between both
    saved = checkpoint.exists()
    if saved:
        options.start = checkpoint / "model"
    model = make_model(options).to(options.device).train()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [{"params": [own]} for own in parameters], betas=(0.9, 0.98), weight_decay=0.0
    )
    if saved:
        found = torch.load(checkpoint / "state.pt", weights_only=True)
        optimizer.load_state_dict(found.pop("optimizer"))
        state = found
        print(f"goes on after {state['step']} steps", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    filled = state["buffer"]
    stream = examples(
        ids, windows, prompts, options.asked, options.seed, filled * BUFFER
    )
    batches = make_batches(stream, options.batch, state["batch"])
    began, tokens, losses = time.time(), 0, []
    for step in range(state["step"], options.steps):
        buffer, taken, batch = next(batches)
        state = {"step": step + 1, "buffer": filled + buffer, "batch": taken + 1}
        # T5's tables of sub-tokens are a hundred times larger than its queries: steps
        # are in proportion, as in Adafactor.
        for group in optimizer.param_groups:
            size = float(group["params"][0].detach().square().mean().sqrt())
            group["lr"] = rate_at(step, options) * max(size, 1e-3)
        loss = loss_of(model, collate(batch, options.device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
        tokens += sum(len(e.source) + len(e.target) for e in batch)
        if state["step"] % options.save_every and state["step"] < options.steps:
            continue
        line = {
            **state,
            "loss": round(sum(losses) / len(losses), 4),
            **{
                k: round(evaluate(model, v, options.device), 4)
                for k, v in held_out.items()
            },
            "rate": rate_at(step, options),
            "tokens_per_second": round(tokens / (time.time() - began)),
        }
        print(json.dumps(line), flush=True)
        with (options.output / "log.jsonl").open("a", encoding="utf8") as log:
            log.write(json.dumps(line) + "\n")
        save(options.output, model, tokenizer, optimizer, state)
        began, tokens, losses = time.time(), 0, []
    shutil.copytree(checkpoint / "model", options.output / "model", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
