"""Running a pipeline in several processes so that it can also be stopped.

Where `Language.pipe` is left early, it waits for workers that may in turn wait for
a reader of what they send. So nothing is left early here: the feeding of documents
stops, and what is under way is awaited.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from contextlib import contextmanager
from typing import Any, Deque, Generator, Iterable, Iterator, List, Optional, Tuple

from spacy.language import Language
from spacy.tokens import Doc

from ..corpora import KeyphraseDocument


def run_in_workers(
    nlp: Language,
    documents: Iterable[KeyphraseDocument],
    *,
    n_process: int,
    batch_size: int,
) -> Generator[Tuple[KeyphraseDocument, Doc], None, None]:
    """Run a pipeline in worker processes.

    nlp (Language): The pipeline.
    documents (Iterable[KeyphraseDocument]): Read as they are needed. After an error
        in reading, those before it still come.
    n_process (int): Number of processes; -1 for one on each core.
    batch_size (int): Documents in a batch.
    YIELDS (Tuple[KeyphraseDocument, Doc]): Each document and its doc, in order.
    """
    feed = Feed(documents)
    errors = _Errors()
    handler, nlp.default_error_handler = nlp.default_error_handler, errors
    with _interrupts_of(feed):
        stream = nlp.pipe(feed, n_process=n_process, batch_size=batch_size)
        try:
            for doc in stream:
                document = feed.waiting.popleft()
                if errors.found:
                    break
                if not feed.interrupted:
                    yield document, doc
        except EOFError:
            if not feed.interrupted:
                raise ChildProcessError(
                    "A worker process ended before its work was done: it was killed "
                    "or had no memory left. Try a smaller --n-process."
                ) from None
        finally:
            feed.stopped = True
            for _ in stream:
                pass
            nlp.default_error_handler = handler
    if errors.found:
        raise errors.found[0]
    if feed.error is not None:
        raise feed.error
    if feed.interrupted:
        raise KeyboardInterrupt


class Feed:
    """The texts of documents, which are kept until their docs come back.

    An error in reading ends the feed and is kept, so that the documents before it,
    which may be in an unfinished batch, are not lost.

    documents (Iterable[KeyphraseDocument]): The documents.
    """

    def __init__(self, documents: Iterable[KeyphraseDocument]):
        self.documents = iter(documents)
        self.waiting: Deque[KeyphraseDocument] = deque()
        self.error: Optional[BaseException] = None
        self.reading = self.stopped = self.interrupted = False

    def __iter__(self) -> Iterator[str]:
        while not self.stopped:
            try:
                self.reading = True
                document = next(self.documents, None)
            except BaseException as error:
                self.error = error
                document = None
            finally:
                self.reading = False
            if document is None:
                return
            self.waiting.append(document)
            yield document.text

    def interrupt(self) -> None:
        """Stop; at once where input is being waited for."""
        if self.interrupted:  # somebody insists
            for process in multiprocessing.active_children():
                process.kill()
            os._exit(130)
        self.stopped = self.interrupted = True
        if self.reading:
            raise KeyboardInterrupt


class _Errors:
    """The error handler of the pipeline: it raises in a worker, from which spaCy
    sends the error to the parent, and there it is kept until the end."""

    def __init__(self) -> None:
        self.found: List[Exception] = []

    def __call__(self, name: Any, proc: Any, docs: Any, error: Exception) -> None:
        if multiprocessing.parent_process() is not None:
            raise error
        self.found.append(error)


@contextmanager
def _interrupts_of(feed: Feed) -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal: workers leave it to the parent.

    Forked workers inherit the handler. Where the signal is ignored, as in a shell's
    background jobs, it stays so.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    parent = os.getpid()

    def handle(number: int, frame: Any) -> None:
        if os.getpid() == parent:
            feed.interrupt()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
