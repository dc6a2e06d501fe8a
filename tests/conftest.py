"""Where the tests find benchmark data and reference outputs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run; `--hypothesis-profile search` looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("fixed")

SHARED = Path(
    os.environ.get("SPACY_KEYPHRASE_DATA")
    or Path(__file__).resolve().parent.parent.parent / "shared"
)


def _need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not there: set SPACY_KEYPHRASE_DATA")
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Benchmark corpora: <dataset>/<split>.jsonl.gz."""
    return _need(SHARED / "data")


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """Outputs of the public reference code."""
    return _need(SHARED / "fixtures")


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Small real models, among them an English tagger."""
    return _need(SHARED / "models")
