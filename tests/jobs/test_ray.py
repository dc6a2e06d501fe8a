"""Ray on this machine: workers and the program that runs them are killed, and every row
is there once at the end."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray.data")
pyarrow = pytest.importorskip("pyarrow")

from spacy_keyphrase.ray import KeyphraseMapper  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Of Ray itself.
    pytest.mark.filterwarnings("ignore"),
]

TEXT = "Dense retrieval number {} finds passages by their embeddings. "

# Ray's threads must not be in a process that is forked later, as this one is.
START = """
import logging, os, signal, sys, time
from pathlib import Path
import ray, ray.data
from spacy_keyphrase.jobs import PipelineSpec, make_job, run_local
from spacy_keyphrase.ray import KeyphraseMapper, run_ray

ray.init(
    num_cpus=2,
    include_dashboard=False,
    log_to_driver=False,
    logging_level=logging.ERROR,
    runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}},
)
"""


def run_program(text, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", START + text, *arguments],
        capture_output=True,
        encoding="utf8",
    )
    assert done.returncode == 0, done.stderr
    # Ray writes there, too.
    lines = done.stdout.splitlines()
    return json.loads(next(line for line in lines if line.startswith("[")))


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.jsonl"
    rows = [{"id": i, "text": TEXT.format(i) * 20} for i in range(1000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return str(path)


def ids(folder):
    return [
        json.loads(line)["id"]
        for path in sorted(Path(folder).glob("part-*.jsonl"))
        for line in path.read_text("utf8").splitlines()
    ]


KILL = """
import json

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])

def workers():
    "Of this Ray: its raylet is a child of this process."
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        pid = int(entry.parent.name)
        try:
            if entry.read_bytes().startswith(b"ray::MapWorker(MapBatches(_Actor))"):
                if parent(parent(pid)) == os.getpid():
                    found.append(pid)
        except OSError:
            continue
    return found

corpus, output = sys.argv[1:]
job = make_job([corpus], output, PipelineSpec(), rows_per_part=50)
results = run_local(job)
done = [next(results) for _ in range(2)]
results.close()
job = make_job([corpus], output, PipelineSpec(), rows_per_part=50)
results = run_ray(job, workers=2)
done += [next(results) for _ in range(3)]
own = workers()
os.kill(min(own), signal.SIGKILL)
done += list(results)
print(json.dumps([len(own), sorted(part.name for part in done)]))
"""


def test_a_worker_is_killed(many, tmp_path):
    """In a job that was begun without Ray."""
    out = tmp_path / "out"
    running, parts = run_program(KILL, many, str(out))
    assert running == 2
    assert parts == [f"000000-{i:05d}" for i in range(20)]
    assert ids(out) == list(range(1000))


MAP = """
import json

rows = [{"id": 1, "title": "Rain", "abstract": "It fell on the old town."}]
rows += [{"id": 2, "title": None, "abstract": None}]
dataset = ray.data.from_items(rows).map_batches(
    KeyphraseMapper,
    fn_constructor_kwargs={"columns": ["title", "abstract"]},
    batch_format="pyarrow",
    compute=ray.data.ActorPoolStrategy(size=1),
)
print(json.dumps(sorted(dataset.take_all(), key=lambda row: row["id"])))
"""


def test_mapper():
    """In a pipeline of somebody's own."""
    first, second = run_program(MAP)
    assert {"Rain", "old town"} <= {phrase["text"] for phrase in first["keyphrases"]}
    assert first["title"] == "Rain" and first["keyphrases_error"] is None
    assert second["keyphrases"] == [] and second["keyphrases_error"] is None


def test_mapper_refuses_what_it_cannot_read():
    mapper = KeyphraseMapper(["text"])
    with pytest.raises(TypeError, match="batch_format"):
        mapper({"text": ["a"]})
    with pytest.raises(KeyError, match="there are body"):
        mapper(pyarrow.table({"body": ["a"]}))
    table = mapper(pyarrow.table({"text": pyarrow.array([1])}))
    assert table["keyphrases"].to_pylist() == [None]
    assert table["keyphrases_error"].to_pylist() == [
        "'text' is no text, but of type int"
    ]


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
    assert len(list(out.glob("part-*"))) < 40
    done = subprocess.run(
        [*command, "--n-process", "1"], capture_output=True, encoding="utf8"
    )
    assert done.returncode == 0, done.stderr
    assert "are not done again" in done.stderr
    assert ids(out) == list(range(1000))
