"""``spacy keyphrase extract``: the keyphrases of texts."""

import json
from contextlib import closing
from typing import Annotated, Any, Dict, List

import typer
from spacy.tokens import Doc

from ..corpora import KeyphraseDocument, ReadReport
from ..keyphrase import Keyphrase
from ..render import render_page
from ._inputs import peek_lang, read_inputs
from ._options import (
    BatchSize,
    ConfigFile,
    GpuId,
    InputFormat,
    Inputs,
    Lang,
    Limit,
    MinScore,
    NProcess,
    OnError,
    OnErrorOption,
    Output,
    OutputFile,
    Pipeline,
    TopN,
)
from ._output import open_output
from ._pipeline import load_extractor, say_usage, use_gpu
from ._progress import Progress
from ._run import command, say, say_skipped
from ._table import clean, format_table


@command
def extract_cli(
    inputs: Inputs,
    pipeline: Pipeline = None,
    config: ConfigFile = None,
    lang: Lang = None,
    top_n: TopN = None,
    min_score: MinScore = None,
    output: OutputFile = None,
    format: Annotated[
        Output,
        typer.Option(
            "--format", help="A table, one JSON object a line, or an HTML page."
        ),
    ] = Output.table,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put the texts into the JSON, too.")
    ] = False,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    n_process: NProcess = 1,
    batch_size: BatchSize = 64,
    gpu_id: GpuId = -1,
) -> None:
    """
    Extract the keyphrases of texts. The documents are read, worked on and written
    one after the other, so that there may be any number of them; only an HTML page
    is built in memory.
    """
    use_gpu(gpu_id, n_process)
    report = ReadReport()
    documents = read_inputs(inputs, input_format, lang, on_error, limit, report)
    used_lang, documents = peek_lang(documents, lang)
    extractor = load_extractor(pipeline, config, used_lang, top_n, min_score)
    results = extractor.run(documents, n_process=n_process, batch_size=batch_size)
    shown: List[Doc] = []
    n = 0
    with (
        closing(results),
        open_output(output) as write,
        Progress(output is not None) as progress,
    ):
        for document, doc in progress.over(results):
            n += 1
            phrases = extractor.keyphrases(doc)
            if format is Output.jsonl:
                write(to_line(document, phrases, with_text))
            elif format is Output.table:
                write(to_table(document, phrases))
            else:
                extractor.trim(doc)
                doc.user_data["title"] = document.title or document.id
                shown.append(doc)
        if format is Output.html:
            write(render_page(shown, key=extractor.key))
    say_skipped(report)
    say_usage(extractor.nlp)
    if output is not None:
        say(f"Wrote the keyphrases of {n} documents to {output}.")


def to_line(
    document: KeyphraseDocument, phrases: List[Keyphrase], with_text: bool
) -> str:
    """A document's keyphrases as one line of JSON."""
    record: Dict[str, Any] = {"id": document.id}
    if with_text:
        record.update(title=document.title, text=document.text)
    record.update(
        lang=document.lang, keyphrases=[phrase.to_dict() for phrase in phrases]
    )
    return json.dumps(record, ensure_ascii=False) + "\n"


def to_table(document: KeyphraseDocument, phrases: List[Keyphrase]) -> str:
    """A document's keyphrases for people."""
    title = f": {document.title}" if document.title else ""
    head = f"{clean(document.id + title)}\n"
    if not phrases:
        return f"{head}(no keyphrases)\n\n"
    rows = [
        (f"{phrase.score:.3f}", phrase.text, str(len(phrase.spans) or "absent"))
        for phrase in phrases
    ]
    return head + format_table(("score", "keyphrase", "mentions"), rows, "rlr") + "\n"
