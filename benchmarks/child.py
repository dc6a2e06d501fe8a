"""One measurement in a process of its own, which imports only what it measures.

python benchmarks/child.py footprint SYSTEM DATASET LIMIT
python benchmarks/child.py memory SYSTEM

The last line printed is the result, as JSON.
"""

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any, Dict

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks.process import peak_rss_mb, rss_mb, single_thread

single_thread()

from benchmarks.data import read_corpus  # noqa: E402
from benchmarks.systems import make_system  # noqa: E402

MEMORY_SET = "acmdl/train"
MEMORY_MARKS = (1000, 5000, 10000)
_BATCH = 250


def measure_footprint(name: str, dataset: str, limit: int) -> Dict[str, Any]:
    """Start-up time and peak memory.

    name (str): Name of the system.
    dataset (str): Name of the dataset.
    limit (int): How many documents.
    RETURNS (Dict[str, Any]): Seconds from nothing to the first document's phrases,
        and megabytes after all documents.
    """
    texts = read_corpus(dataset, limit).texts
    start = time.perf_counter()
    system = make_system(name)
    system.load()
    system.extract(texts[:1])
    load = time.perf_counter() - start
    system.extract(texts)
    return {"load_s": load, "peak_mb": peak_rss_mb()}


def measure_memory(name: str) -> Dict[str, Any]:
    """Memory when loaded and after so many short documents.

    name (str): Name of the system.
    RETURNS (Dict[str, Any]): Pairs of documents and megabytes. The documents
        themselves are in memory from the start.
    """
    texts = read_corpus(MEMORY_SET, max(MEMORY_MARKS)).texts
    system = make_system(name)
    system.load()
    system.extract(texts[:1])
    marks = [[0, rss_mb()]]
    for start in range(0, len(texts), _BATCH):
        system.extract(texts[start : start + _BATCH])
        if start + _BATCH in MEMORY_MARKS:
            gc.collect()
            marks.append([start + _BATCH, rss_mb()])
    return {"system": name, "dataset": MEMORY_SET, "rss_mb": marks}


if __name__ == "__main__":
    command, system_name, *rest = sys.argv[1:]
    if command == "footprint":
        result = measure_footprint(system_name, rest[0], int(rest[1]))
    else:
        result = measure_memory(system_name)
    print(json.dumps(result))
