"""``extract --engine``: to a folder, in parts, so that it can be interrupted."""

import logging
from enum import Enum
from typing import Any, Dict, List, Optional

import typer
from spacy.util import load_config

from ..jobs import PipelineSpec, make_job, run_local
from ._progress import Progress
from ._run import counted, say


class Engine(str, Enum):
    """What works on a folder of results."""

    local = "local"
    ray = "ray"


def extract_in_parts(
    engine: Engine,
    inputs: List[str],
    output: Optional[Any],
    spec: PipelineSpec,
    workers: int,
    address: Optional[str],
    **options: Any,
) -> None:
    """Begin a job, or go on with it, and say what became of it.

    engine (Engine): What works on it.
    inputs (List[str]): Files, folders, URLs.
    output (Optional[Any]): Folder or URL.
    spec (PipelineSpec): The pipeline.
    workers (int): Processes, or actors; -1 for one on each core.
    address (Optional[str]): Of a Ray cluster; None for one on this machine.
    options (Any): Of `make_job`.
    """
    if output is None:
        raise typer.BadParameter("--engine writes to a folder: give --output.")
    job = make_job(inputs, str(output), spec, **options)
    if job.done:
        say(f"{len(job.done)} parts are there and are not done again.")
    if engine is Engine.ray:
        results = _run_ray(job, workers, address)
    else:
        results = run_local(job, workers)
    parts = rows = failed = 0
    with Progress() as progress:
        for done in results:
            parts += 1
            rows += done.rows
            failed += done.failed
            progress.update(rows + failed)
    what = f"{counted(rows, 'row')} to {counted(parts, 'part')}"
    say(f"Wrote the keyphrases of {what} in {output}.")
    if failed:
        say(f"{failed} rows were set aside, with the reasons: {output}/_failed-*.jsonl")


def make_spec(
    pipeline: Optional[str],
    config: Optional[Any],
    lang: Optional[str],
    top_n: Optional[int],
    min_score: Optional[float],
    gpu_id: Optional[int],
) -> PipelineSpec:
    """The pipeline that options name."""
    if pipeline and config:
        raise typer.BadParameter("give --pipeline or --config, not both.")
    given = {"top_n": top_n, "min_score": min_score}
    settings: Dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    loaded = dict(load_config(config)) if config else None
    return PipelineSpec(pipeline, loaded, lang or "en", settings, gpu_id)


def _run_ray(job: Any, workers: int, address: Optional[str]) -> Any:
    try:
        import ray
    except ImportError:
        message = '--engine ray needs Ray: pip install "spacy-keyphrase[ray]".'
        raise ImportError(message) from None
    from ..ray import run_ray

    on_gpu = job.spec.gpu_id is not None
    settings: Dict[str, Any] = {"address": address}
    if address is None:
        settings = {"include_dashboard": False, "num_cpus": None}
        if workers > 0:
            # As many as are asked for, however many cores there are.
            settings["num_cpus"] = workers
    ray.init(log_to_driver=False, logging_level=logging.ERROR, **settings)
    if workers == -1:
        resources: Dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        workers = max(int(resources.get("GPU" if on_gpu else "CPU", 1)), 1)
    return run_ray(job, workers, gpus_per_worker=float(on_gpu))
