"""Documents that were retrieved, ranked again by their keyphrases."""

from dataclasses import replace
from typing import Any, Optional

from haystack import Document, component

from spacy_keyphrase.retrieval import RankSettings, rank

from .enrich import check_documents, phrases_of, scores_of


@component
class KeyphraseRanker:
    """
    Ranks documents again, behind any retriever, by what keyphrases say: those that have
    words of the query among their keyphrases, and those that share keyphrases with the
    documents that came first, go up.

    It needs no model and no second retrieval, and works on what BM25, embeddings or a
    joiner of both have found.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseRanker

    documents = [
        Document(content="A", score=0.5, meta={"keyphrases": ["weather"]}),
        Document(content="B", score=0.5, meta={"keyphrases": ["dense retrieval"]}),
    ]
    result = KeyphraseRanker().run("How does retrieval work?", documents)
    assert result["documents"][0].content == "B"
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        *,
        top_k: Optional[int] = None,
        match: float = 0.2,
        feedback: float = 0.5,
        feedback_documents: int = 10,
        top_n: int = 20,
        meta_key: str = "keyphrases",
        lang: str = "en",
    ) -> None:
        """
        Create the component.

        :param top_k: How many documents are returned; all by default. Give the
            retriever a larger one: 100 is what the defaults were chosen with.
        :param match: Weight of the words of the query in the keyphrases of a document;
            the retriever's score weighs 1, all in standard deviations.
        :param feedback: Weight of the words of the keyphrases of the first documents.
        :param feedback_documents: How many are the first.
        :param top_n: Keyphrases of a document that are looked at.
        :param meta_key: The field of the meta with the keyphrases. With their scores
            (`formats=["list", "scores"]` of `KeyphraseExtractor`) the best weigh most.
        :param lang: Language of the stems.
        :raises ValueError: At settings that are out of range.
        """
        if top_k is not None and top_k < 1:
            message = f"top_k is {top_k}; it must be 1 or more."
            raise ValueError(message)
        self.top_k = top_k
        self.match = match
        self.feedback = feedback
        self.feedback_documents = feedback_documents
        self.top_n = top_n
        self.meta_key = meta_key
        self.lang = lang
        self._settings = RankSettings(match, feedback, feedback_documents, top_n)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, documents: list[Document], top_k: Optional[int] = None
    ) -> dict[str, Any]:
        """
        Rank documents.

        :param query: What was asked.
        :param documents: What was retrieved, the best first.
        :param top_k: How many are returned, instead of what was set.
        :returns: `documents`: copies with the same ids, the best first, their scores in
            standard deviations. Without scores of the retriever its order counts.
        :raises TypeError: If these are no documents.
        """
        check_documents(documents)
        scores = scores_of(documents)
        phrases = [
            [
                (phrase.text, phrase.score)
                for phrase in phrases_of(d, self.meta_key, self.lang, self.top_n)
            ]
            for d in documents
        ]
        ranked = rank(query, scores, phrases, self._settings, self.lang)
        found = [replace(documents[i], score=score) for i, score in ranked]
        return {"documents": found[: top_k or self.top_k]}
