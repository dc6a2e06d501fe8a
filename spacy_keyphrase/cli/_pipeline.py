"""The pipeline of a command, and running it over documents."""

import os
import signal
import threading
from collections import deque
from contextlib import closing, contextmanager
from pathlib import Path
from typing import (
    Any,
    Deque,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Optional,
    Tuple,
)

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config

from ..corpora import CorpusError, KeyphraseDocument
from ..keyphrase import KEY, Keyphrase, get_keyphrases, set_keyphrases

ATTRIBUTE = "doc._.keyphrases"


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
    ) -> Generator[Tuple[KeyphraseDocument, Doc], None, None]:
        """Run the pipeline.

        documents (Iterable[KeyphraseDocument]): Read as they are needed.
        n_process (int): Number of processes; -1 for one on each core.
        batch_size (int): Documents in a batch.
        YIELDS (Tuple[KeyphraseDocument, Doc]): Each document and its doc, in order.
            Close it when it is not read to the end: that ends the processes.
        """
        waiting: Deque[KeyphraseDocument] = deque()

        def texts() -> Iterator[str]:
            for document in documents:
                if len(document.text) > self.nlp.max_length:
                    raise CorpusError(
                        f"Document {document.id!r} has {len(document.text)} "
                        "characters, more than the pipeline's max_length "
                        f"({self.nlp.max_length})."
                    )
                waiting.append(document)
                yield document.text

        with quiet_workers(n_process != 1):
            stream = self.nlp.pipe(texts(), n_process=n_process, batch_size=batch_size)
            with closing(stream):  # type: ignore[type-var]
                for doc in stream:
                    yield waiting.popleft(), doc


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
    if pipeline:
        nlp = spacy.load(pipeline)
        changes = _changes(nlp, settings)
        if changes:
            nlp = spacy.load(pipeline, config={"components": changes})
        name = nlp.meta["name"] or pipeline
        name = f"{nlp.lang}_{name}"
    elif config:
        loaded = load_config(config)
        nlp = load_model_from_config(loaded, auto_fill=True)
        changes = _changes(nlp, settings)
        if changes:
            for pipe, change in changes.items():
                loaded["components"][pipe].update(change)
            nlp = load_model_from_config(loaded, auto_fill=True)
        name = config.stem
    else:
        nlp = spacy.blank(lang)
        # The limit is for parsers, whose memory grows with the text.
        nlp.max_length = 1_000_000_000
        name = f"blank:{lang}"
    if not keyphrase_pipes(nlp):
        nlp.add_pipe("keyphrase", config=settings)
        name += " + keyphrase"
    return Extractor(nlp, top_n, min_score, name)


def keyphrase_pipes(nlp: Language) -> List[str]:
    """The components that set keyphrases."""
    return [
        name for name in nlp.pipe_names if ATTRIBUTE in nlp.get_pipe_meta(name).assigns
    ]


def _changes(nlp: Language, settings: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The settings that each keyphrase component has, where any."""
    changes = {}
    for pipe in keyphrase_pipes(nlp):
        has = nlp.get_pipe_config(pipe).keys() & settings.keys()
        if has:
            changes[pipe] = {name: settings[name] for name in sorted(has)}
    return changes


@contextmanager
def quiet_workers(active: bool) -> Iterator[None]:
    """Let Ctrl-C end worker processes without a word; the parent has it to say.

    Forked workers inherit the handler. Elsewhere it changes nothing.
    """
    if not active or threading.current_thread() is not threading.main_thread():
        yield
        return
    parent = os.getpid()

    def handle(number: int, frame: Any) -> None:
        if os.getpid() != parent:
            os._exit(130)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
