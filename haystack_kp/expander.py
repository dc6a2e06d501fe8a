"""Documents whose indexed content has their keyphrases too, and back."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Optional

from haystack import Document, component

from spacy_keyphrase.normalize import is_present

from .enrich import check_documents, phrases_of
from .phrases import Phrase

Kind = Literal["all", "present", "absent"]


@component
class KeyphraseDocumentExpander:
    """
    Adds the keyphrases of documents to their content, for retrievers that read nothing
    else, such as those of BM25.

    The copies are for the index: their ids are those of the documents, and
    `KeyphraseDocumentRestorer`, behind the retriever, gives them their own content
    back.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseDocumentExpander

    document = Document(content="Rain fell.", meta={"keyphrases": ["weather"]})
    expanded = KeyphraseDocumentExpander().run([document])["documents"][0]
    assert expanded.content == "Rain fell.\\n\\nweather"
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        *,
        meta_key: str = "keyphrases",
        kind: Kind = "all",
        top_n: Optional[int] = None,
        repeat: int = 1,
        weighted: bool = False,
        separator: str = "\n\n",
        lang: str = "en",
    ) -> None:
        """
        Create the component.

        :param meta_key: The field of the meta with the keyphrases.
        :param kind: Which are added: "all", those that are "present" in the content, or
            those that are "absent" from it, by stems.
        :param top_n: How many at most.
        :param repeat: How often each is written: a word that is written twice weighs
            more in BM25.
        :param weighted: Whether only the best is written as often, and the others less
            often by their scores, but at least once.
        :param separator: Between the content and the keyphrases.
        :param lang: Language of the stems.
        :raises ValueError: At settings that are out of range.
        """
        if repeat < 1:
            message = f"repeat is {repeat}; it must be 1 or more."
            raise ValueError(message)
        if kind not in ("all", "present", "absent"):
            message = f"kind is {kind!r}; use 'all', 'present' or 'absent'."
            raise ValueError(message)
        self.meta_key = meta_key
        self.kind = kind
        self.top_n = top_n
        self.repeat = repeat
        self.weighted = weighted
        self.separator = separator
        self.lang = lang

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Expand documents.

        :param documents: Documents with keyphrases in their meta. Those that were
            expanded before are expanded anew.
        :returns: `documents`: copies with the same ids. Where their own content is in
            what they have is in their meta, `..._content_start` and
            `..._content_end`.
        :raises TypeError: If these are no documents.
        """
        check_documents(documents)
        return {"documents": [self._expand(document) for document in documents]}

    def _expand(self, document: Document) -> Document:
        document = restore(document, self.meta_key)
        content = document.content or ""
        phrases = phrases_of(document, self.meta_key, self.lang)
        if self.kind != "all":
            wanted = self.kind == "present"
            phrases = [
                phrase
                for phrase in phrases
                if is_present(phrase.text, content, self.lang) == wanted
            ]
        written = ". ".join(self._repeat(phrases[: self.top_n]))
        if not written:
            return document
        start, end = names(self.meta_key)
        meta = {**document.meta, start: 0, end: len(content)}
        separator = self.separator if content else ""
        return replace(document, content=content + separator + written, meta=meta)

    def _repeat(self, phrases: list[Phrase]) -> Iterable[str]:
        best = max((phrase.score for phrase in phrases), default=0.0)
        for phrase in phrases:
            share = phrase.score / best if self.weighted and best > 0 else 1.0
            yield from [phrase.text] * max(round(self.repeat * share), 1)


@component
class KeyphraseDocumentRestorer:
    """
    Gives documents that `KeyphraseDocumentExpander` has expanded their own content
    back. It stands behind the retriever.
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(self, *, meta_key: str = "keyphrases") -> None:
        """
        Create the component.

        :param meta_key: The field of the meta with the keyphrases.
        """
        self.meta_key = meta_key

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Restore documents.

        :param documents: Documents; those that were not expanded stay as they are.
        :returns: `documents`: copies with the same ids and scores.
        :raises TypeError: If these are no documents.
        """
        check_documents(documents)
        return {"documents": [restore(d, self.meta_key) for d in documents]}


def names(key: str) -> tuple[str, str]:
    """Fields that say where the own content of an expanded document is."""
    return f"{key}_content_start", f"{key}_content_end"


def restore(document: Document, key: str) -> Document:
    """A document with its own content; itself, if it was not expanded."""
    start, end = names(key)
    if start not in document.meta or end not in document.meta:
        return document
    meta = {k: v for k, v in document.meta.items() if k not in (start, end)}
    first, last = int(document.meta[start]), int(document.meta[end])
    return replace(document, content=(document.content or "")[first:last], meta=meta)
