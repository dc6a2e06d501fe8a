"""The pipeline of a command, and running it over documents."""

from pathlib import Path
from typing import Generator, Iterable, List, Optional, Tuple

import typer
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import require_gpu

from ..corpora import CorpusError, KeyphraseDocument
from ..keyphrase import KEY, Keyphrase, get_keyphrases, set_keyphrases
from ..load import keyphrase_pipes, load_pipeline
from ._run import say
from ._workers import Feed, run_in_workers

Results = Generator[Tuple[KeyphraseDocument, Doc], None, None]


class Extractor:
    """A pipeline, and which of its keyphrases are wanted.

    nlp (Language): The pipeline, which sets keyphrases.
    top_n (Optional[int]): At most so many; None or 0 for all it sets.
    min_score (Optional[float]): Lowest score.
    name (str): What tables call it.
    """

    def __init__(
        self,
        nlp: Language,
        top_n: Optional[int],
        min_score: Optional[float],
        name: str,
    ):
        self.nlp = nlp
        self.top_n = top_n
        self.min_score = min_score
        self.name = name
        last = keyphrase_pipes(nlp)[-1]
        self.key: str = nlp.get_pipe_config(last).get("key", KEY)

    def keyphrases(self, doc: Doc) -> List[Keyphrase]:
        """The wanted keyphrases of a doc that came through the pipeline."""
        phrases = get_keyphrases(doc, self.key)
        if self.min_score is not None:
            phrases = [p for p in phrases if p.score >= self.min_score]
        return phrases[: self.top_n or None]

    def trim(self, doc: Doc) -> Doc:
        """Leave only the wanted keyphrases on a doc."""
        wanted = self.keyphrases(doc)
        if len(wanted) < len(get_keyphrases(doc, self.key)):
            set_keyphrases(doc, wanted, self.key)
        return doc

    def run(
        self,
        documents: Iterable[KeyphraseDocument],
        *,
        n_process: int = 1,
        batch_size: int = 64,
    ) -> Results:
        """Run the pipeline.

        documents (Iterable[KeyphraseDocument]): Read as they are needed.
        n_process (int): Number of processes; -1 for one on each core.
        batch_size (int): Documents in a batch.
        YIELDS (Tuple[KeyphraseDocument, Doc]): Each document and its doc, in order.
            Close it when it is not read to the end: that ends the processes.
        """
        checked = (self._check(document) for document in documents)
        if n_process != 1:
            return run_in_workers(
                self.nlp, checked, n_process=n_process, batch_size=batch_size
            )
        return self._run(checked, batch_size)

    def _run(self, documents: Iterable[KeyphraseDocument], batch_size: int) -> Results:
        feed = Feed(documents)
        for doc in self.nlp.pipe(feed, batch_size=batch_size):
            yield feed.waiting.popleft(), doc
        if feed.error is not None:
            raise feed.error

    def _check(self, document: KeyphraseDocument) -> KeyphraseDocument:
        if len(document.text) > self.nlp.max_length:
            raise CorpusError(
                f"Document {document.id!r} has {len(document.text)} characters, more "
                f"than the pipeline's max_length ({self.nlp.max_length})."
            )
        return document


def use_gpu(gpu_id: int, n_process: int = 1) -> None:
    """Have pipelines that are loaded next on a GPU.

    gpu_id (int): Its number; below 0 for the CPU.
    n_process (int): Processes that are asked for: a GPU serves one.
    RAISES: BadParameter where that cannot be.
    """
    if gpu_id < 0:
        return
    if n_process != 1:
        raise typer.BadParameter("--gpu-id goes with one process.")
    try:
        require_gpu(gpu_id)
    except ValueError as error:
        raise typer.BadParameter(f"--gpu-id {gpu_id}: {error}") from error


def say_usage(nlp: Language) -> None:
    """Say what calls of models behind chat interfaces were made, if any."""
    for name, pipe in nlp.pipeline:
        usage = getattr(pipe, "usage", None)
        if usage is not None and usage.questions:
            text = f"{name}: {usage.questions} questions, {usage.cached} from the cache"
            text += f", {usage.failed} without an answer"
            tokens = usage.input_tokens, usage.output_tokens
            text += f"; {tokens[0]} tokens sent, {tokens[1]} received"
            say(text + (f", cost {usage.cost:.4f}." if usage.cost else "."))


def load_extractor(
    pipeline: Optional[str],
    config: Optional[Path],
    lang: str,
    top_n: Optional[int],
    min_score: Optional[float],
) -> Extractor:
    """The pipeline that the options name.

    pipeline (Optional[str]): Name or path of a pipeline.
    config (Optional[Path]): Config file to build one from.
    lang (str): Language of a blank one, where neither is given.
    top_n (Optional[int]): Set in the components that have this setting.
    min_score (Optional[float]): Likewise.
    RETURNS (Extractor): The pipeline. One without keyphrases gets the component
        `keyphrase` at its end.
    """
    if pipeline and config:
        raise typer.BadParameter("give --pipeline or --config, not both.")
    given = {"top_n": top_n, "min_score": min_score}
    settings = {name: value for name, value in given.items() if value is not None}
    nlp, name = load_pipeline(pipeline, config, lang, settings)
    return Extractor(nlp, top_n, min_score, name)
