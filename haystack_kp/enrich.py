"""Documents with keyphrases in their meta."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Optional

from haystack import Document, logging

from .phrases import Phrase, has_phrases, merge, read, write
from .pipelines import Found

logger = logging.getLogger(__name__)


class Target(NamedTuple):
    """Where keyphrases go.

    key (str): Field of the meta.
    formats (list[str]): In which formats; see `phrases`.
    existing (str): What becomes of those that are there: "replace", "keep" or "merge".
    lang (str): Language of the stems that tell equal ones.
    """

    key: str
    formats: list[str]
    existing: str
    lang: str = "en"

    @property
    def error_key(self) -> str:
        """Field that says what went wrong."""
        return f"{self.key}_error"


def enrich(
    documents: Sequence[Document],
    target: Target,
    find: Callable[[list[Document]], list[Found]],
    raise_on_failure: bool,
) -> dict[str, Any]:
    """Copies of documents with keyphrases in their meta; ids stay.

    :param documents: The documents.
    :param target: Where keyphrases go.
    :param find: Finds those of documents with content.
    :param raise_on_failure: Whether a document that fails is an error.
    :returns: "documents", all of them in order, and "failed_documents", those among
        them for which it failed, with the reason in their meta.
    :raises RuntimeError: At a failure, if it is to be raised.
    """
    check_documents(documents)
    wanted = [i for i, document in enumerate(documents) if _is_wanted(document, target)]
    results = list(documents)
    failed = []
    for i, found in zip(wanted, find([documents[i] for i in wanted]), strict=True):
        document = documents[i]
        meta = dict(document.meta)
        meta.pop(target.error_key, None)
        phrases, error = found
        if error is None and target.existing == "merge":
            try:
                phrases = merge(read(meta, target.key, target.lang), phrases)
            except ValueError as problem:
                error = str(problem)
        if error is None:
            results[i] = replace(
                document, meta=write(meta, target.key, phrases, target.formats)
            )
            continue
        if raise_on_failure:
            message = f"No keyphrases for document {document.id!r}: {error}"
            raise RuntimeError(message)
        logger.warning(
            "No keyphrases for document {id}: {error}", id=document.id, error=error
        )
        results[i] = replace(document, meta={**meta, target.error_key: error})
        failed.append(results[i])
    return {"documents": results, "failed_documents": failed}


def check_documents(documents: Any) -> None:
    """Tell a list of documents from what is none.

    :raises TypeError: If it is none.
    """
    is_list = isinstance(documents, list)
    if not is_list or not all(isinstance(d, Document) for d in documents):
        message = "documents must be a list of Haystack Documents."
        raise TypeError(message)


def phrases_of(
    document: Document, key: str, lang: str, k: Optional[int] = None
) -> list[Phrase]:
    """The first k keyphrases of a document; none, with a warning, where its meta holds
    something else."""
    try:
        return read(document.meta, key, lang)[:k]
    except ValueError as error:
        logger.warning("Document {id}: {error}", id=document.id, error=str(error))
        return []


def scores_of(documents: Sequence[Document]) -> list[float]:
    """The scores of documents that were retrieved; by their order, where any has
    none."""
    scores = [document.score for document in documents]
    if any(score is None for score in scores):
        return [1 / (1 + i) for i in range(len(documents))]
    return [float(score) for score in scores if score is not None]


def _is_wanted(document: Document, target: Target) -> bool:
    if not (document.content or "").strip():
        logger.warning(
            "Document {id} has no text and gets no keyphrases.", id=document.id
        )
        return False
    return target.existing != "keep" or not has_phrases(document.meta, target.key)
