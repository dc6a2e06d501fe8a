"""Real texts for the components."""

import gzip
import json

import pytest


@pytest.fixture(scope="session")
def abstracts(data_dir):
    with gzip.open(data_dir / "inspec" / "test.jsonl.gz", "rt", encoding="utf8") as f:
        return [json.loads(line)["text"] for line in f][:200]
