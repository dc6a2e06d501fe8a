"""Jobs on this machine, in one process or in several."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Deque, Iterator, Tuple, Union

from .chunks import read_chunks
from .items import Chunk
from .job import Job
from .worker import Done, Output, PipelineSpec, Worker

# How often a chunk is tried in whose course a worker dies.
TRIES = 3

# Or why there is none.
_worker: Union[Worker, Exception, None] = None


def run_local(job: Job, workers: int = 1) -> Iterator[Done]:
    """Do what is left of a job.

    job (Job): The job.
    workers (int): Processes; -1 for one on each core. One works in this process.
    YIELDS (Done): Each chunk that is done.
    RAISES: ChildProcessError where worker processes die again and again; OSError where
        results cannot be written.
    """
    if workers == 0 or workers < -1:
        raise ValueError(f"{workers} is neither a number of workers nor -1.")
    chunks = (
        chunk
        for split in job.splits
        for chunk in read_chunks(split, job.rows_per_part, job.output.columns, job.done)
    )
    workers = (os.cpu_count() or 1) if workers == -1 else workers
    if workers == 1:
        worker = Worker(job.spec, job.output)
        for chunk in chunks:
            yield worker.run(chunk)
        return
    yield from _run_in_processes(job, chunks, workers)


def _run_in_processes(
    job: Job, chunks: Iterator[Chunk], workers: int
) -> Iterator[Done]:
    waiting: Deque[Tuple[Chunk, int]] = deque()
    while True:
        running: Deque[Tuple[Future[Done], Chunk, int]] = deque()
        pool = _make_pool(job, workers)
        try:
            while True:
                # No more is read than workers need next.
                while len(running) < 2 * workers:
                    if not waiting:
                        new = next(chunks, None)
                        if new is None:
                            break
                        waiting.append((new, 0))
                    chunk, tries = waiting[0]
                    # Until it is taken it waits: a pool may break here, too.
                    running.append((pool.submit(_run, chunk), chunk, tries))
                    waiting.popleft()
                if not running:
                    return
                done = running[0][0].result()
                running.popleft()
                yield done
        except BrokenProcessPool:
            # Whose fault it was is not known: the first of them are suspected.
            for place, (_, chunk, tries) in enumerate(running):
                tries += place < workers
                if tries == TRIES:
                    raise ChildProcessError(
                        f"Worker processes died {TRIES} times while they worked on "
                        f"{chunk.items[0].place.file}, from row "
                        f"{chunk.items[0].place.row}: they were killed or had no "
                        "memory left. Try fewer workers. The same command goes on."
                    ) from None
                waiting.append((chunk, tries))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _make_pool(job: Job, workers: int) -> ProcessPoolExecutor:
    # Not forked: torch's threads would be missing in the copies.
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(job.spec, job.output),
    )


def _start(spec: PipelineSpec, output: Output) -> None:
    global _worker
    # Ctrl-C is for the parent, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    try:
        _worker = Worker(spec, output)
    except Exception as error:
        # An error here would be told as the death of a process.
        _worker = error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(chunk: Chunk) -> Done:
    if not isinstance(_worker, Worker):
        raise _worker or RuntimeError("A worker was not started.")
    return _worker.run(chunk)
