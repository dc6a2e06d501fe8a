"""The benchmark's adapters and report; no figure is asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

sys.path.append(str(Path(__file__).resolve().parent.parent))
from benchmarks.data import Corpus, read_corpus
from benchmarks.peers import Unavailable, distinct
from benchmarks.quality import measure
from benchmarks.report import table, write_report
from benchmarks.speed import run_network, run_overhead, run_speed
from benchmarks.systems import PIPELINES, SYSTEMS, make_system
from spacy_keyphrase.keyphrase import register_extensions

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    "Keyphrase extraction finds the phrases that describe a document. Graph-based "
    "keyphrase extraction ranks noun phrases by a random walk over a word graph.",
    "This is about support vector machines. The kernel of a support vector machine "
    "is what decides how similar two documents are.",
]
FRENCH = [
    "L'extraction de termes clés décrit un document. L'extraction de termes clés "
    "par graphes classe les mots."
]
NEEDS_MODEL = {"firstnp", "ours-tagged", "tagger"}


def _load(name, request):
    if name in NEEDS_MODEL or name.startswith("ptr-") or name.endswith("rank"):
        request.getfixturevalue("models_dir")
    system = make_system(name)
    try:
        system.load()
    except Unavailable as reason:
        if name.startswith("ours"):
            raise
        pytest.skip(str(reason))
    return system


def _cases():
    for name in [*SYSTEMS, *PIPELINES]:
        # Warnings of other people's packages are not ours to mend.
        theirs = [] if name.startswith("ours") else ["default"]
        marks = [pytest.mark.filterwarnings(action) for action in theirs]
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(_cases()))
def test_every_system_gives_ranked_phrases(name, request):
    system = _load(name, request)
    found = system.extract(TEXTS, "en")
    assert len(found) == len(TEXTS)
    assert system.extract(TEXTS[1:], "en") == found[1:]
    for phrases in found:
        assert bool(phrases) == (name not in ("tokenizer", "tagger"))
        assert len(phrases) <= 50
        assert all(isinstance(phrase, str) for phrase in phrases)
        assert len(distinct(phrases)) == len(phrases)
    if phrases:
        assert any("support vector" in phrase.lower() for phrase in found[1])
    if system.supports("fr"):
        system.extract(FRENCH, "fr")


def test_unknown_system_is_named():
    with pytest.raises(ValueError, match="No system 'yale'; there are: yake"):
        make_system("yale")


def test_measure_counts_a_document_by_hand():
    corpus = Corpus("by/hand", "en", TEXTS[:1], [["noun phrase", "graphs", "web"]])
    row, _ = measure([["noun phrases", "the", "graph"]], corpus, "en")
    # Two of three right: P@5 = 2/5, R = 2/3; without the absent "web", R = 1.
    assert row["f1@5"] == 50.0
    assert row["present_f1@5"] == pytest.approx(100 * 4 / 7, abs=0.01)
    assert row["micro_f1@5"] == pytest.approx(100 * 2 / 3, abs=0.01)
    assert row["r@50"] == pytest.approx(100 * 2 / 3, abs=0.01)


FIVE = Corpus("five/texts", "en", [f"text {i} of five" for i in range(5)], [[]] * 5)


def test_speed_runs_systems_in_turn_on_texts_all_new():
    calls = []

    class Fake:
        def __init__(self, name):
            self.name = name

        def extract(self, texts, lang="en"):
            calls.append((self.name, *texts))
            return [[] for _ in texts]

    systems = {name: Fake(name) for name in ("yake", "other")}
    rows = run_speed(systems, FIVE, 3, 1, lambda line: None)
    # One pass to warm up, and three.
    assert calls == [
        (name, text) for text in FIVE.texts[:4] for name in ("yake", "other")
    ]
    assert [row["system"] for row in rows] == list(systems)
    assert rows[0]["ratio"] == rows[0]["ratio_cpu"] == 1.0
    assert [row["words"] for row in rows] == [12, 12]


def test_too_few_texts_for_the_passes():
    with pytest.raises(ValueError, match="five/texts has too few documents"):
        run_speed({}, FIVE, 5, 1, lambda line: None)


def test_overhead_is_that_of_our_rankers(models_dir):
    systems = {
        "tokenizer": make_system("tokenizer"),
        "tagger": make_system("tagger"),
        "ours-singlerank": make_system("ours-singlerank"),
    }
    rows = run_overhead(systems, FIVE, 3, 1, lambda line: None)
    assert [row["system"] for row in rows] == ["ours-singlerank"]
    assert rows[0]["percent"] > 0


def test_network_is_measured_against_its_encoder():
    systems = {"tokenizer": make_system("tokenizer"), "ours": make_system("ours")}
    (row,) = run_network(systems, FIVE, 3, 1, lambda line: None)
    assert row["system"] == "ours"
    assert row["ratio"] > 0
    assert run_network({}, FIVE, 3, 1, lambda line: None) == []


def test_beginning_of_a_document(data_dir):
    whole, beginning = (
        read_corpus(name, 3) for name in ("cstr/train", "cstr/beginning")
    )
    assert beginning.gold == whole.gold
    for text, part in zip(whole.texts, beginning.texts, strict=True):
        assert text.startswith(part)
        assert len(part.split()) == 300


def test_table_marks_what_is_missing():
    assert table(["a", "b"], [["x", None], ["y", 0.123456]]).splitlines() == [
        "| a | b |",
        "| --- | ---: |",
        "| x | – |",
        "| y | 0.1235 |",
    ]


def _quality_row(system, dataset, stems="en", lang="en", **changes):
    row = {
        "system": system,
        "dataset": dataset,
        "lang": lang,
        "stems": stems,
        "docs": 7,
        "f1@5": 10.0,
        "f1@10": 20.0,
        "f1@10_ci": [18.0, 22.0],
        "present_f1@5": 11.0,
        "present_f1@10": 21.0,
        "micro_f1@5": 9.0,
        "micro_f1@10": 19.0,
        "micro_f1@15": 20.0,
        "r@50": 50.0,
    }
    return {**row, **changes}


def _speed_row(system, ratio):
    return {
        "system": system,
        "dataset": "inspec/test",
        "docs": 7,
        "words": 700,
        "passes": 3,
        "docs/s": 100.0 * ratio,
        "docs/s_range": [90.0 * ratio, 110.0 * ratio],
        "words/s": 10000.0 * ratio,
        "docs/cpu_s": 101.0 * ratio,
        "ratio": ratio,
        "ratio_cpu": ratio,
        "load_s": 0.5,
        "peak_mb": 64.0,
    }


def _head_row(seed, f1):
    names = ("f1@5", "f1@10", "present_f1@5", "present_f1@10")
    run = {"encoder": "cnn", "head": "joint", "dataset": "inspec/test", "seed": seed}
    return {**run, "minutes": 4.0, **dict.fromkeys(names, f1)}


def test_report_of_a_small_result(tmp_path):
    difference = {"to": "yake", "f1@10": 5.5, "ci": [4.0, 7.0], "p": 0.001}
    environment = {
        "processor": "a processor",
        "flags": ["avx2"],
        "threads": 1,
        "system": "Linux",
        "python": "3.11",
        "packages": {"spacy": "3.8"},
    }
    quality = [
        _quality_row("ours", "inspec/test", docs=3, difference=difference),
        _quality_row("yake", "inspec/test"),
        _quality_row("yake", "taln/fr", "fr", "fr"),
        _quality_row("yake", "taln/fr", "en", "fr", **{"f1@10": 12.34}),
    ]
    speed = {
        "environment": environment,
        "rows": [_speed_row("yake", 1.0), _speed_row("ours", 4.0)],
        "overhead": [
            {
                "system": "ours-singlerank",
                "dataset": "inspec/test",
                "percent": 12.34,
                "percent_cpu": 11.0,
            }
        ],
        "network": [
            {
                "system": "ours",
                "dataset": "x",
                "ratio": 1.234,
                "ratio_cpu": 1.2,
                "ratio_by_layer": 1.3,
            }
        ],
        "memory": [
            {"system": "yake", "dataset": "x", "rss_mb": [[0, 50.0], [1000, 60.5]]}
        ],
    }
    points = [
        {"words": 1000, "seconds": 0.01, "us/word": 10.0},
        {"words": 2000, "seconds": None, "us/word": None},
    ]
    long = [{"system": "yake", "dataset": "x", "points": points}]
    heads = [_head_row(seed, 40.0 + seed) for seed in range(3)]
    results = {
        "quality": {"rows": quality},
        "speed": speed,
        "long": {"rows": long},
        "heads": {"rows": heads},
    }
    folder = tmp_path / "results"
    folder.mkdir()
    for name, result in results.items():
        (folder / f"{name}.json").write_text(json.dumps(result), encoding="utf8")
    write_report(folder, tmp_path / "RESULTS.md")
    report = (tmp_path / "RESULTS.md").read_text(encoding="utf8")
    lines = report.splitlines()
    # One row for a system in the overview, whatever the order of the file.
    assert lines.index("| yake | 20.00 | 20.00 | – |") < lines.index(
        "| ours | 20.00 | – | – |"
    )
    assert "### taln/fr, 7 documents, stems: en" in lines
    assert any("12.34" in line and line.startswith("| yake") for line in lines)
    assert any("ours (3 documents)" in line for line in lines)
    assert "+5.50 (0.001)" in report
    assert "| yake | 10 | – |" in lines
    assert "| ours-singlerank | inspec/test | 12.3 | 11.0 |" in lines
    assert "| ours | x | 1.23 | 1.20 | 1.30 |" in lines
    assert "| yake | 50 | 60.5 |" in lines
    head = next(line for line in lines if line.startswith("| cnn | joint | 3 |"))
    assert "41.00 ± 1.00" in head
    assert "a processor" in report
    pictures = [line for line in lines if line.startswith("![")]
    for line in pictures:
        path = tmp_path / line.partition("](")[2].rstrip(")")
        assert path.read_bytes().startswith(b"\x89PNG")


def test_command_line(tmp_path, data_dir):
    pytest.importorskip("multi_rake")
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "quality"]
    systems = ["--systems", "multi-rake", "--datasets", "inspec/test,taln/fr"]
    done = subprocess.run(
        [*command, *systems, "--limit", "2", "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "SPACY_KEYPHRASE_DATA": str(data_dir.parent)},
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "quality.json").read_text(encoding="utf8"))["rows"]
    assert [(row["dataset"], row["stems"], row["docs"]) for row in rows] == [
        ("inspec/test", "en", 2),
        ("taln/fr", "fr", 2),
        ("taln/fr", "en", 2),
    ]
    assert "| multi-rake |" in (tmp_path / "RESULTS.md").read_text(encoding="utf8")


def test_what_many_documents_cost(tmp_path):
    """100 documents a second are 8.64 million a day; ten million take 27.8 hours, which
    are 1.1 dollars at 4 cents an hour."""
    from benchmarks.report_scale import capacity_report, plot_capacity

    row = {"pipe": "p", "kind": "abstracts", "words": 150, "load": 2.0, "peak_mb": 300}
    report = capacity_report([{**row, "docs/s": 100.0}])
    assert "| p | abstracts | 8,600,000 | 1.2 | 1.1 | 110 |" in report
    pytest.importorskip("matplotlib")
    assert plot_capacity([{**row, "docs/s": 100.0}], tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_a_soak_is_reported(tmp_path):
    from benchmarks.report_scale import plot_soak, scale_report

    soak = {"docs": 20, "sentences": 2, "written": 19, "set aside": 1, "once": 19}
    soak = {**soak, "docs/s": 250.0, "points": [[10, 300.0, 240.0], [20, 301.0, 260.0]]}
    report = scale_report({"soak": soak})
    assert "19 rows written, 1 set aside, 19 there once; 250 documents a" in report
    pytest.importorskip("matplotlib")
    assert plot_soak(soak, tmp_path / "x.png")


def test_what_16_bits_change():
    """Of two documents one has another keyphrase, and one the same two in another
    order."""
    from benchmarks.bits import measure as measure_bits
    from benchmarks.report_scale import bits_report

    class Answers:
        def __init__(self, *answers):
            self.answers = answers

        def pipe(self, texts):
            for text, phrases in zip(texts, self.answers):
                doc = spacy.blank("en")(text)
                doc._.keyphrases = [(p, 1 - i / 10) for i, p in enumerate(phrases)]
                yield doc

    register_extensions()
    texts = ["graphs and trees", "red words and blue words"]
    gold = [["graphs"], ["red words", "blue words"]]
    corpus = Corpus("made up", "en", texts, gold)
    whole = Answers(["graphs"], ["red words", "blue words"])
    half = Answers(["trees"], ["blue words", "red words"])
    row = measure_bits((whole, half), corpus)
    # P@5 is 1/5 and R 1 of the first, 2/5 and 1 of the second.
    first, second = 2 * 0.2 / 1.2, 2 * 0.4 / 1.4
    assert row["f1@5"] == pytest.approx(100 * (first + second) / 2, abs=0.01)
    assert row["f1@5 change"] == pytest.approx(-100 * first / 2, abs=0.01)
    assert row["same"] == 50.0 and row["same order"] == 0.0
    same = measure_bits((whole, whole), corpus)
    assert same["f1@10 change"] == 0.0 and same["same order"] == 100.0
    report = bits_report([{"system": "made up", "dataset": "none", **row}])
    assert "| made up | none | 2 |" in report and "| 50.0 | 0.0 |" in report
