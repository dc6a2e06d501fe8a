"""The keyphrases of documents on the chunks that they were split into."""

from dataclasses import replace
from typing import Any, Optional

import spacy
from haystack import Document, component
from spacy.language import Language

from spacy_keyphrase.keyphrase import Alignment

from .enrich import check_documents, phrases_of
from .phrases import Phrase, check_formats, has_phrases, write


@component
class KeyphraseProjector:
    """
    Leaves each chunk of a document those of the document's keyphrases that it has.

    Keyphrases are best found in whole documents, and documents are indexed in chunks: a
    splitter gives all chunks the meta of their document. This component stands behind
    it.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseProjector

    meta = {"source_id": "1", "keyphrases": ["rain", "town"]}
    chunks = [Document(content=t, meta=meta) for t in ("Rain fell.", "A town.")]
    chunks = KeyphraseProjector().run(chunks)["documents"]
    assert [chunk.meta["keyphrases"] for chunk in chunks] == [["rain"], ["town"]]
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        *,
        meta_key: str = "keyphrases",
        formats: tuple[str, ...] = ("list", "scores", "text"),
        keep_absent: bool = True,
        lang: str = "en",
    ) -> None:
        """
        Create the component.

        :param meta_key: The field of the meta.
        :param formats: What is written; see `KeyphraseExtractor`.
        :param keep_absent: Whether keyphrases that no chunk of a document has, such as
            those of a generator, stay with all its chunks.
        :param lang: Language of the documents.
        :raises ValueError: At a format that there is not.
        """
        self.meta_key = meta_key
        self.formats = check_formats(formats)
        self.keep_absent = keep_absent
        self.lang = lang
        self._nlp: Optional[Language] = None

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Project keyphrases.

        :param documents: Chunks, those of a document with the same `source_id` in their
            meta, and with its keyphrases.
        :returns: `documents`: copies with the same ids.
        :raises TypeError: If these are no documents.
        """
        check_documents(documents)
        if self._nlp is None:
            self._nlp = spacy.blank(self.lang)
            self._nlp.max_length = 1_000_000_000
        phrases = [phrases_of(d, self.meta_key, self.lang) for d in documents]
        places: list[dict[str, Phrase]] = []
        somewhere: dict[Any, set[str]] = {}
        for document, of_all in zip(documents, phrases, strict=True):
            own = self._find(self._nlp, document, of_all)
            places.append(own)
            somewhere.setdefault(_source(document), set()).update(own)
        projected = [
            self._project(document, of_all, own, somewhere[_source(document)])
            for document, of_all, own in zip(documents, phrases, places, strict=True)
        ]
        return {"documents": projected}

    def _find(
        self, nlp: Language, document: Document, phrases: list[Phrase]
    ) -> dict[str, Phrase]:
        """The keyphrases that a chunk has, with their places, by their stems."""
        if not phrases:
            return {}
        doc = nlp.make_doc(document.content or "")
        alignment = Alignment(doc)
        found = {}
        for phrase in phrases:
            spans = [doc[a:b] for a, b in alignment.find(phrase.text)]
            if spans:
                offsets = tuple((s.start_char, s.end_char) for s in spans)
                found[phrase.form] = phrase._replace(offsets=offsets)
        return found

    def _project(
        self,
        document: Document,
        phrases: list[Phrase],
        own: dict[str, Phrase],
        somewhere: set[str],
    ) -> Document:
        if not has_phrases(document.meta, self.meta_key):
            return document
        kept = []
        for phrase in phrases:
            if phrase.form in own:
                kept.append(own[phrase.form])
            elif self.keep_absent and phrase.form not in somewhere:
                kept.append(phrase._replace(offsets=()))
        meta = write(document.meta, self.meta_key, kept, self.formats)
        return replace(document, meta=meta)


def _source(document: Document) -> Any:
    return document.meta.get("source_id", document.id)
