"""The keyphrases of a corpus, by a pipeline or from another run."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Optional

import typer

from ..corpora import ReadReport
from ._corpora import NamedCorpus
from ._inputs import peek_lang, read_inputs
from ._options import OnError
from ._pipeline import Extractor, say_usage
from ._progress import Progress
from ._run import say_skipped
from ._scoring import Gold, align, read_predictions


@dataclass(frozen=True)
class Reading:
    """How corpora are read; see the options of the same names."""

    input_format: str
    lang: Optional[str]
    on_error: OnError
    limit: int


@dataclass(frozen=True)
class Predicted:
    """What is there to be scored or judged.

    gold (Gold): Texts and gold of the documents.
    found (List[List[str]]): The keyphrases of each.
    system (str): What found them.
    lang (str): Language of the documents.
    """

    gold: Gold
    found: List[List[str]]
    system: str
    lang: str


def check_predictions(
    predictions: Optional[Path], with_pipeline: bool, n_corpora: int
) -> None:
    """Raise BadParameter where predictions cannot be told from a pipeline's, or do not
    belong to one corpus."""
    if predictions is not None and (with_pipeline or n_corpora != 1):
        raise typer.BadParameter(
            "--predictions goes with one corpus, and without --pipeline and --config."
        )


def predict(
    corpus: NamedCorpus,
    preset: str,
    reading: Reading,
    predictions: Optional[Path],
    load: Callable[[str], Extractor],
    *,
    n_process: int = 1,
    batch_size: int = 64,
) -> Predicted:
    """The keyphrases of a corpus.

    corpus (NamedCorpus): The corpus.
    preset (str): The evaluation preset that texts are prepared for.
    reading (Reading): How it is read.
    predictions (Optional[Path]): Those of another run, instead of a pipeline's.
    load (Callable[[str], Extractor]): From a language to the pipeline.
    """
    report = ReadReport()
    documents = read_inputs(
        [corpus.path],
        reading.input_format,
        reading.lang,
        reading.on_error,
        reading.limit,
        report,
    )
    lang, documents = peek_lang(documents, reading.lang)
    gold = Gold(preset)
    found: List[List[str]] = []
    if predictions is not None:
        for document in documents:
            gold.add(document)
        found = align(read_predictions(predictions), gold.ids, predictions)
        say_skipped(report)
        return Predicted(gold, found, str(predictions), lang)
    extractor = load(lang)
    results = extractor.run(documents, n_process=n_process, batch_size=batch_size)
    with closing(results), Progress() as progress:
        for document, doc in progress.over(results):
            gold.add(document)
            found.append([phrase.text for phrase in extractor.keyphrases(doc)])
    say_skipped(report)
    say_usage(extractor.nlp)
    return Predicted(gold, found, extractor.name, lang)
