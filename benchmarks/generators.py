"""Trained generators, alone and with selectors: how good, and how fast.

python benchmarks/generators.py quality NAME=FOLDER ... --corpus CORPUS
    [--set components.keyphrase_generator.model.beams=5] [--suffix ", 5 beams"]
    [--preset one2set] [--k 5] [--limit N] [--output benchmarks/results]
    [--table selector] [--candidates KEY] [--encoder FOLDER]
python benchmarks/generators.py speed NAME=FOLDER ... --corpus CORPUS [--limit 128]

FOLDER is a pipeline that was trained, CORPUS a corpus with gold keyphrases in any
format. `quality` adds a row for each system to generators.json: F1@5 and F1@M of
present and absent keyphrases, R@10 and R@50 of absent ones, and what PUSL counts: B@k,
#K@k, F1@O, repeated words. With an encoder, a folder of a sentence encoder, it tells
how like each other the keyphrases of a document are. `speed` compares documents in
batches with one at a time, and with the bare network. With `--table selector` rows go
to selector.json; with `--candidates` pipelines begin with what `scripts/candidates.py`
put into the corpus, so that one that holds a selector only is measured on the same
candidates as others.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment  # noqa: E402

PIPE = "keyphrase_generator"
CUTOFFS = (5, 10, 50, "M", "O")
ROUNDS = 5


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / f"{options.table}.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    measure = quality if options.command == "quality" else speed
    for name, folder in options.systems:
        row = {
            "system": name + options.suffix,
            "corpus": options.corpus_name or options.corpus.name,
            **measure(folder, options),
        }
        print(json.dumps(row), flush=True)
        key = (row["system"], row["corpus"], row.get("preset"), row.get("k"))
        rows = [
            old
            for old in result.get(options.command, [])
            if (old["system"], old["corpus"], old.get("preset"), old.get("k")) != key
        ]
        result[options.command] = [*rows, row]
        result["environment"] = environment()
        options.output.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def quality(folder: Path, options: argparse.Namespace) -> Dict[str, Any]:
    """The scores of a pipeline, in per cent, with 95 % intervals."""
    from spacy_keyphrase.evaluation import (
        confidence_interval,
        make_source,
        mean_emb_sim,
        score,
    )

    nlp, examples = _load(folder, options)
    references = [example.reference for example in examples]
    started = time.perf_counter()
    settings = {} if options.k is None else {PIPE: {"k": options.k}}
    fresh = [example.predicted for example in examples]
    docs = list(nlp.pipe(fresh, component_cfg=settings or None))
    seconds = time.perf_counter() - started
    cutoffs = [*CUTOFFS, *([] if options.k in (None, *CUTOFFS) else [options.k])]
    as_source = make_source(options.preset)
    predicted = [[str(k) for k in doc._.keyphrases] for doc in docs]
    scores = score(
        predicted,
        [[str(k) for k in doc._.keyphrases] for doc in references],
        [as_source(doc.text) for doc in references],
        preset=options.preset,
        k=cutoffs,
    )
    values: Dict[str, Any] = {"preset": options.preset, "docs": len(docs)}
    if options.k is not None:
        values["k"] = options.k
    names = [
        "present_f1@5",
        "present_f1@M",
        "absent_f1@5",
        "absent_f1@M",
        "absent_r@10",
        "absent_r@50",
        "all_f1@5",
        "all_f1@M",
        "all_f1@O",
        "all_r@M",
        *([f"all_b@{options.k}"] if options.k else ["all_b@5"]),
    ]
    for metric in names:
        interval = confidence_interval(scores, metric)
        values[metric] = _percent(scores[metric])
        values[f"{metric}_ci"] = [_percent(interval.low), _percent(interval.high)]
    for kind in ("all", "present", "absent"):
        values[f"{kind}_count"] = round(float(scores[f"{kind}_count"] or 0), 2)
    values["dup_token_ratio"] = _percent(scores["dup_token_ratio"])
    if options.encoder:
        similarity = mean_emb_sim(predicted, _embed(options.encoder))
        values["emb_sim"] = round(float(similarity or 0), 4)
    return {**values, "docs/s": round(len(docs) / seconds, 2)}


def speed(folder: Path, options: argparse.Namespace) -> Dict[str, Any]:
    """Seconds of the same documents in turn: in batches, one at a time, and the bare
    network on what batches are made of."""
    import torch

    from spacy_keyphrase.models.wrapped import get_module

    nlp, examples = _load(folder, options)
    texts = [example.text for example in examples]
    pipe: Any = nlp.get_pipe(PIPE)
    module = get_module(pipe.model)
    passes: List[Any] = []
    encode = module._encode

    def spy(windows: Any) -> Any:
        passes.append(windows)
        return encode(windows)

    def batched() -> None:
        for _ in nlp.pipe(texts, batch_size=len(texts)):
            pass

    def one_by_one() -> None:
        for text in texts:
            nlp(text)

    module._encode = spy
    batched()
    del module._encode
    found = {"batched": batched, "one by one": one_by_one}
    if hasattr(module, "network"):
        from spacy_keyphrase.devices import mixed
        from spacy_keyphrase.generation.slot_decoding import write

        taken = list(passes)

        @torch.inference_mode()
        def bare() -> None:
            for windows in taken:
                with mixed(module.device, module.windows.mixed_precision):
                    memory = encode(windows)
                    write(module.network, memory, module.decoding, [0] * len(windows))

        found["bare network"] = bare
        found["one slot at a time"] = lambda: _slot_by_slot(module, texts, encode)
    seconds: Dict[str, List[float]] = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, run in found.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    values: Dict[str, Any] = {"docs": len(texts), "device": str(module.device)}
    for name in found:
        values[f"ms/doc, {name}"] = round(1000 * median(seconds[name]) / len(texts), 2)
        values[f"{name} / batched"] = round(
            median(a / b for a, b in zip(seconds[name], seconds["batched"])), 3
        )
    return values


def _slot_by_slot(module: Any, texts: List[str], encode: Any) -> None:
    """Greedy decoding without any batch: documents in turn, and their slots in turn."""
    import torch

    from spacy_keyphrase.devices import mixed
    from spacy_keyphrase.generation.set_model import Past
    from spacy_keyphrase.generation.vocabulary import BEGIN, END, NULL, read_document

    network = module.network
    with torch.inference_mode(), mixed(module.device, module.windows.mixed_precision):
        for text in texts:
            words = read_document(text)[: module.windows.size]
            memory = encode([module.vocabulary.number(words)])
            for slot in range(network.slots):
                past, word = Past(), torch.tensor([[BEGIN]], device=module.device)
                for step in range(module.decoding.length):
                    at = torch.full_like(word, slot), torch.full_like(word, step)
                    _, best = network.next(memory, word, *at, past).top(1)
                    if int(best) in (END, NULL):
                        break
                    word = network.readable(best[..., 0])


def _load(folder: Path, options: argparse.Namespace) -> Any:
    """The pipeline and the examples of the corpus."""
    import spacy

    from spacy_keyphrase.corpora.reader import create_corpus

    overrides = {}
    for setting in options.settings:
        name, _, value = setting.partition("=")
        overrides[name] = json.loads(value)
    if options.gpu_id >= 0:
        spacy.require_gpu(options.gpu_id)  # type: ignore[no-untyped-call]
    nlp = spacy.load(folder, config=overrides)
    reader = create_corpus(
        options.corpus, limit=options.limit, candidates=options.candidates
    )
    return nlp, list(reader(nlp))


def _embed(folder: Path) -> Any:
    """Vectors of phrases: the means of the states of an encoder."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoder = transformers.AutoModel.from_pretrained(folder).eval()

    @torch.inference_mode()
    def embed(phrases: Any) -> Any:
        inputs = tokenizer(list(phrases), padding=True, return_tensors="pt")
        states = encoder(**inputs).last_hidden_state
        real = inputs["attention_mask"][..., None]
        return ((states * real).sum(1) / real.sum(1)).numpy()

    return embed


def _percent(value: Optional[float]) -> Optional[float]:
    return None if value is None else round(100 * float(value), 2)


def _parse(arguments: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/generators.py", description="Trained generators."
    )
    parser.add_argument("command", choices=["quality", "speed"])
    parser.add_argument("systems", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--corpus-name", help="how the report calls it")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--suffix", default="", help="added to the names of systems")
    parser.add_argument("--preset", default="one2set")
    parser.add_argument("--k", type=int, help="keyphrases that are asked for")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--table", default="generators", help="name of the JSON file")
    parser.add_argument("--candidates", help="key of candidates in the corpus")
    parser.add_argument("--encoder", type=Path, help="for the similarity of phrases")
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args(arguments)
    systems = []
    for system in options.systems:
        name, equals, folder = system.partition("=")
        if not equals or not Path(folder).is_dir():
            parser.error(f"{system!r} is not NAME=FOLDER with a folder that is there.")
        systems.append((name, Path(folder)))
    options.systems = systems
    return options


if __name__ == "__main__":
    main()
