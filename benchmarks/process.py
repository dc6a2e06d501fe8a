"""The process that measures: one core, one thread, its memory."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Optional

THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
PACKAGES = (
    "spacy",
    "numpy",
    "yake",
    "rake-nltk",
    "multi-rake",
    "pytextrank",
    "keybert",
    "torch",
    "transformers",
)
_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")


def single_thread() -> None:
    """One thread for every numeric library; call it before they are imported."""
    os.environ.update(dict.fromkeys(THREADS, "1"), TOKENIZERS_PARALLELISM="false")


def single_core() -> None:
    """Keep this process and its children on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def environment() -> Dict[str, Any]:
    """What the figures depend on: processor, Python and the packages."""
    info = _proc("/proc/cpuinfo")
    flags = set(info.get("flags", "").split())
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "processor": info.get("model name") or platform.processor(),
        "flags": [flag for flag in _FLAGS if flag in flags],
        "threads": 1,
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": versions,
    }


def rss_mb() -> Optional[float]:
    """Resident memory now, None where the system does not say."""
    return _megabytes("VmRSS")


def peak_rss_mb() -> Optional[float]:
    """The most memory that this process has held so far."""
    # Not getrusage first: a child starts with its parent's peak there.
    peak = _megabytes("VmHWM")
    if peak is None and sys.platform == "darwin":
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return peak


def in_fresh_process(*arguments: str) -> Dict[str, Any]:
    """Run `child.py` in a process of its own.

    arguments (str): Its command line.
    RETURNS (Dict[str, Any]): Its result.
    """
    script = str(Path(__file__).with_name("child.py"))
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"child.py {' '.join(arguments)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _megabytes(name: str) -> Optional[float]:
    value = _proc("/proc/self/status").get(name)
    return round(int(value.split()[0]) / 1024, 1) if value else None


def _proc(path: str) -> Dict[str, str]:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return {}
    fields: Dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return fields
