"""Ray on this machine: workers and the program that runs them are killed, and every row
is there once at the end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

from spacy_keyphrase.jobs import PipelineSpec, make_job, run_local  # noqa: E402
from spacy_keyphrase.ray import KeyphraseMapper, run_ray  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Of Ray itself.
    pytest.mark.filterwarnings("ignore"),
]

TEXT = "Dense retrieval number {} finds passages by their embeddings. "


@pytest.fixture(scope="module")
def cluster():
    # Workers find what is under test where this process does.
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env=environment,
    )
    yield
    ray.shutdown()


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.jsonl"
    rows = [{"id": i, "text": TEXT.format(i) * 20} for i in range(1500)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return str(path)


def ids(folder):
    return [
        json.loads(line)["id"]
        for path in sorted(Path(folder).glob("part-*.jsonl"))
        for line in path.read_text("utf8").splitlines()
    ]


def workers():
    """The processes of actors on this machine, by what they call themselves."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if entry.read_bytes().startswith(b"ray::MapWorker(MapBatches(_Actor))"):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def test_a_worker_is_killed(cluster, many, tmp_path):
    """In a job that was begun without Ray."""
    out = str(tmp_path / "out")
    job = make_job([many], out, PipelineSpec(), rows_per_part=50)
    results = run_local(job)
    done = [next(results) for _ in range(2)]
    results.close()
    job = make_job([many], out, PipelineSpec(), rows_per_part=50)
    results = run_ray(job, workers=2)
    done += [next(results) for _ in range(3)]
    running = workers()
    assert len(running) == 2
    os.kill(running[0], signal.SIGKILL)
    done += list(results)
    assert sorted(part.name for part in done) == [f"000000-{i:05d}" for i in range(30)]
    assert sum(part.rows for part in done) == 1500
    assert ids(tmp_path / "out") == list(range(1500))


def test_mapper(cluster):
    """In a pipeline of somebody's own."""
    rows = [{"id": 1, "title": "Rain", "abstract": "It fell on the old town."}]
    rows += [{"id": 2, "title": None, "abstract": None}]
    dataset = ray.data.from_items(rows).map_batches(
        KeyphraseMapper,
        fn_constructor_kwargs={"columns": ["title", "abstract"]},
        compute=ray.data.ActorPoolStrategy(size=1),
    )
    first, second = sorted(dataset.take_all(), key=lambda row: row["id"])
    assert {"Rain", "old town"} <= {phrase["text"] for phrase in first["keyphrases"]}
    assert first["title"] == "Rain" and first["keyphrases_error"] is None
    assert list(second["keyphrases"]) == []


def test_the_program_is_killed(many, tmp_path):
    """With a Ray of its own, which the command starts, twice."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "spacy", "keyphrase", "extract", many]
    command += ["--engine", "ray", "-o", str(out), "--rows-per-part", "25"]
    process = subprocess.Popen([*command, "--n-process", "2"])
    for _ in range(1200):
        if len(list(out.glob("part-*"))) >= 3:
            break
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert len(list(out.glob("part-*"))) < 60
    done = subprocess.run(
        [*command, "--n-process", "1"], capture_output=True, encoding="utf8"
    )
    assert done.returncode == 0, done.stderr
    assert "are not done again" in done.stderr
    assert ids(out) == list(range(1500))
