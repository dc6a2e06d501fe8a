"""``keyphrase_ranker``: any candidates, any ranker, and errors in either."""

from inspect import signature

import catalogue
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import raise_error

from spacy_keyphrase import keyphrases_to_json
from spacy_keyphrase.candidates import make_chunks, make_phrase_list
from spacy_keyphrase.pipeline.ranker import KeyphraseRanker
from spacy_keyphrase.rankers import Scores, make_statistical
from spacy_keyphrase.registry import get_registered, registry
from spacy_keyphrase.selection import Selection

# Those that read with a language model are tested in tests/lm.
RANKERS = sorted(
    name
    for name, make in get_registered("keyphrase_rankers").items()
    if name.startswith("spacy_keyphrase.") and "model" not in signature(make).parameters
)
TEXTS = [
    "Neural networks learn from graphs.",
    "A bad document about graphs.",
    "",
    "Keyphrases of good documents.",
]


def blank(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_ranker", config=config)
    return nlp


def texts(doc):
    return [phrase.text for phrase in doc._.keyphrases]


def read(docs):
    return [keyphrases_to_json(doc) for doc in docs]


def by_length(docs, candidates):
    """The longer, the better."""
    return [Scores([len(c.form) / 100 for c in phrases]) for phrases in candidates]


def with_ranker(ranker, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_ranker", config=settings)
    nlp.get_pipe("keyphrase_ranker").ranker = ranker
    return nlp


# Candidates and rankers by config


def test_defaults():
    doc = blank()("Neural networks learn, and deep neural networks learn from graphs.")
    assert {"Neural networks", "graphs"} <= set(texts(doc))
    assert {p.source for p in doc._.keyphrases} == {"keyphrase_ranker"}


def test_candidates_by_config():
    candidates = {
        "@keyphrase_candidates": "spacy_keyphrase.Filter.v1",
        "candidates": {"@keyphrase_candidates": "spacy_keyphrase.NGrams.v1"},
        "min_words": 2,
        "pattern": "(?i)n.*",
    }
    doc = blank(candidates=candidates)("Neural networks learn from graphs.")
    assert set(texts(doc)) == {
        "Neural networks",
        "Neural networks learn",
        "networks learn",
    }


def test_a_phrase_list_is_ranked():
    candidates = {
        "@keyphrase_candidates": "spacy_keyphrase.PhraseList.v1",
        "phrases": ["graph", "keyphrase", "tree"],
    }
    nlp = blank(candidates=candidates)
    assert [texts(doc) for doc in nlp.pipe(TEXTS)] == [
        ["graphs"],
        ["graphs"],
        [],
        ["Keyphrases"],
    ]


def test_settings_of_a_ranker():
    text = "A graph, a graph, a graph. Much later on there is a tree."
    ranker = {"@keyphrase_rankers": "spacy_keyphrase.Statistical.v1"}
    assert texts(blank(ranker=ranker)(text))[0] == "graph"
    nothing_counts = {
        **dict.fromkeys(("frequency", "position", "casing", "repeated"), 0.0),
        "word_frequency": 0.0,
        "rarity": 0.0,
    }
    doc = blank(ranker={**ranker, **nothing_counts})(text)
    assert len({p.score for p in doc._.keyphrases}) == 1


def test_noun_phrases_without_tags_raise():
    nlp = blank(candidates={"@keyphrase_candidates": "spacy_keyphrase.NounPhrases.v1"})
    with pytest.raises(ValueError, match="needs part-of-speech tags"):
        nlp("Neural networks")
    with pytest.raises(ValueError, match="needs part-of-speech tags"):
        list(nlp.pipe(TEXTS))


@pytest.mark.parametrize(
    "config,message",
    [
        ({"rankr": {}}, "rankr"),
        ({"case": "title"}, r"'title'[\s\S]*'surface', 'lower'"),
        ({"subphrases": True}, r"True[\s\S]*'keep', 'drop'"),
        ({"max_similarity": 2}, "max_similarity must be between 0 and 1, not 2"),
        ({"ranker": {"@keyphrase_rankers": "spacy_keyphrase.Best.v1"}}, "Statistical"),
        (
            {
                "ranker": {
                    "@keyphrase_rankers": "spacy_keyphrase.Statistical.v1",
                    "length": [],
                }
            },
            "length must hold positive numbers",
        ),
        (
            {
                "ranker": {
                    "@keyphrase_rankers": "spacy_keyphrase.Statistical.v1",
                    "lenght": [1.0],
                }
            },
            "lenght",
        ),
    ],
)
def test_bad_config_is_named(config, message):
    with pytest.raises(ValueError, match=message):
        blank(**config)


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_is_the_same_in_any_batch(name, abstracts):
    abstracts = abstracts[:24]
    nlp = blank(ranker={"@keyphrase_rankers": name})
    alone = read(nlp(text) for text in abstracts)
    assert all(alone)
    for data in alone:
        scores = [phrase["score"] for phrase in data]
        assert scores == sorted(scores, reverse=True)
    assert read(nlp.pipe(abstracts, batch_size=5)) == alone
    assert read(nlp.pipe(abstracts[::-1])) == alone[::-1]
    assert nlp.analyze_pipes()["problems"] == {"keyphrase_ranker": []}


@pytest.fixture
def by_length_name():
    name = "tests.ByLength.v1"
    registry.keyphrase_rankers(name)(lambda: by_length)
    yield name
    namespace = spacy.util.registry.keyphrase_rankers.namespace
    del catalogue.REGISTRY[(*namespace, name)]


def test_a_registered_ranker_of_ones_own(by_length_name):
    nlp = blank(ranker={"@keyphrase_rankers": by_length_name}, top_n=2)
    doc = nlp("Graphs, trees and convolutional neural networks.")
    assert [p.normal_form for p in doc._.keyphrases] == [
        "convolut neural network",
        "graph",
    ]
    assert doc._.keyphrases[1].score == len("graph") / 100


def test_scores_of_mentions_reach_the_record():
    def by_position(docs, candidates):
        return [
            Scores(
                [1.0 / (1 + c.mentions[0][0]) for c in phrases],
                [[float(start) for start, _ in c.mentions] for c in phrases],
            )
            for phrases in candidates
        ]

    nlp = with_ranker(by_position, top_n=1)
    (phrase,) = nlp("graphs and trees and graphs")._.keyphrases
    assert phrase.mention_scores == (0.0, 4.0)
    assert [span.start for span in phrase.spans] == [0, 4]


def test_a_mention_that_is_no_candidate_is_found():
    """The ranker sees the candidates, the reader every occurrence."""
    candidates = {
        "@keyphrase_candidates": "spacy_keyphrase.Filter.v1",
        "candidates": {"@keyphrase_candidates": "spacy_keyphrase.NGrams.v1"},
        "pattern": "Neural networks",
    }
    (phrase,) = blank(candidates=candidates)(
        "Neural networks, neural network"
    )._.keyphrases
    assert [span.text for span in phrase.spans] == ["Neural networks", "neural network"]


def test_made_by_hand():
    pipe = KeyphraseRanker(make_chunks(), make_statistical(), name="mine")
    doc = pipe(spacy.blank("en").make_doc(TEXTS[0]))
    assert {p.source for p in doc._.keyphrases} == {"mine"}
    one = KeyphraseRanker(
        make_phrase_list(["graph"]),
        by_length,
        selection=Selection(top_n=1),
        case="lower",
    )
    assert texts(one(spacy.blank("en").make_doc("Graphs and trees"))) == ["graphs"]
    with pytest.raises(ValueError, match="'surface' or 'lower', not 'upper'"):
        KeyphraseRanker(make_chunks(), make_statistical(), case="upper")
    with pytest.raises(ValueError, match="'no name'"):
        KeyphraseRanker(make_chunks(), make_statistical(), key="no name")


# The duties of a pipe


def test_predict_writes_nothing():
    nlp = blank()
    pipe = nlp.get_pipe("keyphrase_ranker")
    docs = [nlp.make_doc(text) for text in TEXTS]
    records = pipe.predict(docs)
    assert [dict(doc.spans) for doc in docs] == [{}] * 4
    pipe.set_annotations(docs, records)
    assert read(docs) == read(nlp.pipe(TEXTS))


def test_docs_are_taken_a_batch_at_a_time():
    nlp = blank()
    taken = []

    def stream():
        for i in range(10):
            taken.append(i)
            yield nlp.make_doc(f"graph {i}")

    out = nlp.get_pipe("keyphrase_ranker").pipe(stream(), batch_size=3)
    assert taken == []
    next(out)
    assert taken == [0, 1, 2]
    assert len(list(out)) == 9


def test_the_ranker_sees_whole_batches():
    sizes = []

    def count(docs, candidates):
        sizes.append(len(docs))
        return by_length(docs, candidates)

    list(with_ranker(count).pipe(TEXTS, batch_size=3))
    assert sizes == [3, 1]
    sizes.clear()
    batches = {"keyphrase_ranker": {"batch_size": 2}}
    list(with_ranker(count).pipe(TEXTS, component_cfg=batches))
    assert sizes == [2, 2]


def fails_on_bad(docs, candidates):
    if any("bad" in doc.text for doc in docs):
        raise RuntimeError("a bad document")
    return by_length(docs, candidates)


def test_errors_are_raised():
    nlp = with_ranker(fails_on_bad)
    with pytest.raises(RuntimeError, match="a bad document"):
        list(nlp.pipe(TEXTS))
    with pytest.raises(RuntimeError, match="a bad document"):
        nlp(TEXTS[1])
    assert texts(nlp(TEXTS[0]))


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_an_error_handler_loses_only_the_doc_at_fault(batch_size):
    nlp = with_ranker(fails_on_bad)
    seen = []

    def note(name, pipe, docs, error):
        seen.append((name, [doc.text for doc in docs], str(error)))

    nlp.set_error_handler(note)
    out = list(nlp.pipe(TEXTS, batch_size=batch_size))
    assert [doc.text for doc in out] == [TEXTS[0], TEXTS[2], TEXTS[3]]
    assert seen == [("keyphrase_ranker", [TEXTS[1]], "a bad document")]
    assert read(out) == read(with_ranker(by_length).pipe(TEXTS[:1] + TEXTS[2:]))
    nlp.set_error_handler(raise_error)
    with pytest.raises(RuntimeError):
        list(nlp.pipe(TEXTS, batch_size=batch_size))


def test_an_error_in_the_candidates_is_one_too():
    def suggest(doc):
        if "bad" in doc.text:
            raise KeyError("candidates")
        return [(0, 1)] if len(doc) else []

    nlp = with_ranker(by_length)
    nlp.get_pipe("keyphrase_ranker").candidates = suggest
    nlp.set_error_handler(lambda *args: None)
    assert [texts(doc) for doc in nlp.pipe(TEXTS)] == [["Neural"], [], ["Keyphrases"]]


def test_nothing_to_serialise_but_the_config(tmp_path):
    nlp = blank(
        top_n=1, candidates={"@keyphrase_candidates": "spacy_keyphrase.NGrams.v1"}
    )
    nlp.to_disk(tmp_path / "pipeline")
    assert read(spacy.load(tmp_path / "pipeline").pipe(TEXTS)) == read(nlp.pipe(TEXTS))
    again = blank().from_bytes(blank().to_bytes())
    assert read(again.pipe(TEXTS)) == read(blank().pipe(TEXTS))
    nlp.initialize()
    assert len(nlp(TEXTS[0])._.keyphrases) == 1


def test_keyphrases_replace_those_before():
    nlp = blank()
    doc = nlp.make_doc("Neural networks")
    doc._.keyphrases = [("something else", 9.0)]
    assert "something else" not in texts(nlp(doc))


def test_no_scorer():
    nlp = blank(scorer=None)
    assert nlp.get_pipe("keyphrase_ranker").score([]) == {}


def test_docs_of_another_vocab():
    doc = Doc(spacy.blank("en").vocab, words=["Neural", "networks"])
    assert texts(blank().get_pipe("keyphrase_ranker")(doc))[0] == "Neural networks"
