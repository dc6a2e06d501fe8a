"""The command line as a real process: entry points, pipes, signals."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Dict, List

import pytest

OURS = [sys.executable, "-m", "spacy_keyphrase"]
ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = "Graph neural networks learn on graphs. Deep models of text number {}."

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes and signals")


def environment() -> Dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def run(command: List[str], **kwargs: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        command, capture_output=True, timeout=120, env=environment(), **kwargs
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    records = [json.dumps({"id": str(i), "text": TEXT.format(i)}) for i in range(3000)]
    path.write_text("\n".join(records))
    return path


def test_through_spacy() -> None:
    groups = entry_points(group="spacy_cli")
    if not any(entry.value == "spacy_keyphrase.cli:app" for entry in groups):
        pytest.skip("the package is not installed")
    command = [sys.executable, "-m", "spacy", "keyphrase", "extract", "-"]
    result = run([*command, "--format", "jsonl"], input=TEXT.encode())
    assert result.returncode == 0, result.stderr
    assert "Graph neural networks" in json.loads(result.stdout)["keyphrases"][0]["text"]
    result = run([*command[:-2], "--help"])
    assert b"Usage: python -m spacy keyphrase" in result.stdout
    for name in ("extract", "evaluate", "convert", "render", "compare", "debug-data"):
        assert name.encode() in result.stdout


def test_module_and_exit_codes(tmp_path: Path) -> None:
    result = run([*OURS, "extract", "-"], input=TEXT.encode())
    assert result.returncode == 0
    assert b"Graph neural networks" in result.stdout
    assert result.stderr == b""
    (tmp_path / "bad.jsonl").write_text("{\n")
    result = run([*OURS, "extract", str(tmp_path / "bad.jsonl")])
    assert (result.returncode, result.stdout) == (1, b"")
    assert b"bad.jsonl:1: not valid JSON" in result.stderr
    assert b"Traceback" not in result.stderr
    assert run([*OURS, "extract", str(tmp_path / "nothing")]).returncode == 2


def test_utf8_whatever_the_locale() -> None:
    environ = {
        **environment(),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "",
    }
    for format in ("table", "jsonl"):
        result = subprocess.run(
            [*OURS, "extract", "-", "--format", format, "--lang", "ru"],
            input="Нейронные сети учатся.".encode(),
            capture_output=True,
            timeout=120,
            env=environ,
        )
        assert result.returncode == 0, result.stderr
        assert "Нейронные сети" in result.stdout.decode("utf8")


@needs_posix
@pytest.mark.parametrize("n_process", ["1", "2"])
def test_a_reader_that_has_had_enough(corpus: Path, n_process: str) -> None:
    command = [*OURS, "extract", str(corpus), "--format", "jsonl"]
    with subprocess.Popen(
        [*command, "--n-process", n_process],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["id"] == "0"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@needs_posix
@pytest.mark.parametrize("n_process", ["1", "2"])
def test_interrupted(tmp_path: Path, n_process: str) -> None:
    """Ctrl-C reaches all processes of the group while input is being waited for."""
    output = tmp_path / "out.jsonl"
    command = [*OURS, "extract", "-", "--input-format", "jsonl", "--format", "jsonl"]
    command += ["--batch-size", "1", "--n-process", n_process, "-o", str(output)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
        # Jobs in the background of a shell ignore Ctrl-C.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        for i in range(50):
            record = {"id": str(i), "text": TEXT.format(i)}
            process.stdin.write(json.dumps(record).encode() + b"\n")
        process.stdin.flush()
        partial = tmp_path / "out.jsonl.partial"
        deadline = time.monotonic() + 60
        while not partial.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.stderr.read().decode()
        assert process.wait(60) == 130
    assert "Interrupted." in errors
    assert "Traceback" not in errors
    assert not output.exists()
    ids = [json.loads(line)["id"] for line in partial.read_text().splitlines()]
    assert len(ids) > 10
    assert ids == [str(i) for i in range(len(ids))]


def test_importing_the_package_leaves_the_command_line() -> None:
    code = "import sys, spacy_keyphrase; print('spacy_keyphrase.cli' in sys.modules)"
    assert run([sys.executable, "-c", code]).stdout.strip() == b"False"
