"""Queries with keyphrases of their own and of what they have found."""

import asyncio
from collections.abc import Mapping
from typing import Any, Optional, Union

from haystack import Document, component, default_from_dict, default_to_dict

from spacy_keyphrase.retrieval import feedback_phrases

from .enrich import check_documents, phrases_of, scores_of
from .pipelines import SpacyPipeline


@component
class KeyphraseQueryExpander:
    """
    Finds the keyphrases of a query, and adds to it those of the documents that it has
    found.

    Before a retriever it tells the phrases of a query: for `KeyphraseFilterBuilder`, or
    to search by them. Behind a first retriever and before a second it expands the query
    by feedback: the keyphrases that the first documents have most.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseQueryExpander

    found = [Document(content="A", score=1.0, meta={"keyphrases": ["dual encoders"]})]
    expander = KeyphraseQueryExpander(top_n=1)
    result = expander.run("How does dense retrieval work?", found)
    assert result["query"] == "How does dense retrieval work? dual encoders"
    assert "dense retrieval" in result["phrases"]
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        model: Union[str, dict[str, Any]] = "blank:en",
        *,
        settings: Optional[dict[str, Any]] = None,
        top_n: int = 5,
        feedback_documents: int = 10,
        repeat_query: int = 1,
        meta_key: str = "keyphrases",
    ) -> None:
        """
        Create the component; the pipeline is loaded by `warm_up` or the first run.

        :param model: The pipeline that finds the keyphrases of queries; see
            `KeyphraseExtractor`.
        :param settings: Of its last pipe.
        :param top_n: Keyphrases of documents that are added at most.
        :param feedback_documents: How many of the first documents are looked at.
        :param repeat_query: How often the query stands before what is added, so that it
            weighs more, in retrievers that count its words.
        :param meta_key: The field of the meta with the keyphrases of documents.
        :raises ValueError: At settings that are out of range.
        """
        if top_n < 0 or feedback_documents < 1 or repeat_query < 1:
            message = (
                f"top_n is {top_n}, feedback_documents {feedback_documents}, "
                f"repeat_query {repeat_query}; they must be 0, 1 and 1 or more."
            )
            raise ValueError(message)
        self.model = model
        self.settings = settings
        self.top_n = top_n
        self.feedback_documents = feedback_documents
        self.repeat_query = repeat_query
        self.meta_key = meta_key
        self._pipeline = SpacyPipeline(model, settings or {}, None, 64, 1)

    def warm_up(self) -> None:
        """
        Load the pipeline.

        :raises OSError: If there is no such pipeline.
        """
        self._pipeline.load()

    def close(self) -> None:
        """Let the pipeline go; it is loaded again when it is needed."""
        self._pipeline.close()

    @component.output_types(query=str, phrases=list[str], added=list[str])
    def run(
        self, query: str, documents: Optional[list[Document]] = None
    ) -> dict[str, Any]:
        """
        Expand a query.

        :param query: What is asked.
        :param documents: What a first retriever has found, the best first.
        :returns: `query`: the query, and behind it what is added; `phrases`: its own
            keyphrases, the best first; `added`: those of the documents.
        :raises TypeError: If these are no documents.
        """
        self.warm_up()
        phrases = [p.text for p in self._pipeline.find([query])[0].phrases]
        added: list[str] = []
        if documents:
            check_documents(documents)
            lang = self._pipeline.lang
            first = documents[: self.feedback_documents]
            added = feedback_phrases(
                query,
                scores_of(first),
                [
                    [(p.text, p.score) for p in phrases_of(d, self.meta_key, lang)]
                    for d in first
                ],
                self.top_n,
                lang,
            )
        words = [query] * (self.repeat_query if added else 1)
        return {"query": " ".join([*words, *added]), "phrases": phrases, "added": added}

    @component.output_types(query=str, phrases=list[str], added=list[str])
    async def run_async(
        self, query: str, documents: Optional[list[Document]] = None
    ) -> dict[str, Any]:
        """
        The same in a thread of its own; see `run`.

        :param query: What is asked.
        :param documents: What a first retriever has found, the best first.
        :returns: What `run` returns.
        """
        return await asyncio.to_thread(self.run, query, documents)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as data.

        :returns: Its type and parameters.
        """
        return default_to_dict(
            self,
            model=self.model,
            settings=self.settings,
            top_n=self.top_n,
            feedback_documents=self.feedback_documents,
            repeat_query=self.repeat_query,
            meta_key=self.meta_key,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KeyphraseQueryExpander":
        """
        The component from what `to_dict` returned.

        :param data: Its type and parameters.
        :returns: The component.
        """
        return default_from_dict(cls, dict(data))
