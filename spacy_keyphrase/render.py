"""Keyphrases to look at: an HTML page, or a fragment of one in a notebook.

Neither holds a script, and the page's content security policy forbids any, so
that a document cannot bring its own. The style sheets are in ``resources/``.
"""

import heapq
import math
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Iterable, List, Optional, Sequence, Tuple

from spacy.tokens import Doc

from .keyphrase import KEY, Keyphrase, get_keyphrases

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"

# HTML cannot carry NUL, and browsers drop the other control characters or show
# them as they like: a reader sees their Unicode pictures instead. Surrogates
# and the C1 controls have no picture. One character for one: offsets hold.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)}
_PICTURES.update({"\r": "\n", "\x7f": "\u2421", "\x85": "\n"})

_SCALE = (
    '\n<span class="skp-scale" title="Scores relative to the best of the document">'
    "weaker <span>{}</span> stronger</span>"
).format("".join(f'<i style="--s:{s / 6:.2f}"></i>' for s in range(7)))

# A row lights up its mentions, and the reverse, down to this rank.
_MAX_HOVER = 150


@dataclass(frozen=True)
class _Row:
    """A keyphrase as it is shown."""

    rank: int
    phrase: Keyphrase
    score: str  # empty where the document has no scores
    strength: float  # 0 to 1
    strengths: Sequence[float]  # of the mentions
    note: str  # what the pointer is told


def render_page(
    docs: Iterable[Doc], *, key: str = KEY, title: Optional[str] = None
) -> str:
    """A complete HTML page that needs no other file, one section per document.

    docs (Iterable[Doc]): The documents. Their headings are taken, as displaCy
        takes them, from ``doc.user_data["title"]``.
    key (str): Key of the span group that holds the keyphrases.
    title (Optional[str]): Title of the page.
    RETURNS (str): The page, to be written as UTF-8.
    """
    docs = list(docs)
    tables = [_rows(doc, key) for doc in docs]
    heads = [_head(doc) for doc in docs]
    about, toc = f"<span>{len(docs)} documents</span>", ""
    sections = []
    for i, (doc, rows, head) in enumerate(zip(docs, tables, heads, strict=True), 1):
        if len(docs) == 1:
            title, about, head = title or head, f"<span>{_count(rows)}</span>", ""
        else:
            start = " ".join(doc.text[:400].split())[:120]
            toc += (
                f'<li><span>{i}</span><a href="#d{i}" dir="auto">'
                f"{_clean(head or start or 'Empty')}</a></li>\n"
            )
            head = f'<h2 dir="auto">{_clean(head or f"Document {i}")}</h2>\n'
            head += f'<p class="skp-count">{_count(rows)}</p>\n'
        sections.append(_section(doc, rows, head, f"d{i}"))
    title = _clean(" ".join((title or "").split()) or "Keyphrases")
    toc = toc and f'<ol class="skp-toc">\n{toc}</ol>\n'
    if any(row.score or row.phrase.mention_scores for rows in tables for row in rows):
        about += _SCALE
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_style("keyphrases.css")}{_style("page.css")}{_hover(tables)}</style>
</head>
<body class="skp">
<main class="skp-page">
<h1 dir="auto">{title}</h1>
<div class="skp-about">{about}</div>
{toc}{"".join(sections)}</main>
</body>
</html>
"""


def render_doc(doc: Doc, *, key: str = KEY) -> str:
    """One document as an HTML fragment that brings its own, scoped styles.

    doc (Doc): The document.
    key (str): Key of the span group that holds the keyphrases.
    RETURNS (str): The fragment, for a notebook or a page of one's own.
    """
    rows = _rows(doc, key)
    style = f"<style>\n{_style('keyphrases.css')}{_hover([rows])}</style>\n"
    return f'<div class="skp skp-alone">\n{style}{_section(doc, rows)}</div>\n'


@dataclass(frozen=True)
class KeyphraseView:
    """A document and its keyphrases, as a notebook shows them.

    doc (Doc): The document.
    key (str): Key of the span group that holds the keyphrases.
    """

    doc: Doc
    key: str = KEY

    def _repr_html_(self) -> str:
        return render_doc(self.doc, key=self.key)


def show(doc: Doc, *, key: str = KEY) -> KeyphraseView:
    """Show a document in a notebook: the last line of a cell.

    doc (Doc): The document.
    key (str): Key of the span group that holds the keyphrases.
    RETURNS (KeyphraseView): What the notebook shows.
    """
    return KeyphraseView(doc, key)


def _rows(doc: Doc, key: str) -> List[_Row]:
    phrases = get_keyphrases(doc, key)
    scores = [phrase.score for phrase in phrases]
    # Mentions have a scale of their own: a method may sum them to its phrases.
    own = iter(_strengths([s for p in phrases for s in p.mention_scores or ()]))
    rows = []
    for i, strength in enumerate(_strengths(scores)):
        phrase = phrases[i]
        score = _number(scores[i], max(map(abs, scores))) if any(scores) else ""
        details = [f"rank {i + 1}", score and f"score {score}", phrase.source]
        note = f"{phrase.text}\n{' · '.join(filter(None, details))}"
        mentions = [strength] * len(phrase.spans)
        if phrase.mention_scores:
            mentions = [next(own) for _ in mentions]
        rows.append(_Row(i + 1, phrase, score, strength, mentions, note))
    return rows


def _strengths(scores: Sequence[float]) -> List[float]:
    """Scores as shares of the best one; of their range where some are negative."""
    finite = [score for score in scores if math.isfinite(score)]
    unit = max(map(abs, finite), default=0.0)
    if unit == 0.0:
        return [0.5] * len(scores)
    low, high = min([0.0, *finite]) / unit, max(finite) / unit
    if low == high:
        return [1.0] * len(scores)
    return [(s / unit - low) / (high - low) if math.isfinite(s) else 0 for s in scores]


def _number(score: float, largest: float) -> str:
    """A score, with three digits of the largest one and as many decimals."""
    if not 1e-4 <= largest < 1e6:
        return f"{score:.2e}"
    return f"{score:.{max(0, 2 - math.floor(math.log10(largest)))}f}"


def _head(doc: Doc) -> str:
    title = doc.user_data.get("title")
    return " ".join(title.split()) if isinstance(title, str) else ""


def _count(rows: Sequence[_Row]) -> str:
    absent = sum(not row.phrase.is_present for row in rows)
    words = f"{len(rows) or 'No'} keyphrase{'s' * (len(rows) != 1)}"
    return f"{words}, {absent} of them absent from the text" if absent else words


def _section(doc: Doc, rows: Sequence[_Row], head: str = "", anchor: str = "") -> str:
    # No language is "lang" empty, or else that of the page would be inherited.
    lang = _clean("" if doc.lang_ in ("xx", "mul") else doc.lang_)
    ident = f' id="{anchor}"' if anchor else ""
    text = _mark_up(doc.text, rows, anchor)
    return (
        f'<section class="skp-doc"{ident}>\n{head}<div class="skp-columns">\n'
        f'<div class="skp-text" dir="auto" lang="{lang}">{text}</div>\n'
        f'<div class="skp-side">\n{_lists(rows, lang, anchor)}</div>\n'
        "</div>\n</section>\n"
    )


def _mark_up(text: str, rows: Sequence[_Row], anchor: str) -> str:
    """The text, every mention in a ``<mark>``: a nested mention inside the outer
    one's, a mention that crosses the edge of another in two pieces."""
    text = text.replace("\r\n", " \n")
    queue: List[Tuple[int, int, int, int, bool]] = []
    for row in rows:
        for n, (start, end) in enumerate(row.phrase.offsets):
            if start < end:
                queue.append((start, -end, row.rank, n, False))
    heapq.heapify(queue)
    html: List[str] = []
    ends: List[int] = []  # of the marks that are open
    done = 0
    while queue or ends:
        if ends and not (queue and queue[0][0] < ends[-1]):
            end = ends.pop()
            html.append(f"{_clean(text[done:end])}</mark>")
            done = end
            continue
        start, end, rank, n, again = heapq.heappop(queue)
        row, end = rows[rank - 1], -end
        kind = f"skp-{rank}{' skp-from' if again else ''}"
        if ends and ends[-1] < end:
            heapq.heappush(queue, (ends[-1], -end, rank, n, True))
            end, kind = ends[-1], f"{kind} skp-on"
        first = anchor and n == 0 and not again
        ident = f' id="{anchor}k{rank}"' if first else ""
        # Most scores are low: the root keeps the weak ones visible.
        strength, note = row.strengths[n] ** 0.7, row.note
        if row.phrase.mention_scores:
            note += f" · this mention {row.phrase.mention_scores[n]:.3g}"
        html.append(
            f'{_clean(text[done:start])}<mark class="{kind}"{ident} '
            f'style="--s:{strength:.2f}" title="{_clean(note)}">'
        )
        ends.append(end)
        done = start
    return "".join([*html, _clean(text[done:])])


def _lists(rows: Sequence[_Row], lang: str, anchor: str) -> str:
    """The ranked phrases and, apart, those that are not in the text."""
    if not rows:
        return '<p class="skp-none">This document has no keyphrases.</p>\n'
    sources = {row.phrase.source for row in rows}
    width = max(len(row.score) for row in rows)
    column = f"calc({width}ch + 1.25rem)" if width else "0rem"
    html = f'<div class="skp-lists" style="--w:{column}">\n'
    for present in (True, False):
        items = ""
        for row in rows:
            if row.phrase.is_present is present:
                items += _item(row, lang, anchor, len(sources) > 1)
        if items:
            label = "Keyphrases" if present else "Absent from the text"
            columns = "<span>mentions</span>" if present else "<span></span>"
            columns += "<span>score</span>" if width else "<span></span>"
            html += f'<div class="skp-label"><h3>{label}</h3>{columns}</div>\n'
            kind = "skp-list" if present else "skp-list skp-absent"
            html += f'<ol class="{kind}">\n{items}</ol>\n'
    source = _clean(sources.pop()) if len(sources) == 1 else ""
    note = f'<p class="skp-source">Source: {source}</p>\n' if source else ""
    return f"{html}{note}</div>\n"


def _item(row: _Row, lang: str, anchor: str, with_source: bool) -> str:
    phrase = f'<bdi lang="{lang}">{_clean(row.phrase.text)}</bdi>'
    count = len(row.phrase.spans)
    if anchor and count:
        phrase = f'<a href="#{anchor}k{row.rank}">{phrase}</a>'
    source = _clean(row.phrase.source) if with_source else ""
    style = f' style="--s:{row.strength:.3f}"' if row.score else ""
    return (
        f'<li class="skp-row skp-{row.rank}" value="{row.rank}"{style} '
        f'title="{_clean(row.note)}"><span class="skp-rank">{row.rank}</span>'
        f'<span class="skp-phrase">{phrase}</span>'
        f'<span class="skp-number">{count or ""}</span>'
        f'<span class="skp-number">{row.score}</span>'
        f"{source and f'<span class=skp-meta>{source}</span>'}</li>\n"
    )


def _hover(tables: Iterable[Sequence[_Row]]) -> str:
    """Rules that light up the mentions of a row, and the row of a mention."""
    ranks = min(_MAX_HOVER, max(map(len, tables), default=0))
    return "".join(
        f".skp-doc:has(.skp-{k}:hover,.skp-{k}:focus-within) .skp-{k}"
        "{--ring:var(--accent);--row:var(--wash)}\n"
        for k in range(1, ranks + 1)
    )


def _clean(text: str) -> str:
    """Text that is safe in an element and in a quoted attribute."""
    return escape(_CONTROL.sub(lambda m: _PICTURES.get(m[0], "\ufffd"), text))


@cache
def _style(name: str) -> str:
    return (files("spacy_keyphrase") / "resources" / name).read_text("utf8")
