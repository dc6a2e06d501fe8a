"""Keyphrases on a cluster, by Ray Data: `pip install "spacy-keyphrase[ray]"`.

`run_ray` does a job of `spacy_keyphrase.jobs`: it can be interrupted at any time, by
the death of a worker, of a machine or of the program that runs it, and goes on. In a
pipeline of your own `KeyphraseMapper` goes to `map_batches`:

    dataset = ray.data.read_parquet("s3://bucket/abstracts")
    dataset = dataset.map_batches(
        KeyphraseMapper,
        fn_constructor_kwargs={"columns": ["abstract"]},
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=8),
    )
"""

import pickle
from typing import Any, Dict, Iterator, List, Mapping, Optional

import numpy
import pyarrow
import ray
import ray.data

from .jobs.chunks import read_chunks
from .jobs.items import Item, Place
from .jobs.job import Job
from .jobs.parquet import keyphrase_type
from .jobs.worker import Done, Output, PipelineSpec, Worker, find
from .keyphrase import KEY


def run_ray(
    job: Job, workers: int = 1, cpus_per_worker: float = 1.0, gpus_per_worker: float = 0
) -> Iterator[Done]:
    """Do what is left of a job on the cluster that `ray.init` is connected to.

    job (Job): The job. Its paths must be there for all machines.
    workers (int): Actors, each with a pipeline of its own.
    cpus_per_worker (float): Cores of each.
    gpus_per_worker (float): GPUs of each.
    YIELDS (Done): Each chunk that is done.
    RAISES: ValueError at fewer than one worker.
    """
    if workers < 1:
        raise ValueError(f"{workers} workers; there must be one at least.")
    splits = [{"split": pickle.dumps(split)} for split in job.splits]
    done: Any = ray.put(job.done)
    output, size = job.output, job.rows_per_part

    def read(row: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
        split = pickle.loads(row["split"])
        for chunk in read_chunks(split, size, output.columns, set(ray.get(done))):
            yield {"chunk": pickle.dumps(chunk)}

    blocks = max(len(splits), 1)
    read_ones = ray.data.from_items(splits, override_num_blocks=blocks)
    read_ones.context.enable_progress_bars = False
    # Each chunk for itself, and said when it is done.
    read_ones.context.target_max_block_size = 1
    # Reading is next to nothing, and takes no core from the workers.
    chunks = read_ones.flat_map(read, num_cpus=0)
    # A worker that dies is started again, and what it was at is done again.
    results = chunks.map_batches(
        _Actor,
        fn_constructor_args=(job.spec, output),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=cpus_per_worker,
        num_gpus=gpus_per_worker,
    )
    for row in results.iter_rows():
        yield Done(str(row["name"]), int(row["rows"]), int(row["failed"]))


class _Actor:
    def __init__(self, spec: PipelineSpec, output: Output) -> None:
        self.worker = Worker(spec, output)

    def __call__(self, batch: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
        for chunk in batch["chunk"]:
            done = self.worker.run(pickle.loads(chunk))
            yield {name: numpy.array([v]) for name, v in done._asdict().items()}


class KeyphraseMapper:
    """Adds keyphrases to the batches of a dataset: the class to give to `map_batches`,
    with `batch_format="pyarrow"`.

    columns (List[str]): Columns with the texts, which are joined.
    spec (Optional[PipelineSpec]): The pipeline; by default a blank English one with
        the component `keyphrase`.
    column (str): The column that is added, with lists of records as
        `Keyphrase.to_dict` makes them. What failed has none, and a reason in the column
        with "_error" behind its name.
    """

    def __init__(
        self,
        columns: List[str],
        spec: Optional[PipelineSpec] = None,
        column: str = KEY,
    ) -> None:
        self.column = column
        output = Output("", "parquet", columns, column)
        self.worker = Worker(spec or PipelineSpec(), output)

    def __call__(self, batch: Any) -> Any:
        """An Arrow table with two columns more.

        RAISES: TypeError where the batch is no Arrow table; KeyError where it has none
            of the columns.
        """
        if not isinstance(batch, pyarrow.Table):
            raise TypeError(
                'KeyphraseMapper needs map_batches(..., batch_format="pyarrow").'
            )
        columns = [c for c in self.worker.output.columns if c in batch.column_names]
        if not columns:
            names = ", ".join(batch.column_names)
            wanted = " or ".join(self.worker.output.columns)
            raise KeyError(f"No column {wanted}; there are {names}.")
        rows = batch.select(columns).to_pylist()
        texts = [
            self.worker.text(Item(Place("", i), row)) for i, row in enumerate(rows)
        ]
        found = list(find(self.worker.nlp, texts, self.worker.key))
        phrases = [own if isinstance(own, list) else None for own in found]
        errors = [own if isinstance(own, str) else None for own in found]
        added = pyarrow.array(phrases, type=keyphrase_type())
        batch = batch.append_column(self.column, added)
        return batch.append_column(
            f"{self.column}_error", pyarrow.array(errors, type=pyarrow.string())
        )
