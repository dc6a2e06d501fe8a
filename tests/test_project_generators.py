"""The generators' workflows run from corpus to package."""

import pytest
import spacy
from fresh import needs_entry_points
from small_project import make_project, run

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def project(tmp_path_factory, data_dir):
    needs_entry_points()
    return make_project(tmp_path_factory.mktemp("project"), data_dir)


@pytest.mark.slow
@pytest.mark.parametrize("workflow", ["one2set", "unikeyphrase", "pusl"])
def test_a_workflow(workflow, project):
    trained = ("one2set", "pusl", "pusl_post", "unikeyphrase")
    few = [word for name in trained for word in (f"--vars.{name}_steps", "4")]
    done = run(workflow, project, *few)
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
