"""Jobs on this machine: interrupted anywhere, every row is there once at the end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy

from spacy_keyphrase.jobs import JobError, PipelineSpec, make_job, run_local
from spacy_keyphrase.keyphrase import get_keyphrases

TEXTS = [
    f"Dense retrieval number {i} finds passages by their embeddings." for i in range(40)
]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return str(path)


def read_output(folder, pattern="part-*.jsonl"):
    return [
        json.loads(line)
        for path in sorted(Path(folder).glob(pattern))
        for line in path.read_text("utf8").splitlines()
    ]


@pytest.fixture
def corpus(tmp_path):
    rows = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]
    return write_lines(tmp_path / "in.jsonl", rows)


def run(inputs, output, workers=1, **options):
    options = {"rows_per_part": 7, **options}
    spec = options.pop("spec", PipelineSpec(settings={"top_n": 3}))
    job = make_job([inputs], str(output), spec, **options)
    return list(run_local(job, workers))


def test_columns_stay_and_keyphrases_are_those_of_the_pipeline(corpus, tmp_path):
    done = run(corpus, tmp_path / "out")
    assert [part.rows for part in done] == [7] * 5 + [5]
    rows = read_output(tmp_path / "out")
    assert [row["id"] for row in rows] == list(range(40))
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config={"top_n": 3})
    for row, doc in zip(rows, nlp.pipe(TEXTS)):
        assert row["text"] == doc.text
        expected = [k.to_dict() for k in get_keyphrases(doc)]
        for found, wanted in zip(row["keyphrases"], expected, strict=True):
            # Batches are other ones: the last bits of scores may be, too.
            assert found.pop("score") == pytest.approx(wanted.pop("score"), abs=1e-5)
            del found["mention_scores"], wanted["mention_scores"]
            assert found == wanted


def test_what_is_done_is_not_done_again(corpus, tmp_path):
    out = tmp_path / "out"
    job = make_job([corpus], str(out), PipelineSpec(), rows_per_part=7)
    results = run_local(job)
    next(results), next(results)
    results.close()
    before = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert len(before) == 2
    assert len(run(corpus, out, spec=PipelineSpec())) == 4
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    assert [row["id"] for row in read_output(out)] == list(range(40))
    assert run(corpus, out, spec=PipelineSpec()) == []


def test_failed_rows_are_set_aside(tmp_path):
    rows = [{"text": "Dense retrieval."}, {"text": 3}, {"text": None}, {"other": "x"}]
    rows += [{"text": ["a"]}, {"text": "\ud800"}, {"text": ""}]
    corpus = write_lines(tmp_path / "in.jsonl", rows)
    with open(corpus, "a") as file:
        file.write("{broken\n")
    (done,) = run(corpus, tmp_path / "out", rows_per_part=100)
    assert (done.rows, done.failed) == (3, 5)
    written = read_output(tmp_path / "out")
    assert [len(row["keyphrases"]) > 0 for row in written] == [True, False, False]
    failed = read_output(tmp_path / "out", "_failed-*.jsonl")
    reasons = [row["error"] for row in failed]
    assert reasons[:3] == [
        "'text' is no text, but of type int",
        "no column text",
        "'text' is no text, but of type list",
    ]
    assert reasons[3].startswith("not valid Unicode")
    assert reasons[4].startswith("not valid JSON") and failed[4]["raw"] == "{broken"
    assert failed[0]["record"] == {"text": 3} and failed[0]["file"] == corpus


def test_one_that_fails_does_not_take_others_along(corpus, tmp_path):
    @spacy.Language.component("fails_at_nine", assigns=["doc._.keyphrases"])
    def fails(doc):
        if " 9 " in doc.text:
            raise RuntimeError("no nines")
        return doc

    config = {"nlp": {"lang": "en", "pipeline": ["it"]}}
    config["components"] = {"it": {"factory": "fails_at_nine"}}
    done = run(corpus, tmp_path / "out", spec=PipelineSpec(config=config))
    assert sum(part.rows for part in done) == 39
    (failed,) = read_output(tmp_path / "out", "_failed-*.jsonl")
    assert "no nines" in failed["error"] and failed["record"]["id"] == 9


def test_parquet(corpus, tmp_path):
    """Types stay; JSON can become Parquet, and Parquet JSON."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "in.parquet"
    number = pa.array(range(40), pa.int8())
    table = pa.table({"n": number, "title": ["Title"] * 40, "abstract": TEXTS})
    parquet.write_table(table, path, row_group_size=25)
    run(str(path), tmp_path / "a")
    result = parquet.read_table(tmp_path / "a")
    assert result.schema.field("n").type == pa.int8()
    assert result.drop_columns(["keyphrases"]) == table
    (best, *_), *_ = result["keyphrases"].to_pylist()
    assert best["text"] and best["offsets"] and best["is_present"]
    run(str(path), tmp_path / "b", format="jsonl")
    assert [row["n"] for row in read_output(tmp_path / "b")] == list(range(40))
    run(corpus, tmp_path / "c", format="parquet")
    assert parquet.read_table(tmp_path / "c")["id"].to_pylist() == list(range(40))


def test_other_types_than_in_the_first_rows(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from spacy_keyphrase.jobs import job

    monkeypatch.setattr(job, "FIRST", 2)
    rows = [{"text": "a", "n": 1}] * 2 + [
        {"text": "b", "n": "x"},
        {"text": "c", "m": 1},
    ]
    corpus = write_lines(tmp_path / "in.jsonl", [*rows, {"text": "d", "n": None}])
    (done,) = run(corpus, tmp_path / "out", format="parquet")
    assert (done.rows, done.failed) == (3, 2)
    table = parquet.read_table(next((tmp_path / "out").glob("*.parquet")))
    assert table["n"].to_pylist() == [1, 1, None]
    other, new = read_output(tmp_path / "out", "_failed-*.jsonl")
    assert "another type" in other["error"] and "['m']" in new["error"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows_per_part": 8}, "its rows_per_part was 7, and is 8"),
        ({"spec": PipelineSpec(settings={"top_n": 4})}, "its pipeline was .*3.*is .*4"),
        ({"spec": PipelineSpec(lang="de")}, "its pipeline was .*en.*is .*de"),
        ({"column": "phrases"}, "its column was"),
    ],
)
def test_the_output_of_another_job_is_left_alone(corpus, tmp_path, change, message):
    run(corpus, tmp_path / "out")
    with pytest.raises(JobError, match=message):
        run(corpus, tmp_path / "out", **change)


def test_the_same_name_is_not_the_same_pipeline(corpus, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    spec = PipelineSpec(str(tmp_path / "model"))
    nlp.to_disk(tmp_path / "model")
    run(corpus, tmp_path / "out", spec=spec)
    nlp.meta["version"] = "9.9"
    nlp.to_disk(tmp_path / "model")
    with pytest.raises(JobError, match="its pipeline was"):
        run(corpus, tmp_path / "out", spec=spec)


def test_wrong_settings(corpus, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("")
    with pytest.raises(JobError, match="is not empty and not the output of a job"):
        run(corpus, other)
    with pytest.raises(ValueError, match="no column 'body'; it has id, text"):
        run(corpus, tmp_path / "out", columns=["body"])
    with pytest.raises(ValueError, match="has a column 'id'"):
        run(corpus, tmp_path / "out", column="id")
    with pytest.raises(ValueError, match="neither a number of workers nor -1"):
        run(corpus, tmp_path / "out", workers=0)


def test_another_column_on_the_command_line(corpus, tmp_path):
    command = [sys.executable, "-m", "spacy", "keyphrase", "extract", corpus]
    command += ["--engine", "local", "-o", str(tmp_path / "out"), "--column", "found"]
    subprocess.run(command, check=True)
    rows = list(read_output(tmp_path / "out"))
    assert rows[0]["found"] and "keyphrases" not in rows[0]
    done = subprocess.run(
        [*command[:-1], "id"], capture_output=True, encoding="utf8", check=False
    )
    assert done.returncode == 1 and "column 'id'" in done.stderr


def test_a_full_disk(corpus, tmp_path):
    """Here a limit of the size of files: an error, no half file, and it goes on."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "from spacy_keyphrase.cli import main\nmain()\n"
    )
    out = tmp_path / "out"
    options = ["extract", corpus, "--engine", "local", "-o", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", program, *options, "--rows-per-part", "20"],
        capture_output=True,
        encoding="utf8",
    )
    assert done.returncode == 1 and "File too large" in done.stderr
    assert [path.name for path in out.iterdir()] == ["_job.json"]
    command = [sys.executable, "-m", "spacy", "keyphrase", *options]
    subprocess.run([*command, "--rows-per-part", "20"], check=True)
    assert [row["id"] for row in read_output(out)] == list(range(40))


@pytest.fixture
def many(tmp_path):
    rows = [{"id": i, "text": TEXTS[i % 40] * 20} for i in range(900)]
    return write_lines(tmp_path / "many.jsonl", rows)


def start(many, out, workers):
    command = [sys.executable, "-m", "spacy", "keyphrase", "extract", many]
    command += ["--engine", "local", "-o", str(out), "--rows-per-part", "25"]
    # Of what runs in the background SIGINT may be ignored, and children inherit that.
    return subprocess.Popen(
        [*command, "--n-process", str(workers)],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_parts(out, n, process):
    for _ in range(600):
        if len(list(Path(out).glob("part-*"))) >= n:
            return
        assert process.poll() is None
        time.sleep(0.05)
    raise TimeoutError


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed(many, tmp_path, number):
    out = tmp_path / "out"
    process = start(many, out, 1)
    wait_for_parts(out, 3, process)
    process.send_signal(number)
    code = process.wait(60)
    assert code in (-9, 130)
    n = len(list(out.glob("part-*")))
    assert 3 <= n < 36
    assert start(many, out, 1).wait(300) == 0
    assert [row["id"] for row in read_output(out)] == list(range(900))


def children_of(process):
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not path.exists():
        process.kill()
        pytest.skip("needs /proc")
    return [int(number) for number in path.read_text().split()]


@pytest.mark.slow
def test_workers_end_with_their_parent(many, tmp_path):
    out = tmp_path / "out"
    process = start(many, out, 2)
    wait_for_parts(out, 1, process)
    children = children_of(process)
    assert len(children) >= 2
    process.kill()
    process.wait(60)
    for _ in range(200):
        if not any(Path(f"/proc/{child}").exists() for child in children):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert start(many, out, 2).wait(300) == 0
    assert [row["id"] for row in read_output(out)] == list(range(900))


@pytest.mark.slow
def test_a_pipeline_that_workers_cannot_load(corpus, tmp_path):
    with pytest.raises(OSError, match="no_such_pipeline"):
        run(corpus, tmp_path / "out", 2, spec=PipelineSpec("no_such_pipeline"))


def test_urls(corpus):
    """By a file system that is none of the machine's."""
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/jobs/in/a.jsonl", Path(corpus).read_bytes())
    assert len(run("memory://jobs/in", "memory://jobs/out")) == 6
    assert run("memory://jobs/in", "memory://jobs/out") == []
    lines = [
        line
        for name in sorted(memory.glob("/jobs/out/part-*"))
        for line in memory.cat(name).decode().splitlines()
    ]
    assert [json.loads(line)["id"] for line in lines] == list(range(40))


@pytest.mark.slow
def test_a_worker_is_killed(many, tmp_path):
    out = tmp_path / "out"
    process = start(many, out, 2)
    wait_for_parts(out, 3, process)
    # The last one is a worker; multiprocessing's tracker of resources is the first.
    os.kill(children_of(process)[-1], signal.SIGKILL)
    assert process.wait(300) == 0
    assert [row["id"] for row in read_output(out)] == list(range(900))
