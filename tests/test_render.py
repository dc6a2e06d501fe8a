import gzip
import json
import re
from html.parser import HTMLParser
from itertools import islice

import pytest
import spacy
from browser import Browser, find_browser
from hypothesis import given
from hypothesis import strategies as st
from spacy import displacy
from spacy.tokens import Doc, Span, SpanGroup

from spacy_keyphrase import Keyphrase
from spacy_keyphrase.keyphrase import Record, set_keyphrases, write_records
from spacy_keyphrase.render import KeyphraseView, render_doc, render_page, show

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3"),
    *("section", "div", "span", "p", "ol", "li", "a", "bdi", "i", "mark"),
}
ATTRIBUTES = {
    *("class", "id", "style", "title", "dir", "lang", "href", "value", "charset"),
    *("http-equiv", "content", "name"),
}
PWNED = '<script>document.title="pwned"</script>'
nlp = spacy.blank("en")


class Page(HTMLParser):
    """What a reader finds in a page: per document the text, the ranks over each
    of its characters, the marks, and the rows of the list."""

    def __init__(self, html):
        super().__init__()
        self.texts, self.covers, self.marks, self.rows = [], [], [], []
        self.tags, self.attributes, self.hrefs, self.ids = set(), set(), [], []
        self.titles, self.langs = [], []
        self.open, self.inside = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(attrs)
        self.hrefs += [attrs["href"]] if "href" in attrs else []
        self.ids += [attrs["id"]] if "id" in attrs else []
        kinds = (attrs.get("class") or "").split()
        if tag == "meta":
            return
        if "skp-text" in kinds:
            self.texts.append("")
            self.covers.append([])
            self.langs.append(attrs["lang"])
        if tag == "title":
            self.titles.append("")
        if "skp-absent" in kinds or "skp-list" in kinds:
            self.absent = "skp-absent" in kinds
        if tag == "mark":
            self.marks.append({"kinds": kinds, "text": "", **attrs})
        if tag == "li" and "skp-row" in kinds:
            self.rows.append({"text": "", "absent": self.absent, **attrs})
        self.open.append((tag, kinds, self.marks[-1] if tag == "mark" else None))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        over = [mark for _, _, mark in self.open if mark]
        tags = [tag for tag, _, _ in self.open]
        kinds = [kind for _, some, _ in self.open for kind in some]
        for mark in over:
            mark["text"] += data
        if "skp-text" in kinds:
            self.texts[-1] += data
            ranks = {int(mark["kinds"][0].removeprefix("skp-")) for mark in over}
            self.covers[-1] += [ranks] * len(data)
        if "skp-row" in kinds:
            self.rows[-1]["text"] += data
        if "title" in tags:
            self.titles[-1] += data

    def strength(self, mark):
        return float(mark["style"].removeprefix("--s:"))


def shown(text):
    """A text as a page must show it. A browser reads CR as LF and drops NUL;
    the other controls would be invisible, so that their pictures stand for them
    (C1 controls have none). No character is added or lost."""
    text = text.replace("\r\n", " \n").replace("\r", "\n").replace("\x85", "\n")
    text = re.sub(r"[\x00-\x08\x0b-\x1f]", lambda m: chr(0x2400 + ord(m[0])), text)
    return re.sub(r"[\x80-\x9f]", "\ufffd", text.replace("\x7f", "\u2421"))


def expected_covers(doc, key="keyphrases"):
    covers = [set() for _ in doc.text]
    for rank, phrase in enumerate(doc._.keyphrases, 1):
        for start, end in phrase.offsets:
            for i in range(start, end):
                covers[i].add(rank)
    return covers


def check_page(page, docs):
    html = render_page(docs) if page is None else page
    html.encode("utf8")
    seen = Page(html)
    assert seen.tags <= TAGS and seen.attributes <= ATTRIBUTES
    assert seen.texts == [shown(doc.text) for doc in docs]
    assert seen.covers == [expected_covers(doc) for doc in docs]
    assert len(set(seen.ids)) == len(seen.ids)
    assert {href.removeprefix("#") for href in seen.hrefs} <= set(seen.ids)
    return seen


def make_doc(text, phrases=(), source="", title=None):
    doc = nlp(text)
    set_keyphrases(doc, phrases, source=source)
    if title is not None:
        doc.user_data["title"] = title
    return doc


@st.composite
def docs_with_mentions(draw):
    """Any text, with any spans of it as the mentions of any phrases."""
    markup = st.sampled_from(["<script>", "</div>", "&amp;", "]]>", '"', "<!--", " "])
    text = "".join(draw(st.lists(st.one_of(markup, st.text(max_size=8)), max_size=12)))
    doc = nlp(text)
    records = []
    for i in range(draw(st.integers(0, 5)) if len(doc) else 0):
        starts = draw(st.lists(st.integers(0, len(doc) - 1), max_size=4))
        spans = [(s, draw(st.integers(s + 1, len(doc)))) for s in starts]
        score = draw(st.floats(allow_nan=True, allow_infinity=True))
        own = draw(st.one_of(st.none(), st.just([score] * len(spans))))
        source = draw(st.text(max_size=5))
        phrase = draw(st.one_of(markup, st.text(min_size=1)))
        records.append(Record(phrase, f"f{i}", score, spans, source, own))
    write_records(doc, records)
    return doc


@given(st.lists(docs_with_mentions(), max_size=3), st.text())
def test_any_text_is_kept_and_marked_and_runs_nothing(docs, title):
    seen = check_page(render_page(docs, title=title or None), docs)
    if title.strip():
        assert seen.titles == [shown(" ".join(title.split()))]
    assert len(seen.rows) == sum(len(doc._.keyphrases) for doc in docs)
    assert all(0.0 <= seen.strength(mark) <= 1.0 for mark in seen.marks)
    for doc in docs:
        fragment = Page(render_doc(doc))
        assert fragment.tags <= TAGS and not fragment.ids and not fragment.hrefs
        assert fragment.texts == [shown(doc.text)]
        assert fragment.covers == [expected_covers(doc)]


def test_markup_in_every_field_is_text():
    doc = make_doc(f'{PWNED} & "q" \x00', title=PWNED)
    phrase = Keyphrase(PWNED, 1.0, source=PWNED)
    set_keyphrases(doc, [phrase, ("script", 0.5)])
    page = render_page([doc, doc])
    assert "<script" not in page
    seen = check_page(page, [doc, doc])
    assert seen.texts[0] == f'{PWNED} & "q" \u2400'
    row = seen.rows[1]
    assert row["absent"] and row["text"].count(PWNED) == 2  # phrase and source
    assert row["title"] == f"{PWNED}\nrank 1 · score 1.00 · {PWNED}"
    render_page([doc], title="\ud800").encode("utf8")


def test_offsets_after_astral_characters():
    text = "👩🏽‍🔬 𝔘𝔫𝔦𝔠𝔬𝔡𝔢\t\tneural  networks\n\n\nand neural networks."
    seen = check_page(None, [make_doc(text, ["neural networks"])])
    assert seen.texts == [text]
    assert [mark["text"] for mark in seen.marks] == [
        "neural  networks",
        "neural networks",
    ]


def test_nested_and_crossing_mentions():
    doc = make_doc(
        "deep neural network architectures",
        [
            ("deep neural network", 4.0),
            ("network", 2.0),
            ("network architectures", 1.0),
        ],
    )
    seen = check_page(None, [doc])
    marks = [(" ".join(mark["kinds"]), mark["text"]) for mark in seen.marks]
    assert marks == [
        ("skp-1", "deep neural network"),
        ("skp-3 skp-on", "network"),  # as far as the first one goes ...
        ("skp-2", "network"),
        ("skp-3 skp-from", " architectures"),  # ... and from there on
    ]
    strengths = [seen.strength(mark) for mark in seen.marks]
    assert strengths[0] == 1.0
    assert strengths[0] > strengths[2] > strengths[1] == strengths[3] > 0.2


def test_list_and_tooltips():
    doc = make_doc(
        "Oil spill. The oil spill and the tanker.",
        [("oil spill", 0.875), ("wreck", 0.5), ("tanker", 0.25)],
        source="ranker",
    )
    page = render_page([doc])
    seen = check_page(page, [doc])
    assert [row["value"] for row in seen.rows] == ["1", "3", "2"]
    assert [row["absent"] for row in seen.rows] == [False, False, True]
    assert [row["text"] for row in seen.rows] == [
        "1oil spill20.875",
        "3tanker10.250",
        "2wreck0.500",
    ]
    assert "Absent from the text" in page and "Source: ranker" in page
    assert {mark["title"] for mark in seen.marks} == {
        "oil spill\nrank 1 · score 0.875 · ranker",
        "tanker\nrank 3 · score 0.250 · ranker",
    }
    assert seen.hrefs == ["#d1k1", "#d1k3"]


def test_sources_are_told_apart():
    phrases = [
        Keyphrase("tanker", 1.0, source="a"),
        Keyphrase("spill", 0.5, source="b"),
    ]
    seen = check_page(None, [make_doc("tanker spill", phrases)])
    assert [row["text"] for row in seen.rows] == ["1tanker11.00a", "2spill10.50b"]


@pytest.mark.parametrize(
    "scores,texts,bars",
    [
        ([0.0, 0.0], ["", ""], [None, None]),  # strings without scores
        ([-2.5, -10.0], ["-2.5", "-10.0"], ["1.000", "0.000"]),  # log-probabilities
        ([3.0, -1.0], ["3.00", "-1.00"], ["1.000", "0.000"]),
        ([1e-9, 5e-10], ["1.00e-09", "5.00e-10"], ["1.000", "0.500"]),
        ([1234.0, 617.0], ["1234", "617"], ["1.000", "0.500"]),
        ([-3.0, -3.0], ["-3.00", "-3.00"], ["1.000", "1.000"]),
        ([1e308, -1e308], ["1.00e+308", "-1.00e+308"], ["1.000", "0.000"]),
    ],
)
def test_scores_of_any_scale(scores, texts, bars):
    doc = make_doc("one two", [("one", scores[0]), ("two", scores[1])])
    first, second = Page(render_page([doc])).rows
    assert [first["text"], second["text"]] == [f"1one1{texts[0]}", f"2two1{texts[1]}"]
    styles = [first.get("style"), second.get("style")]
    assert styles == [bar and f"--s:{bar}" for bar in bars]


def test_each_mention_has_its_own_strength_where_the_method_scores_it():
    doc = nlp("oil here and oil there and oil")
    spans = [(i, i + 1) for i, token in enumerate(doc) if token.text == "oil"]
    scores = [0.2, 0.8, 0.4]
    write_records(doc, [Record("oil", "oil", 9.0, spans, "mudy", scores)])
    seen = check_page(None, [doc])
    weak, strong, middle = map(seen.strength, seen.marks)
    assert weak < middle < strong == 1.0
    assert seen.marks[0]["title"].endswith("score 9.00 · mudy · this mention 0.2")


def test_documents_without_keyphrases():
    docs = [nlp("Nothing was set."), make_doc("Set to nothing."), nlp("")]
    page = render_page(docs)
    check_page(page, docs)
    assert page.count("This document has no keyphrases.") == 3
    assert "0 documents" in render_page([])


def test_titles_and_languages():
    titled = make_doc("One text.", title="A  title")
    assert Page(render_page([titled])).titles == ["A title"]
    assert Page(render_page([titled], title="Given")).titles == ["Given"]
    arabic = spacy.blank("ar")("مكتبة")
    plain = spacy.blank("xx")("text")
    page = render_page([titled, arabic, plain])
    assert Page(page).langs == ["en", "ar", ""]
    assert ">A title</h2>" in page and ">Document 2</h2>" in page
    assert page.count('class="skp-text" dir="auto"') == 3


def test_another_key_and_groups_of_other_tools():
    doc = nlp("The oil spill and the tanker")
    set_keyphrases(doc, ["tanker"], key="gold")
    assert [m["text"] for m in Page(render_page([doc], key="gold")).marks] == ["tanker"]
    doc.spans["theirs"] = SpanGroup(doc, spans=[Span(doc, 1, 3), Span(doc, 5, 6)])
    with pytest.warns(UserWarning, match="without their keyphrase data"):
        seen = Page(render_doc(doc, key="theirs"))
    assert [mark["text"] for mark in seen.marks] == ["oil spill", "tanker"]


def test_page_needs_nothing_else():
    page = render_page([make_doc("The oil spill", [("oil spill", 1.0)])])
    assert not re.search(r"https?:|src=|url\(|@import|<link|<script| on\w+=", page)
    assert "default-src 'none'" in page
    assert page.count("<style>") == 1 and page.startswith("<!DOCTYPE html>")


def test_fragment_keeps_its_styles_to_itself():
    doc = make_doc("The oil spill", [("oil spill", 1.0)])
    html = render_doc(doc)
    assert "<html" not in html and "<body" not in html
    style = html.split("<style>")[1].split("</style>")[0]
    rules = re.sub(r"@media[^{]*\{|/\*[^*]*\*/", "", style)
    selectors = [rule.strip() for rule in re.findall(r"([^{}]+)\{", rules)]
    assert len(selectors) > 20
    assert [s for s in selectors if ".skp" not in s] == []
    view = show(doc)
    assert isinstance(view, KeyphraseView)
    assert view._repr_html_() == html


def test_real_documents(data_dir):
    for name in ("inspec/test", "duc2001/test", "akec_ar/train", "taln/fr"):
        with gzip.open(data_dir / f"{name}.jsonl.gz", "rt", encoding="utf8") as file:
            rows = [json.loads(line) for line in islice(file, 8)]
        pipe = spacy.blank(rows[0]["lang"])
        docs = []
        for row in rows:
            doc = pipe(row["text"])
            doc._.keyphrases = [
                (phrase, 1 / rank) for rank, phrase in enumerate(row["keyphrases"], 1)
            ]
            docs.append(doc)
        seen = check_page(None, docs)
        assert len(seen.marks) > 20


@pytest.mark.parametrize("page", [False, True])
def test_displacy_renders_the_span_group(page):
    text = "Neural networks: deep neural networks, and a <tanker>."
    doc = make_doc(text, ["neural networks", "deep neural networks", "tanker"])
    html = displacy.render(
        doc, style="span", options={"spans_key": "keyphrases"}, page=page, jupyter=False
    )
    mentions = [span for p in doc._.keyphrases for span in p.spans]
    assert len(mentions) == 4
    assert html.count("KEYPHRASE") == len(mentions)
    for token in {token for span in mentions for token in span}:
        assert token.text in html


def test_displacy_renders_a_saved_doc():
    doc = make_doc("The oil spill", [("oil spill", 1.0)])
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    options = {"spans_key": "keyphrases"}
    html = displacy.render(again, style="span", options=options, jupyter=False)
    assert html == displacy.render(doc, style="span", options=options, jupyter=False)


# In a real browser.


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium or Chrome on the PATH")
    return Browser(path)


SPILL = make_doc(
    "The oil spill was the biggest oil spill of a tanker. The tanker spilled crude "
    "oil and the cleanup of the sound was slow.",
    [
        *(("biggest oil spill", 1.0), ("oil spill", 0.7), ("tanker", 0.4)),
        *(("catastrophe", 0.3), ("crude oil", 0.1), ("sound", 0.001)),
    ],
)


def test_browser_executes_nothing_of_the_document(browser):
    doc = make_doc(f"{PWNED} , one tag , two tag", title=PWNED)
    span = doc.char_span(0, len(PWNED))
    phrases = [Keyphrase(PWNED, 1.0, (span,), source=PWNED), ("tag", 0.5)]
    set_keyphrases(doc, phrases)
    page = render_page([doc, doc], title=f"safe {PWNED}")
    lax = page.replace("Content-Security-Policy", "none")
    for html in (page, lax):  # escaping holds without the policy ...
        seen = check_page(browser.dump(html), [doc, doc])
        assert seen.titles == [f"safe {PWNED}"]
        assert [mark["text"] for mark in seen.marks] == [PWNED, "tag", "tag"] * 2
    for html in (page, lax):  # ... and the policy without escaping
        html = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
        strict = "Content-Security-Policy" in html
        assert ("<title>pwned" in browser.dump(html)) is not strict


def test_browser_paints_light_and_dark(browser):
    page = render_page([SPILL])
    backgrounds = []
    for dark in (False, True):
        rows = browser.screenshot(page, dark=dark)
        assert (len(rows), len(rows[0])) == (400, 600)
        colours = {pixel for row in rows for pixel in row}
        assert len(colours) > 50
        backgrounds.append(rows[0][0])
        # Highlights: far more red than blue, in either scheme.
        assert sum(r - b > 60 for row in rows for r, _, b in row) > 500
    assert min(backgrounds[0]) > 240 and max(backgrounds[1]) < 40


@pytest.mark.parametrize("dark", [False, True])
def test_browser_contrast_is_aa(browser, dark):
    script = """(list => list.map(e => [e.tagName].concat(['color', 'backgroundColor',
      'backgroundImage'].map(p => getComputedStyle(e)[p]), [
        getComputedStyle(document.body).backgroundColor])))([
      ...document.querySelectorAll('mark, h1, .skp-about, .skp-text, .skp-row *')])"""
    found = browser.probe(render_page([SPILL]), script, dark=dark)
    marks = {tuple(row[1:4]) for row in found if row[0] == "MARK"}
    assert len(marks) == 5
    assert ("23, 22, 19" in found[0][4]) is dark
    for tag, ink, ground, fill, body in found:
        below = _rgba(body)[:3] if _rgba(ground)[3] == 0 else _rgba(ground)[:3]
        if tag == "MARK":
            *colour, alpha = _rgba(fill)
            below = [
                alpha * c + (1 - alpha) * b for c, b in zip(colour, below, strict=True)
            ]
        assert _contrast(_rgba(ink)[:3], below) >= 4.5


def _rgba(text):
    numbers = re.search(r"rgba?\(([^)]*)\)", text)[1]
    values = [float(number) for number in re.findall(r"[\d.]+", numbers)]
    return values if len(values) == 4 else [*values, 1.0]


def _contrast(one, two):
    """WCAG 2.1: relative luminance and contrast ratio."""

    def luminance(colour):
        parts = [c / 255 for c in colour]
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def test_browser_layout_follows_the_window(browser):
    script = """['.skp-text', '.skp-side'].map(s => document.querySelector(s))
      .map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])
      .concat([[document.documentElement.scrollWidth, innerWidth]])"""
    doc = make_doc(SPILL.text + " " + "x" * 500, [("oil spill", 1.0)])
    text, side, (full, window) = browser.probe(render_page([doc]), script)
    assert side[0] > text[2] and full <= window  # beside
    text, side, (full, window) = browser.probe(render_page([doc]), script, width=520)
    assert side[1] >= text[3] and full <= window  # below, and nothing sticks out


def test_browser_lights_up_the_mentions_of_a_row(browser):
    script = """(() => { document.querySelector('.skp-row.skp-2 a').focus();
      return [...document.querySelectorAll('mark, .skp-row')].map(e => [
        e.tagName, e.classList.contains('skp-2'), getComputedStyle(e).getPropertyValue(
          e.tagName == 'MARK' ? '--ring' : '--row').trim() != 'transparent']) })()"""
    found = browser.probe(render_page([SPILL]), script)
    assert [lit for _, _, lit in found] == [mine for _, mine, _ in found]
    assert [tag for tag, mine, _ in found if mine] == ["MARK", "MARK", "LI"]


def test_browser_reads_right_to_left(browser):
    doc = spacy.blank("ar")("المكتبات العامة في بلادنا\n\nIn English")
    doc._.keyphrases = ["المكتبات العامة"]
    script = """(e => [getComputedStyle(e).direction, e.getBoundingClientRect().right,
      document.querySelector('mark').getBoundingClientRect().right])(
      document.querySelector('.skp-text'))"""
    direction, right, mark = browser.probe(render_page([doc]), script)
    assert direction == "rtl" and abs(right - mark) < 4
