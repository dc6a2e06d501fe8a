"""The project with a few documents, whose workflows take seconds."""

import gzip
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shorten(source, target, limit):
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rb") as lines, gzip.open(target, "wb") as output:
        output.writelines(islice(lines, limit))


def make_project(folder, data_dir):
    """Copy the project to a folder, with the first documents of its corpora."""
    shutil.copy(ROOT / "project.yml", folder)
    for name in ("configs", "scripts", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    for name, limit in (
        ("acmdl/train", 60),
        ("acmdl/valid", 60),
        ("stackexchange/valid", 200),
    ):
        source = f"{name}.jsonl.gz"
        shorten(data_dir / source, folder / "data" / source, limit)
    # Three hundred documents of development are evaluated twice: fewer are enough.
    text = (folder / "project.yml").read_text("utf8")
    for option in ("--limit", "--skip"):
        text = text.replace(f"{option} 300", f"{option} 20")
    (folder / "project.yml").write_text(text, encoding="utf8")
    return folder


def run(workflow, project, *settings):
    """Run a workflow of a project to its end."""
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, str(project)]
    command += ["--vars.data", "data", *settings]
    command += ["--vars.build", "none", "--vars.generator_docs", "60"]
    for name in ("one2set", "pusl", "selector", "unikeyphrase"):
        command += [f"--vars.{name}_eval", "2", f"--vars.{name}_warmup", "1"]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done
