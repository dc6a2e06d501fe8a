"""The workflows of the generator that is shipped and of the selector run from corpus to
package."""

import shutil
from pathlib import Path

import pytest
import spacy
from fresh import needs_entry_points
from small_project import ROOT, make_project, run

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def project(tmp_path_factory, data_dir):
    needs_entry_points()
    return make_project(tmp_path_factory.mktemp("project"), data_dir)


@pytest.mark.slow
def test_the_generator_that_is_shipped(project):
    """Word vectors from an encoder, two stages, weights of 8 bits, a card."""
    settings = ["--vars.english_generator_steps", "4"]
    settings += ["--vars.english_transport_steps", "4"]
    run("english-generator", project, *settings)
    name = "en_keyphrase_generator"
    package = project / "packages" / f"{name}-0.1.0"
    assert "all-MiniLM-L6-v2" in (package / "README.md").read_text("utf8")
    pipeline = package / name / f"{name}-0.1.0"
    whole = project / "training" / "english-transport" / "model-best"
    weights = Path("keyphrase_generator", "model")
    size = (pipeline / weights).stat().st_size
    assert size < 0.35 * (whole / weights).stat().st_size
    pipe = spacy.load(pipeline).get_pipe("keyphrase_generator")
    assert pipe.known_only and pipe.cfg["phrases"] is not None
    config = (pipeline / "config.cfg").read_text("utf8")
    assert "OptimalTransport" in config
    assert str(project) not in config and "corpus/" not in config
    assert "keyphrases" in spacy.load(pipeline)("A graph of words is ranked.").spans


@pytest.mark.slow
def test_a_generator_and_a_selector(project):
    pytest.importorskip("peft")
    generator = "en_keyphrase_generator-0.1.0"
    shipped = ROOT / "models" / generator / "en_keyphrase_generator" / generator
    done = run(
        "selector",
        project,
        "--vars.selector_generator",
        str(shipped),
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
