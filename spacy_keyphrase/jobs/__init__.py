"""Keyphrases of any number of rows, to a folder: in parts, so that it can be
interrupted at any time and goes on."""

from .job import Job, JobError, make_job
from .local import run_local
from .worker import Done, PipelineSpec

__all__ = ["Done", "Job", "JobError", "PipelineSpec", "make_job", "run_local"]
