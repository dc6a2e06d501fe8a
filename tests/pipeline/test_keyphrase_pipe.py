"""``keyphrase`` does all that spaCy asks of a component."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import spacy
from same import assert_same
from spacy.training import Example

from spacy_keyphrase import keyphrases_to_json

TEXT = (
    "Graph-based ranking of keyphrases. Keyphrases describe a document. Graph-based "
    "ranking needs no training data, and neural networks do; New York has both."
)


def blank(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config=config)
    return nlp


@pytest.fixture(scope="module", params=["auto", "statistical"])
def nlp(request):
    return blank(method=request.param)


def texts(doc):
    return [phrase.text for phrase in doc._.keyphrases]


def read(docs):
    return [keyphrases_to_json(doc) for doc in docs]


# What it finds


def test_good_keyphrases_with_nothing_to_choose(nlp):
    phrases = nlp(TEXT)._.keyphrases
    assert 0 < len(phrases) <= 10
    assert {p.normal_form for p in phrases[:2]} == {"graph base rank", "keyphras"}
    assert {"neural networks", "New York"} <= {p.text for p in phrases}
    scores = [p.score for p in phrases]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert {p.source for p in phrases} == {"keyphrase"}


def test_every_occurrence_is_a_mention(nlp):
    doc = nlp(TEXT)
    by_form = {p.normal_form: p for p in doc._.keyphrases}
    assert by_form["graph base rank"].offsets == [(0, 19), (67, 86)]
    assert [s.text for s in by_form["keyphras"].spans] == ["keyphrases", "Keyphrases"]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t ", ".", "the of and", "?! ..."])
def test_nothing_to_find(nlp, text):
    doc = nlp(text)
    assert doc._.keyphrases == []
    assert "keyphrases" in doc.spans


def test_a_number_is_no_phrase_by_statistics():
    assert blank(method="statistical")("42")._.keyphrases == []


@pytest.mark.parametrize("text", ["graphs", "Graphs.", "one graph"])
def test_little_to_find(nlp, text):
    assert [p.normal_form for p in nlp(text)._.keyphrases] == ["graph"]


def test_tags_are_used_where_there_are_any(nlp, models_dir):
    tagger = spacy.load(
        models_dir / "en_core_web_sm_v2port", exclude=["parser", "lemmatizer"]
    )
    config = {"top_n": 0, "method": "statistical"}
    tagger.add_pipe("keyphrase", config=config)
    doc = tagger(TEXT)
    assert "training data" in texts(doc)
    for phrase in doc._.keyphrases:
        assert phrase.spans[0][-1].tag_.startswith("NN")
        assert not [t for t in phrase.spans[0] if t.tag_ in ("DT", "VBP", "VBZ", "IN")]


# Its settings


def test_settings():
    assert len(nlp_texts(top_n=3)) == 3
    everything = nlp_texts(top_n=0)
    assert len(everything) > 10
    assert nlp_texts() == everything[:10]
    limit = blank(top_n=0)(TEXT)._.keyphrases[4].score
    assert nlp_texts(top_n=0, min_score=limit) == everything[:5]
    assert set(nlp_texts(top_n=0, subphrases="drop")) < set(everything)
    assert set(nlp_texts(top_n=0, max_similarity=0.3)) < set(everything)


def test_diversity():
    text = "Deep neural networks, recurrent neural networks, tree networks and graphs."
    plain = texts(blank(diversity=0.0)(text))
    diverse = blank(diversity=0.7)(text)._.keyphrases
    assert plain.index("recurrent neural networks") < plain.index("graphs")
    assert [p.text for p in diverse][:2] == [plain[0], "graphs"]
    scores = [p.score for p in diverse]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def nlp_texts(**config):
    return texts(blank(**config)(TEXT))


def test_lower_case():
    """Only the text is in lower case: the mentions are as they stand."""
    doc = blank(case="lower", top_n=0)(TEXT)
    assert texts(doc) == [text.lower() for text in nlp_texts(top_n=0)]
    (york,) = [p for p in doc._.keyphrases if p.text == "new york"]
    assert york.is_present and york.spans[0].text == "New York"


def test_line_breaks_inside_a_phrase_become_spaces(nlp):
    phrases = nlp("We use graph-based\nranking.")._.keyphrases
    spans = {phrase.text: phrase.spans[0].text for phrase in phrases}
    assert spans["graph-based ranking"] == "graph-based\nranking"
    assert not any("\n" in text for text in spans)


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"top_m": 3}, "top_m"),
        ({"top_n": "ten"}, "top_n"),
        ({"top_n": 2.5}, "top_n"),
        ({"top_n": -1}, r"top_n must be 0 \(all\) or more, not -1"),
        ({"min_score": "low"}, "min_score"),
        ({"max_similarity": 1.5}, "max_similarity must be between 0 and 1, not 1.5"),
        ({"diversity": -0.5}, "diversity must be between 0 and 1, not -0.5"),
        ({"subphrases": "some"}, r"subphrases[\s\S]*'some'[\s\S]*'keep', 'drop'"),
        ({"case": "upper"}, r"case[\s\S]*'upper'[\s\S]*'surface', 'lower'"),
        ({"key": "no name"}, "'no name'"),
        ({"scorer": {"@scorers": "nothing.v1"}}, r"nothing\.v1"),
    ],
)
def test_bad_settings_name_the_allowed(settings, message):
    with pytest.raises(ValueError, match=message):
        blank(**settings)


def test_the_name_is_the_source():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", name="first")
    assert {p.source for p in nlp(TEXT)._.keyphrases} == {"first"}


def test_two_in_one_pipeline():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    nlp.add_pipe("keyphrase", name="second", config={"key": "others", "top_n": 2})
    doc = nlp(TEXT)
    assert len(doc._.keyphrases) == 10
    assert [p.source for p in doc._.others] == ["second", "second"]
    assert set(doc.spans) == {"keyphrases", "others"}
    assert nlp.analyze_pipes()["problems"] == {"keyphrase": [], "second": []}


def test_the_last_of_one_key_stands():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", name="first")
    nlp.add_pipe("keyphrase", name="last", config={"top_n": 1})
    assert [p.source for p in nlp(TEXT)._.keyphrases] == ["last"]


# In a pipeline


def test_analysis_and_meta(nlp):
    analysis = nlp.analyze_pipes()
    assert analysis["problems"] == {"keyphrase": []}
    assert analysis["attrs"]["doc._.keyphrases"]["assigns"] == ["keyphrase"]
    weights = nlp.get_factory_meta("keyphrase").default_score_weights
    assert weights["keyphrases_f1@10"] == 1.0
    assert nlp.config["training"]["score_weights"]["keyphrases_f1@10"] == 1.0


def test_selected_pipes(nlp):
    with nlp.select_pipes(disable="keyphrase"):
        assert nlp(TEXT)._.keyphrases == []
    assert nlp(TEXT)._.keyphrases
    assert nlp(TEXT, disable=["keyphrase"])._.keyphrases == []


def test_tuples_keep_their_context(nlp):
    pairs = [(TEXT, {"id": 1}), ("", None), ("Neural networks", 3)]
    out = list(nlp.pipe(pairs, as_tuples=True, batch_size=2))
    assert [context for _, context in out] == [{"id": 1}, None, 3]
    assert_same(read(doc for doc, _ in out), read(nlp.pipe(text for text, _ in pairs)))


def test_docs_are_taken_as_they_are(nlp):
    docs = [nlp.make_doc(TEXT), nlp.make_doc("Neural networks")]
    out = list(nlp.pipe(docs))
    assert all(a is b for a, b in zip(docs, out, strict=True))
    assert texts(docs[1])[0] == "Neural networks"


def test_sourced_and_replaced(nlp):
    other = spacy.blank("en")
    other.add_pipe("keyphrase", source=nlp)
    assert read([other(TEXT)]) == read([nlp(TEXT)])
    other.replace_pipe("keyphrase", "keyphrase", config={"top_n": 1})
    assert len(other(TEXT)._.keyphrases) == 1
    other.remove_pipe("keyphrase")
    assert other(TEXT)._.keyphrases == []


def test_same_alone_in_batches_and_in_any_order(nlp, abstracts):
    alone = read(nlp(text) for text in abstracts)
    assert sum(map(len, alone)) > 9 * len(alone)
    for batch_size in (1, 7, 1000):
        assert_same(read(nlp.pipe(abstracts, batch_size=batch_size)), alone)
    order = list(range(len(abstracts)))
    random.Random(0).shuffle(order)
    shuffled = read(nlp.pipe(abstracts[i] for i in order))
    assert_same([shuffled[order.index(i)] for i in range(len(order))], alone)


def test_same_in_threads(abstracts):
    """Snowball stemmers keep their word in the object."""
    nlp = spacy.blank("de")
    nlp.add_pipe("keyphrase")
    with ThreadPoolExecutor(4) as pool:
        assert read(pool.map(nlp, abstracts[:50])) == read(nlp.pipe(abstracts[:50]))


def test_evaluation(nlp):
    examples = []
    for text, gold in [
        (TEXT, ["keyphrases", "graph-based ranking", "deep learning"]),
        ("Neural networks", ["neural network"]),
        ("Not annotated", None),
    ]:
        reference = nlp.make_doc(text)
        if gold is not None:
            reference._.keyphrases = gold
        examples.append(Example(nlp.make_doc(text), reference))
    scores = nlp.evaluate(examples)
    # All of the present ones are found, one of three is absent.
    assert scores["keyphrases_r@10"] == pytest.approx((2 / 3 + 1) / 2)
    assert 0 < scores["keyphrases_f1@10"] < 1
    assert scores["spans_keyphrases_r"] == 1.0


def test_memory_zone(nlp, abstracts):
    before = read(nlp.pipe(abstracts[:20]))
    size = len(nlp.vocab.strings)
    with nlp.memory_zone():
        inside = read(nlp.pipe(abstracts[:20]))
        new = read([nlp("Zyxwvutish neural qwertzuiops beat zyxwvutish graphs.")])
    assert inside == before
    assert len(nlp.vocab.strings) == size
    # What was learnt of words inside a zone holds after it.
    assert read(nlp.pipe(abstracts[:20])) == before
    assert read([nlp("Zyxwvutish neural qwertzuiops beat zyxwvutish graphs.")]) == new
