"""``spacy keyphrase debug-data``: what is in a corpus, and what is wrong with it."""

import json
from typing import Annotated, Any, Dict, Iterator, List, Optional, Tuple

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc

from ..corpora import KeyphraseDocument, ReadReport
from ._inputs import peek_lang, read_inputs
from ._options import (
    Corpus,
    InputFormat,
    Lang,
    Limit,
    OnError,
    OnErrorOption,
    OutputFile,
    Report,
)
from ._output import open_output
from ._progress import Progress
from ._run import command, say
from ._statistics import LIMITS, CorpusStatistics, SuggesterRecall, default_suggesters
from ._table import clean, format_table

DOCUMENT_FIGURES = (
    "empty_documents",
    "documents_without_gold",
    "repeated_ids",
    "repeated_texts",
)
GOLD_FIGURES = ("repeated_keyphrases", "present", "misaligned", "absent")


@command
def debug_data_cli(
    corpus: Corpus,
    pipeline: Annotated[
        Optional[str],
        typer.Option(
            "--pipeline",
            "-p",
            help="Pipeline whose tokens, and tags for the suggesters, are used. "
            "Default: a blank one.",
            show_default=False,
        ),
    ] = None,
    lang: Lang = None,
    format: Annotated[
        Report, typer.Option("--format", help="A table, or one JSON object.")
    ] = Report.table,
    recall_docs: Annotated[
        int,
        typer.Option(
            "--recall-docs",
            min=0,
            help="Measure the recall of the candidate suggesters on the first so many "
            "documents; 0 to leave it.",
        ),
    ] = 500,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.skip,
    limit: Limit = 0,
    output: OutputFile = None,
) -> None:
    """
    Check a corpus: documents, present and absent gold, lengths, repetitions, gold
    that does not fall on token boundaries, malformed records, and the recall of
    the candidate suggesters on present gold.
    """
    report = ReadReport()
    documents = read_inputs([corpus], input_format, lang, on_error, limit, report)
    used_lang, documents = peek_lang(documents, lang)
    if pipeline:
        nlp = spacy.load(pipeline)
    else:
        nlp = spacy.blank(used_lang)
        nlp.max_length = 1_000_000_000
    statistics = CorpusStatistics(used_lang)
    suggesters = default_suggesters() if recall_docs else []
    with Progress() as progress:
        for n, (document, doc) in enumerate(progress.over(_annotate(nlp, documents))):
            statistics.add(document, doc)
            if n < recall_docs:
                for suggester in suggesters:
                    suggester.add(document, doc)
    data: Dict[str, Any] = {
        "corpus": str(corpus),
        "lang": used_lang,
        "malformed": report.skipped,
        "malformed_examples": report.messages,
        **statistics.to_dict(),
        "suggesters": [suggester.to_dict() for suggester in suggesters],
    }
    with open_output(output) as write:
        if format is Report.jsonl:
            write(json.dumps(data, ensure_ascii=False) + "\n")
        else:
            write(to_table(data))
            write(to_recall_table(suggesters, min(recall_docs, data["documents"])))
    if not data["documents"]:
        say("Warning: the corpus is empty.")


def _annotate(
    nlp: Language, documents: Iterator[KeyphraseDocument]
) -> Iterator[Tuple[KeyphraseDocument, Doc]]:
    pairs = ((document.text, document) for document in documents)
    for doc, document in nlp.pipe(pairs, as_tuples=True):
        yield document, doc


def to_table(data: Dict[str, Any]) -> str:
    """The figures for people."""
    rows = [("documents", f"language {data['lang']}"), ("malformed", "left out")]
    for name in DOCUMENT_FIGURES:
        rows.append((name, _share(data[name], data["documents"])))
    about = f"{_mean(data, 'tokens')}, at most {data['max_tokens']}"
    rows += [("tokens", about), ("keyphrases", _mean(data, "keyphrases"))]
    for name in GOLD_FIGURES:
        rows.append((name, _share(data[name], data["keyphrases"])))
    table = format_table(
        ("figure", "number", ""),
        [(name.replace("_", " "), str(data[name]), note) for name, note in rows],
        "lrl",
    )
    lines = [f"words in a keyphrase: {_spread(data['words_per_keyphrase'])}"]
    for title, examples in (
        ("misaligned: in the text, but not at token boundaries", "misaligned_examples"),
        ("malformed", "malformed_examples"),
    ):
        if data[examples]:
            lines.append(f"{title}:")
            lines += [f"  {clean(example)}" for example in data[examples]]
    return table + "\n" + "\n".join(lines) + "\n"


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else ""


def _mean(data: Dict[str, Any], name: str) -> str:
    return f"{data[name] / max(1, data['documents']):.1f} a document"


def _spread(lengths: Dict[int, int]) -> str:
    """Shares of keyphrases of one word, two words, ..., six and more."""
    total = sum(lengths.values())
    counts = {str(words): lengths.get(words, 0) for words in range(1, 6)}
    counts["6+"] = total - sum(counts.values())
    shares = [f"{words}: {_share(n, total)}" for words, n in counts.items() if n]
    return ", ".join(shares) or "there is none"


def to_recall_table(suggesters: List[SuggesterRecall], n_docs: int) -> str:
    """Recall by suggester and longest candidate."""
    if not suggesters or not n_docs:
        return ""
    header = ("suggester", "a document", *(f"<={limit}" for limit in LIMITS), "all")
    rows: List[Tuple[str, ...]] = []
    notes = ""
    for suggester in suggesters:
        if suggester.error:
            notes += f"{suggester.name}: {suggester.error}\n"
            continue
        recalls = [suggester.recall(limit) for limit in (*LIMITS, None)]
        cells = ["-" if value is None else f"{100 * value:.1f}" for value in recalls]
        mean = suggester.candidates / max(1, suggester.documents)
        rows.append((suggester.name, f"{mean:.1f}", *cells))
    title = (
        f"\nRecall of present keyphrases in percent, by longest candidate in words "
        f"({n_docs} documents):\n"
    )
    return title + (format_table(header, rows, "lrrrrrrr") if rows else "") + notes
