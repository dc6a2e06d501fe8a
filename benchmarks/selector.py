"""Selectors: how fast.

python benchmarks/selector.py chat [--docs 500] [--latency 0.05] [--workers 16]
python benchmarks/selector.py local [--model FOLDER] [--docs 16] [--candidates 20]

`chat` runs documents against a server in a process of its own that takes `latency` for
an answer, and compares the time with documents x latency / workers; then once more,
from the cache. `local` labels candidates of documents with a causal language model, and
compares it with a loop that runs the model on the document with each candidate; then it
does so for more and more candidates. Without a model one of random weights is made.
Both add to selector.json.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Callable, Dict, List, Optional, Sequence

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.data import shared_dir  # noqa: E402
from benchmarks.process import environment  # noqa: E402

ROUNDS = 3
COUNTS = (5, 10, 20, 40)


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / "selector.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    result[options.command] = (
        chat(options) if options.command == "chat" else local(options)
    )
    result["environment"] = environment()
    print(json.dumps(result[options.command], indent=1))
    options.output.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def chat(options: argparse.Namespace) -> Dict[str, Any]:
    """Seconds of documents against a server, in times of what it takes at least."""
    import spacy

    command = [sys.executable, str(HERE / "chat_server.py")]
    command += ["--latency", str(options.latency)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf8"
    )
    assert server.stdin and server.stdout
    least = options.docs * options.latency / options.workers
    found: Dict[str, Any] = {
        "docs": options.docs,
        "latency": options.latency,
        "workers": options.workers,
        "least seconds": least,
    }
    try:
        with TemporaryDirectory() as folder:
            model = {
                "@architectures": "spacy_keyphrase.ChatLM.v1",
                "name": "rule",
                "base_url": server.stdout.readline().strip(),
                "workers": options.workers,
                "cache": folder,
            }
            nlp = spacy.blank("en")
            nlp.add_pipe("keyphrase_selector", config={"model": model})
            pipe: Any = nlp.get_pipe("keyphrase_selector")
            # What is imported and connected once is not what is measured.
            list(pipe.pipe(_make_docs(nlp, options.workers, "first")))
            for name in ("first run", "from the cache"):
                docs = _make_docs(nlp, options.docs, "then")
                started = time.perf_counter()
                docs = list(pipe.pipe(docs, batch_size=1000))
                seconds = time.perf_counter() - started
                assert all(len(doc._.keyphrases) == 2 for doc in docs)
                found[f"{name}, seconds"] = round(seconds, 3)
                found[f"{name} / least"] = round(seconds / least, 3)
            found["usage"] = pipe.model.attrs["chat"].usage.to_dict()
    finally:
        server.stdin.close()
        server.wait(timeout=10)
    return found


def _make_docs(nlp: Any, n: int, name: str) -> List[Any]:
    docs = []
    for i in range(n):
        doc = nlp.make_doc(
            f"The {name} document number {i}. " + "Some more text. " * 40
        )
        phrases = [
            "good idea",
            "bad idea",
            "good plan",
            *(f"plan {j}" for j in range(9)),
        ]
        doc._.keyphrases = phrases
        docs.append(doc)
    return docs


def local(options: argparse.Namespace) -> Dict[str, Any]:
    """Documents a second in sequence and by a loop over candidates, and seconds by the
    number of candidates."""
    from spacy_keyphrase.corpora import read_corpus
    from spacy_keyphrase.selectors import make_independent_labels, make_sequence_labels
    from spacy_keyphrase.selectors.questions import Asked

    with TemporaryDirectory() as folder:
        module = _load(options.model or _make_model(Path(folder)))
    path = shared_dir() / "data" / "acmdl" / "valid.jsonl.gz"
    texts = [d.text for d, _ in zip(read_corpus(path), range(options.docs))]
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})

    def ask(maker: Callable[[], Any], n: int) -> Asked:
        selector = maker()
        candidates = [
            [
                " ".join(words[(7 * i + 11 * j + m) % len(words)] for m in range(2))
                for j in range(n)
            ]
            for i in range(len(texts))
        ]
        return Asked([selector.ask(*both) for both in zip(texts, candidates)])

    asked = ask(make_sequence_labels, options.candidates)
    apart = ask(make_independent_labels, options.candidates)
    ways: Dict[str, Callable[[], Any]] = {
        "in sequence": lambda: module.write(asked),
        "independent": lambda: module.write(apart),
        "loop": lambda: _loop(module, apart),
    }
    seconds = _time(ways)
    found: Dict[str, Any] = {
        "model": str(options.model or "random weights"),
        "weights": sum(values.numel() for values in module.parameters()),
        "docs": len(texts),
        "candidates": options.candidates,
    }
    for name in ways:
        found[f"docs/s, {name}"] = round(len(texts) / median(seconds[name]), 3)
    for name in ("in sequence", "independent"):
        ratio = median(a / b for a, b in zip(seconds["loop"], seconds[name]))
        found[f"{name} / loop"] = round(ratio, 2)
    by_count = {n: ask(make_sequence_labels, n) for n in COUNTS}
    grown = _time({str(n): (lambda n=n: module.write(by_count[n])) for n in COUNTS})
    found["seconds by candidates"] = {n: round(median(grown[n]), 3) for n in grown}
    return found


def _time(ways: Dict[str, Callable[[], Any]]) -> Dict[str, List[float]]:
    """Seconds of several ways in turn."""
    seconds: Dict[str, List[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return seconds


def _loop(module: Any, asked: Any) -> List[float]:
    """The model on each document with each candidate, one after the other."""
    import torch

    odds = []
    true, false = module.prompter.labels
    with torch.inference_mode():
        for question in asked.questions:
            laid = module.prompter.lay_out(question)
            for lead in laid.leads:
                ids = torch.tensor([laid.prompt + lead])
                logits = module.model(ids, logits_to_keep=1).logits[0, -1]
                odds.append(float(logits[true] - logits[false]))
    return odds


def _make_model(folder: Path) -> Path:
    """A small Llama with random weights."""
    import torch
    import transformers

    tokenizers = shared_dir() / "models" / "tokenizers"
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizers / "gpt2")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        intermediate_size=1024,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=6,
        max_position_embeddings=2048,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _load(folder: Path) -> Any:
    from spacy_keyphrase.backends.causal import CausalSelector, CausalSettings
    from spacy_keyphrase.generation.pretrained import load_causal

    return CausalSelector(*load_causal(str(folder)), CausalSettings()).eval()


def _parse(arguments: Optional[Sequence[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/selector.py", description="Selectors."
    )
    parser.add_argument("command", choices=["chat", "local"])
    parser.add_argument("--docs", type=int)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args(arguments)
    if options.docs is None:
        options.docs = 500 if options.command == "chat" else 16
    return options


if __name__ == "__main__":
    main()
