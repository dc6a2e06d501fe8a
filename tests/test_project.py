"""The project runs from corpus to scores."""

import gzip
import json
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from fresh import needs_entry_points

ROOT = Path(__file__).resolve().parent.parent


def shorten(source, target, limit):
    with gzip.open(source, "rb") as lines, gzip.open(target / source.name, "wb") as f:
        f.writelines(islice(lines, limit))


@pytest.mark.slow
def test_project_runs(tmp_path, data_dir):
    needs_entry_points()
    shutil.copy(ROOT / "project.yml", tmp_path)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    command = [sys.executable, "-m", "spacy", "project", "run", "all", str(tmp_path)]
    corpus = tmp_path / "data" / "inspec"
    corpus.mkdir(parents=True)
    for split, limit in (("train", 200), ("valid", 30), ("test", 30)):
        shorten(data_dir / "inspec" / f"{split}.jsonl.gz", corpus, limit)
    command += ["--vars.data", "data", "--vars.steps", "100", "--vars.build", "none"]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Recall of present keyphrases" in done.stdout
    scores = json.loads((tmp_path / "metrics" / "test.json").read_text("utf8"))
    # Chance is about 0.05; the default component, which never saw the corpus, has 0.35.
    assert scores["keyphrases_f1@10"] > 0.2
    package = tmp_path / "packages" / "en_keyphrases-0.0.1"
    requirements = json.loads((package / "meta.json").read_text("utf8"))["requirements"]
    assert any(name.startswith("spacy-keyphrase") for name in requirements)
