"""Jobs on this machine: workers, Ray, and a million documents.

python benchmarks/scale.py workers [--docs 10000] [--rounds 4]
python benchmarks/scale.py soak [--docs 1000000] [--sentences 2]

`workers`: documents a second of `nlp.pipe` alone, of two such processes at once, which
is what the machine gives, and of jobs with one and two workers, here and on Ray. Each
runs in a process of its own, in turn; counted is what comes after the first 2,000
documents, by which all workers have begun and have met most words, and the start is
what comes before the first part. Ratios are medians of those of each round, with the
`nlp.pipe` and the one worker of that round. `soak`: one worker, and documents made of
sentences of a corpus, so many that what grows with them shows. Both go to scale.json.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any, Dict, Iterator, List

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, rss_mb, single_thread  # noqa: E402

single_thread()

from benchmarks.data import shared_dir  # noqa: E402

WAYS = ("nlp.pipe", "nlp.pipe, twice", "local, 1", "local, 2", "ray, 1", "ray, 2")
ROWS = 200
# Documents that are read before any are counted.
FIRST = 2000
# Documents of the soak from one line of the log to the next.
TICK = 10_000


def main() -> None:
    """Run the command line."""
    options = _parse()
    if options.command == "child":
        print(json.dumps(run_way(options.way, options.corpus, options.start)))
        return
    path = options.output / "scale.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    measure = workers if options.command == "workers" else soak
    result[options.command] = measure(options)
    result["environment"] = environment()
    options.output.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def workers(options: argparse.Namespace) -> List[Dict[str, Any]]:
    """Documents a second of each way, its start in seconds, and how many times as fast
    it is as `nlp.pipe`, and as one worker: medians."""
    folder = Path(mkdtemp())
    corpus = folder / "in.jsonl"
    with corpus.open("w", encoding="utf8") as file:
        for text in islice(read_texts(), options.docs):
            file.write(json.dumps({"text": text}) + "\n")
    found: Dict[str, List[Dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way in WAYS:
            found[way].append(_start(way, corpus))
            print(way, found[way][-1], flush=True)
    shutil.rmtree(folder)
    rows = []
    for way, runs in found.items():
        rate = median(run["docs/s"] for run in runs)
        begin = round(median(run["start"] for run in runs), 1)
        row: Dict[str, Any] = {"way": way, "docs/s": round(rate, 1), "start": begin}
        row["times nlp.pipe"] = _ratio(runs, found["nlp.pipe"])
        engine, _, number = way.partition(", ")
        if number == "2":
            row["times one"] = _ratio(runs, found[f"{engine}, 1"])
        rows.append(row)
    return rows


def _ratio(runs: List[Dict[str, float]], others: List[Dict[str, float]]) -> float:
    pairs = zip(runs, others)
    return round(median(run["docs/s"] / other["docs/s"] for run, other in pairs), 3)


def _start(way: str, corpus: Path) -> Dict[str, float]:
    n = 2 if way.endswith("twice") else 1
    command = [sys.executable, __file__, "child", "--corpus", str(corpus)]
    command += ["--way", "nlp.pipe" if n == 2 else way, "--start", str(time.time())]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n)
    ]
    results = []
    for process in running:
        output, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{way} failed")
        results.append(json.loads(output.splitlines()[-1]))
    rate = sum(result["docs/s"] for result in results)
    return {"docs/s": rate, "start": max(result["start"] for result in results)}


def run_way(way: str, corpus: Path, began: float) -> Dict[str, float]:
    """One way over a corpus, in this process."""
    parts = _pipe(corpus) if way == "nlp.pipe" else _job(way, corpus)
    rows = next(parts)
    first = time.time()
    while rows < FIRST:
        rows += next(parts)
    warm = time.time()
    rate = sum(parts) / (time.time() - warm)
    # What the first part took is not the start's.
    return {"docs/s": rate, "start": max(first - began - ROWS / rate, 0.0)}


def _pipe(corpus: Path) -> Iterator[int]:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    with corpus.open(encoding="utf8") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        n = 0
        for n, doc in enumerate(nlp.pipe(texts, batch_size=64), start=1):
            _ = doc._.keyphrases
            if n % ROWS == 0:
                yield ROWS
        yield n % ROWS


def _job(way: str, corpus: Path) -> Iterator[int]:
    from spacy_keyphrase.jobs import PipelineSpec, make_job, run_local

    engine, number = way.split(", ")
    folder = mkdtemp()
    job = make_job([str(corpus)], folder, PipelineSpec(), rows_per_part=ROWS)
    if engine == "local":
        results = run_local(job, int(number))
    else:
        import logging

        import ray

        from spacy_keyphrase.ray import run_ray

        ray.init(
            num_cpus=int(number),
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        results = run_ray(job, int(number))
    try:
        for done in results:
            yield done.rows
    finally:
        shutil.rmtree(folder)


def soak(options: argparse.Namespace) -> Dict[str, Any]:
    """Memory and documents a second, while documents go by."""
    from spacy_keyphrase.jobs import PipelineSpec, make_job, run_local

    folder = Path(mkdtemp())
    corpus = folder / "in.jsonl"
    sentences = [s for text in islice(read_texts(), 20_000) for s in text.split(". ")]
    draw = random.Random(0)
    with corpus.open("w", encoding="utf8") as file:
        for i in range(options.docs):
            text = ". ".join(draw.choices(sentences, k=options.sentences))
            file.write(json.dumps({"id": i, "text": text}) + "\n")
    del sentences
    output = folder / "out"
    job = make_job([str(corpus)], str(output), PipelineSpec())
    points, rows, failed = [], 0, 0
    began = last = time.perf_counter()
    for done in run_local(job):
        rows, failed = rows + done.rows, failed + done.failed
        if (rows + failed) // TICK > len(points):
            now = time.perf_counter()
            points.append([rows + failed, rss_mb(), round(TICK / (now - last), 1)])
            last = now
            print(points[-1], flush=True)
    seconds = time.perf_counter() - began
    numbers = bytearray(options.docs)
    for path in output.glob("part-*.jsonl"):
        for line in path.read_text("utf8").splitlines():
            numbers[json.loads(line)["id"]] += 1
    shutil.rmtree(folder)
    return {
        "docs": options.docs,
        "sentences": options.sentences,
        "written": rows,
        "set aside": failed,
        "once": numbers.count(1),
        "docs/s": round(options.docs / seconds, 1),
        "points": points,
    }


def read_texts() -> Iterator[str]:
    """Abstracts."""
    from spacy_keyphrase.corpora import read_corpus

    for document in read_corpus(shared_dir() / "data" / "acmdl" / "train.jsonl.gz"):
        yield document.text


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/scale.py", description="Jobs on this machine."
    )
    parser.add_argument("command", choices=["workers", "soak", "child"])
    parser.add_argument("--docs", type=int)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--sentences", type=int, default=2)
    parser.add_argument("--output", type=Path, default=HERE / "results")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--start", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.docs is None:
        options.docs = 10_000 if options.command == "workers" else 1_000_000
    return options


if __name__ == "__main__":
    main()
