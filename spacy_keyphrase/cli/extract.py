"""``spacy keyphrase extract``: the keyphrases of texts."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer
from spacy.tokens import Doc

from ..corpora import KeyphraseDocument, ReadReport
from ..keyphrase import KEY, Keyphrase
from ..render import render_page
from ._inputs import peek_lang, read_inputs
from ._jobs import Engine, extract_in_parts, make_spec
from ._options import (
    BatchSize,
    ConfigFile,
    GpuId,
    InputFormat,
    Lang,
    Limit,
    MinScore,
    NProcess,
    OnError,
    OnErrorOption,
    Output,
    Pipeline,
    TopN,
    check_input,
)
from ._output import open_output
from ._pipeline import load_extractor, say_usage, use_gpu
from ._progress import Progress
from ._run import command, counted, say, say_skipped
from ._table import clean, format_table


@command
def extract_cli(
    inputs: Annotated[
        List[str],
        typer.Argument(
            metavar="INPUT",
            help="Files or folders, of text or of any corpus format; - for standard "
            "input. With --engine also Parquet and CSV, and URLs.",
            show_default=False,
        ),
    ],
    pipeline: Pipeline = None,
    config: ConfigFile = None,
    lang: Lang = None,
    top_n: TopN = None,
    min_score: MinScore = None,
    output: Annotated[
        Optional[str],
        typer.Option(
            "--output",
            "-o",
            help="File to write, complete or not at all; standard output by default. "
            "With --engine a folder, or its URL.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Optional[Output],
        typer.Option(
            "--format",
            help="A table (the default), one JSON object a line, or an HTML page. With "
            "--engine jsonl or parquet; by default that of the input.",
            show_default=False,
        ),
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put the texts into the JSON, too.")
    ] = False,
    input_format: InputFormat = "auto",
    on_error: OnErrorOption = OnError.stop,
    limit: Limit = 0,
    n_process: NProcess = 1,
    batch_size: BatchSize = 64,
    gpu_id: GpuId = -1,
    engine: Annotated[
        Optional[Engine],
        typer.Option(
            help="Write a folder of parts, which can be interrupted at any time: the "
            "same command goes on. In --n-process processes or on a Ray cluster.",
            show_default=False,
        ),
    ] = None,
    text_column: Annotated[
        Optional[List[str]],
        typer.Option(
            help="With --engine: column with texts; several are joined. Default: text, "
            "or title and abstract.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        Optional[str],
        typer.Option(
            help="With --engine: the column that is added. Default: keyphrases.",
            show_default=False,
        ),
    ] = None,
    rows_per_part: Annotated[
        int, typer.Option(min=1, help="With --engine: rows of a part at most.")
    ] = 2000,
    address: Annotated[
        Optional[str],
        typer.Option(
            help="With --engine ray: address of the cluster, or auto. Default: Ray is "
            "started on this machine.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """
    Extract the keyphrases of texts. The documents are read, worked on and written
    one after the other, so that there may be any number of them; only an HTML page
    is built in memory.
    """
    if engine is not None:
        for given, name in (
            (with_text, "--with-text"),
            (limit, "--limit"),
            (input_format != "auto", "--input-format"),
            (on_error is not OnError.stop, "--on-error"),
            (batch_size != 64, "--batch-size"),
            (format in (Output.table, Output.html), "--format table or html"),
        ):
            if given:
                raise typer.BadParameter(f"{name} does not go with --engine.")
        gpu = None if gpu_id < 0 else gpu_id
        if engine is Engine.local:
            use_gpu(gpu_id, n_process)
        elif gpu is not None:
            # Each actor sees only its own.
            gpu = 0
        extract_in_parts(
            engine,
            inputs,
            output,
            make_spec(pipeline, config, lang, top_n, min_score, gpu),
            n_process,
            address,
            columns=text_column,
            column=column or KEY,
            format=format.value if format else None,
            rows_per_part=rows_per_part,
        )
        return
    for wants_engine, name in (
        (format is Output.parquet, "--format parquet"),
        (text_column, "--text-column"),
        (column, "--column"),
        (address, "--address"),
    ):
        if wants_engine:
            raise typer.BadParameter(f"{name} needs --engine.")
    extract_stream(
        check_input([Path(path) for path in inputs]),
        pipeline=pipeline,
        config=config,
        lang=lang,
        top_n=top_n,
        min_score=min_score,
        output=Path(output) if output else None,
        format=format or Output.table,
        with_text=with_text,
        input_format=input_format,
        on_error=on_error,
        limit=limit,
        n_process=n_process,
        batch_size=batch_size,
        gpu_id=gpu_id,
    )


def extract_stream(
    inputs: List[Path],
    *,
    pipeline: Optional[str],
    config: Optional[Path],
    lang: Optional[str],
    top_n: Optional[int],
    min_score: Optional[float],
    output: Optional[Path],
    format: Output,
    with_text: bool,
    input_format: str,
    on_error: OnError,
    limit: int,
    n_process: int,
    batch_size: int,
    gpu_id: int,
) -> None:
    """Documents in, keyphrases out, one after the other; see `extract_cli`."""
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
        say(f"Wrote the keyphrases of {counted(n, 'document')} to {output}.")


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
