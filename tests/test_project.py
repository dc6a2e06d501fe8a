"""The project runs from corpus to scores."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fresh import needs_entry_points

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_project_runs(tmp_path, data_dir):
    needs_entry_points()
    shutil.copy(ROOT / "project.yml", tmp_path)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    command = [sys.executable, "-m", "spacy", "project", "run", "all", str(tmp_path)]
    command += ["--vars.data", str(data_dir)]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Recall of present keyphrases" in done.stdout
    scores = json.loads((tmp_path / "metrics" / "dev.json").read_text("utf8"))
    assert scores["keyphrases_f1@10"] > 0.3
