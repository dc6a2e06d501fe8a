"""What each pipe takes: documents a second on one core, and memory.

python benchmarks/capacity.py [--encoder MINILM] [--generator FOLDER]
    [--seconds 20] [--only NAME]

Each pipe reads abstracts, then whole papers, in a process of its own with one thread on
one core, for at least so many seconds. Counted is `nlp.pipe` after a first batch;
`load` is the seconds until the pipeline is there. MINILM is a folder of an encoder,
FOLDER one of a trained generator; without them their pipes are left out. Results go to
capacity.json; what ten million and a billion documents take is computed from them by
`benchmarks/run.py report`.
"""

import argparse
import json
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Dict, Iterator

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import (  # noqa: E402
    environment,
    peak_rss_mb,
    single_core,
    single_thread,
)

single_thread()

from benchmarks.data import shared_dir  # noqa: E402

# Files of the data, and documents that go through a pipe together.
KINDS = {
    "abstracts": ("acmdl/valid.jsonl.gz", 64),
    "papers": ("semeval2010/train_full.jsonl.gz", 4),
}


def make_pipes(options: argparse.Namespace) -> Dict[str, Any]:
    """Of each name what is in the pipeline, or the folder of one."""
    pipes: Dict[str, Any] = {
        "keyphrase, statistical": [("keyphrase", {"method": "statistical"})],
        "keyphrase": [("keyphrase", {})],
        "keyphrase, 16 bits": [("keyphrase", {"mixed_precision": True})],
    }
    if options.encoder:
        encoder = {"model": options.encoder}
        for bits, dtype in (("32", "float32"), ("16", "bfloat16")):
            ranker = {"@keyphrase_rankers": "spacy_keyphrase.EmbedRank.v1", **encoder}
            config = {"ranker": {**ranker, "dtype": dtype}}
            pipes[f"EmbedRank, MiniLM, {bits} bits"] = [("keyphrase_ranker", config)]
        for bits in ("32", "16"):
            tok2vec = {
                "@architectures": "spacy_keyphrase.TransformerTok2Vec.v1",
                "name": options.encoder,
                "mixed_precision": bits == "16",
            }
            model = {
                "@architectures": "spacy_keyphrase.JointKPE.v1",
                "tok2vec": tok2vec,
            }
            name = f"extractor over MiniLM, {bits} bits"
            pipes[name] = [("keyphrase_extractor", {"model": model})]
    if options.generator:
        beams = {"components.keyphrase_generator.model.beams": 5}
        pipes["generator"] = (options.generator, {})
        pipes["generator, 5 beams"] = (options.generator, beams)
    return pipes


def main() -> None:
    """Run the command line."""
    options = _parse()
    if options.pipe:
        print(json.dumps(measure(options)))
        return
    path = options.output / "capacity.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    for name in make_pipes(options):
        if options.only and options.only not in name:
            continue
        for kind in KINDS:
            command = [sys.executable, __file__, *sys.argv[1:]]
            command += ["--pipe", name, "--kind", kind]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                raise RuntimeError(f"{name} failed")
            row = {
                "pipe": name,
                "kind": kind,
                **json.loads(done.stdout.splitlines()[-1]),
            }
            print(row, flush=True)
            rows = [
                old
                for old in result.get("rows", [])
                if (old["pipe"], old["kind"]) != (name, kind)
            ]
            result = {"rows": [*rows, row], "environment": environment()}
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def measure(options: argparse.Namespace) -> Dict[str, float]:
    """One pipe over one kind of documents, in this process."""
    single_core()
    began = time.perf_counter()
    nlp = _make(make_pipes(options)[options.pipe])
    load = time.perf_counter() - began
    file, size = KINDS[options.kind]
    texts = list(islice(_read(shared_dir() / "data" / file), 1000))
    for _ in nlp.pipe(texts[-size:], batch_size=size):
        pass
    done, seconds = 0, 0.0
    source = cycle(texts)
    while seconds < options.seconds:
        some = list(islice(source, size))
        began = time.perf_counter()
        for doc in nlp.pipe(some, batch_size=size):
            _ = doc._.keyphrases
        seconds += time.perf_counter() - began
        done += size
    return {
        "docs/s": round(done / seconds, 4),
        "words": round(sum(len(text.split()) for text in texts) / len(texts)),
        "docs": done,
        "load": round(load, 2),
        "peak_mb": round(peak_rss_mb() or 0),
    }


def _make(parts: Any) -> Any:
    import spacy

    if isinstance(parts, tuple):
        folder, settings = parts
        return spacy.load(folder, config=settings)
    nlp = spacy.blank("en")
    for name, config in parts:
        nlp.add_pipe(name, config=config)
    if any(name == "keyphrase_extractor" for name, _ in parts):
        # What it says does not matter to how long it takes.
        from spacy.training import Example

        doc = nlp.make_doc("Graph networks learn from molecules.")
        gold = nlp.make_doc(doc.text)
        gold._.keyphrases = ["graph networks"]
        nlp.initialize(lambda: [Example(doc, gold)])
    return nlp


def _read(path: Path) -> Iterator[str]:
    from spacy_keyphrase.corpora import read_corpus

    for document in read_corpus(path):
        yield document.text


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/capacity.py", description="What each pipe takes."
    )
    parser.add_argument("--encoder", help="folder of an encoder")
    parser.add_argument("--generator", help="folder of a trained generator")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", help="pipes whose names have this")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    parser.add_argument("--pipe", help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
