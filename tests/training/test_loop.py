"""Training that was interrupted ends as if it had not been."""

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_spacy
from spacy.util import load_config
from thinc.api import NumpyOps, use_ops

from spacy_keyphrase.training.checkpoint import CHECKPOINT, find_checkpoint
from spacy_keyphrase.training.loop import LOG, Stopped, train

CONFIG = Path(__file__).resolve().parent.parent.parent / "configs/jointkpe_cnn.cfg"
SUBJECTS = ["graph networks", "protein folding", "query logs", "tax law"]
METHODS = ["kernel methods", "regression", "deep learning", "surveys"]
LINES = [
    {
        "id": f"{subject}-{method}",
        "title": "",
        "text": f"Much is known. This paper studies {subject} with {method}.",
        "keyphrases": [subject, method],
    }
    for subject in SUBJECTS
    for method in METHODS
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    srsly.write_jsonl(path, LINES)
    return path


@pytest.fixture
def make_config(corpus):
    def make(**changes):
        overrides = {
            "paths.train": str(corpus),
            "paths.dev": str(corpus),
            "corpora.train.shuffle_buffer": 5,
            "training.batcher.size": 40,
            "training.max_steps": 11,
            "training.eval_frequency": 3,
            "training.accumulate_gradient": 2,
            "training.dropout": 0.2,
            "training.logger.progress_bar": None,
            "training.optimizer.use_averages": True,
            **{name.replace("__", "."): value for name, value in changes.items()},
        }
        return load_config(CONFIG, overrides=overrides, interpolate=False)

    return make


def run(config, output, **settings):
    return train(config, output, stdout=StringIO(), stderr=StringIO(), **settings)


def weights(folder):
    return (folder / "keyphrase_extractor" / "model").read_bytes()


def log(output):
    lines = srsly.read_jsonl(output / LOG)
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def test_that_of_spacy(make_config, tmp_path):
    config = make_config()
    (tmp_path / "theirs").mkdir()
    with use_ops("numpy"):
        train_spacy(init_nlp(config), tmp_path / "theirs", stdout=StringIO())
        last = run(config, tmp_path / "ours")
    for name in ("model-best", "model-last"):
        assert weights(tmp_path / "ours" / name) == weights(tmp_path / "theirs" / name)
    nlp, reference = spacy.load(last), spacy.load(tmp_path / "theirs" / "model-last")
    assert nlp.meta["performance"] == reference.meta["performance"]
    steps = [line["step"] for line in log(tmp_path / "ours")]
    assert steps == [0, 3, 6, 9]
    assert not find_checkpoint(tmp_path / "ours")


class Crash(Exception):
    pass


@pytest.mark.parametrize("step", [1, 4, 8])
@pytest.mark.parametrize(
    "changes", [{}, {"training__max_epochs": 40}], ids=["stream", ""]
)
def test_after_a_crash(step, changes, make_config, tmp_path, monkeypatch):
    config = make_config(**changes)
    whole = run(config, tmp_path / "whole")
    done = []
    update = spacy.Language.update

    def crash(nlp, *args, **kwargs):
        done.append(1)
        if len(done) > 2 * step:
            raise Crash
        return update(nlp, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(spacy.Language, "update", crash)
        with pytest.raises(Crash):
            run(config, tmp_path / "parts")
    parts = run(config, tmp_path / "parts", resume=True)
    assert weights(parts) == weights(whole)
    assert weights(parts.parent / "model-best") == weights(whole.parent / "model-best")
    assert log(tmp_path / "parts") == log(tmp_path / "whole")
    assert not find_checkpoint(tmp_path / "parts")


COMMAND = [sys.executable, "-m", "spacy", "keyphrase", "train"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process(number, corpus, make_config, tmp_path):
    """The process ends at any moment, is resumed, and is killed again."""
    config = tmp_path / "config.cfg"
    changes = {"training__max_steps": 80, "training__eval_frequency": 25}
    make_config(**changes).to_disk(config)
    assert run_command(config, tmp_path / "whole").wait() == 0
    for wait in (14, 42):
        process = run_command(
            config, tmp_path / "parts", "--resume", "--checkpoint-every", "7"
        )
        wait_for_step(tmp_path / "parts", wait, process)
        process.send_signal(number)
        code = process.wait()
        assert code == (130 if number == signal.SIGTERM else -number)
        assert find_checkpoint(tmp_path / "parts")
    assert run_command(config, tmp_path / "parts", "--resume").wait() == 0
    for name in ("model-best", "model-last"):
        parts, whole = tmp_path / "parts" / name, tmp_path / "whole" / name
        assert weights(parts) == weights(whole)


def run_command(config, output, *options):
    return subprocess.Popen(
        [*COMMAND, str(config), "--output", str(output), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def wait_for_step(output, step, process):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, "it ended before it was killed"
        checkpoint = find_checkpoint(output)
        try:
            state = json.loads((checkpoint / "state.json").read_text())
            if state["progress"]["step"] >= step:
                return
        except (FileNotFoundError, TypeError):
            pass  # there is none yet, or it is just being replaced
        time.sleep(0.02)
    raise AssertionError(f"no checkpoint at step {step}")


def test_stopped_by_ctrl_c(make_config, tmp_path, monkeypatch):
    """The step under way is done and saved."""
    config = make_config()
    update, done = spacy.Language.update, []

    def interrupt(nlp, *args, **kwargs):
        done.append(1)
        if len(done) == 9:
            os.kill(os.getpid(), signal.SIGINT)
        return update(nlp, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(spacy.Language, "update", interrupt)
        with pytest.raises(Stopped, match=r"after step \d\."):
            run(config, tmp_path / "parts")
    whole = run(config, tmp_path / "whole")
    assert weights(run(config, tmp_path / "parts", resume=True)) == weights(whole)


def test_killed_between_renamings(make_config, tmp_path, monkeypatch):
    config = make_config()
    stop_after(5, config, tmp_path / "run", monkeypatch)
    checkpoint = tmp_path / "run" / CHECKPOINT
    checkpoint.rename(tmp_path / "run" / f"{CHECKPOINT}.old")
    (tmp_path / "run" / f"{CHECKPOINT}.new").mkdir()
    last = run(config, tmp_path / "run", resume=True)
    assert weights(last) == weights(run(config, tmp_path / "whole"))


def stop_after(step, config, output, monkeypatch):
    done, update = [], spacy.Language.update

    def stop(nlp, *args, **kwargs):
        done.append(1)
        if len(done) == 2 * step:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(nlp, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(spacy.Language, "update", stop)
        with pytest.raises(Stopped):
            run(config, output)


def test_another_config(make_config, tmp_path, monkeypatch):
    stop_after(3, make_config(), tmp_path / "run", monkeypatch)
    other = make_config(components__keyphrase_extractor__model__hidden_size=64)
    with pytest.raises(ValueError, match=r"model\.hidden_size differs"):
        run(other, tmp_path / "run", resume=True)
    # It may go on for longer, at the rates of the longer schedule.
    run(make_config(training__max_steps=15), tmp_path / "run", resume=True)
    assert log(tmp_path / "run")[-1]["step"] == 15
    # Without --resume the folder is begun anew.
    run(other, tmp_path / "run")
    assert not find_checkpoint(tmp_path / "run")


def test_a_component_of_another_pipeline(make_config, tmp_path, monkeypatch):
    run(make_config(training__max_steps=2), tmp_path / "first")
    config = make_config()
    source = {"source": str(tmp_path / "first" / "model-last")}
    config["components"] = {"keyphrase_extractor": source}
    run(config, tmp_path / "whole")
    stop_after(5, config, tmp_path / "parts", monkeypatch)
    run(config, tmp_path / "parts", resume=True)
    assert weights(tmp_path / "parts" / "model-last") == weights(
        tmp_path / "whole" / "model-last"
    )


def test_nothing_to_resume(make_config, tmp_path):
    config = make_config(training__max_steps=2)
    last = run(config, tmp_path / "run", resume=True)
    assert weights(last) == weights(run(config, tmp_path / "whole"))


def test_ops():
    """The command trains with numpy's matrix multiplication."""
    from thinc.api import get_current_ops

    from spacy_keyphrase.models.blas import use_fast_blas

    with use_ops("numpy"):
        use_fast_blas()
        ops = get_current_ops()
        assert isinstance(ops, NumpyOps) and not ops.use_blis
