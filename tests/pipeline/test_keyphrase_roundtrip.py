"""Pipelines with ``keyphrase`` on disk, in configs and in other processes."""

import json

import pytest
import spacy
from confection import Config
from fresh import run_python
from same import assert_same
from spacy.cli.init_config import fill_config
from spacy.lang.en import English
from spacy.util import load_config

from spacy_keyphrase import keyphrases_to_json

TEXT = "Graph-based ranking of keyphrases needs no training data. New York has graphs."
SETTINGS = {
    "top_n": 5,
    "min_score": 0.01,
    "max_similarity": 0.9,
    "diversity": 0.25,
    "subphrases": "drop",
    "case": "lower",
}


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    return nlp


def read(docs):
    return [keyphrases_to_json(doc) for doc in docs]


def test_same_in_two_processes_and_when_loaded_anew(nlp, abstracts, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "texts.json").write_text(json.dumps(abstracts), encoding="utf8")
    code = """
import json, pathlib, sys
import spacy
assert "spacy_keyphrase" not in sys.modules
nlp = spacy.load("pipeline")
from spacy_keyphrase import keyphrases_to_json
texts = json.loads(pathlib.Path("texts.json").read_text(encoding="utf8"))
texts = [(text, i) for i, text in enumerate(texts)]
out = list(nlp.pipe(texts, as_tuples=True, n_process=2, batch_size=16))
assert [context for _, context in out] == list(range(len(texts)))
data = json.dumps([keyphrases_to_json(doc) for doc, _ in out])
pathlib.Path("out.json").write_text(data, encoding="utf8")
"""
    run_python(code, cwd=tmp_path)
    out = json.loads((tmp_path / "out.json").read_text(encoding="utf8"))
    assert_same(out, read(nlp.pipe(abstracts)))


def test_round_trips_in_a_fresh_process(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("keyphrase", name="mine", config=SETTINGS)
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "bytes").write_bytes(nlp.to_bytes())
    code = """
import json, pathlib, sys
import spacy
from spacy.util import get_lang_class, load_config
assert "spacy_keyphrase" not in sys.modules
disk = spacy.load("pipeline")
config = load_config("pipeline/config.cfg")
data = get_lang_class("en").from_config(config)
data.from_bytes(pathlib.Path("bytes").read_bytes())
for nlp in (disk, data):
    assert nlp.pipe_names == ["sentencizer", "mine"]
    print(json.dumps([p.to_dict() for p in nlp(sys.argv[1])._.keyphrases]))
"""
    first, second = run_python(code, TEXT, cwd=tmp_path).splitlines()
    assert json.loads(first) == json.loads(second) == read([nlp(TEXT)])[0]


def test_config_round_trip():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config=SETTINGS)
    again = English.from_config(nlp.config)
    assert again.config == nlp.config
    settings = nlp.config["components"]["keyphrase"]
    assert settings.items() >= SETTINGS.items()
    assert settings["key"] == "keyphrases"
    assert settings["scorer"]["@scorers"] == "spacy_keyphrase.scorer.v1"
    assert read([again(TEXT)]) == read([nlp(TEXT)])


BASE = """
[nlp]
lang = "en"
pipeline = ["keyphrase"]

[components]

[components.keyphrase]
factory = "keyphrase"
top_n = 3
"""


def test_a_short_config_is_filled(tmp_path):
    (tmp_path / "base.cfg").write_text(BASE, encoding="utf8")
    nlp = English.from_config(load_config(tmp_path / "base.cfg"))
    filled = Config().from_str(nlp.config.to_str())["components"]["keyphrase"]
    assert (filled["top_n"], filled["subphrases"]) == (3, "keep")
    assert len(nlp(TEXT)._.keyphrases) == 3
    # As `spacy init fill-config` does it.
    fill_config(tmp_path / "full.cfg", tmp_path / "base.cfg")
    assert load_config(tmp_path / "full.cfg")["components"]["keyphrase"] == filled
