"""A chat model that chooses from the keyphrases of documents."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.serialization import component_to_dict
from haystack.utils import deserialize_chatgenerator_inplace
from spacy.language import Language

from spacy_keyphrase.backends.haystack_client import HaystackClient
from spacy_keyphrase.models.chat import HAYSTACK

from .enrich import Target, enrich, phrases_of
from .phrases import check_formats
from .pipelines import Found, SpacyPipeline


@component
class KeyphraseSelector:
    """
    Has a chat model keep the good ones of the keyphrases that documents have.

    It labels the whole list of a document at once and can add nothing to it: whatever a
    model or a document says, keyphrases are chosen from the list. Where a call fails,
    the list stays as it was.

    ### Usage example

    ```python
    from haystack import Document
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_kp import KeyphraseSelector

    selector = KeyphraseSelector(OpenAIChatGenerator(model="gpt-4o-mini"))
    found = ["robot arm", "week", "robots"]
    text = "A robot arm learns to grasp cups."
    result = selector.run([Document(content=text, meta={"keyphrases": found})])
    print(result["documents"][0].meta["keyphrases"])
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        chat_generator: ChatGenerator,
        *,
        selector: str = "spacy_keyphrase.SequenceLabels.v1",
        top_n: Optional[int] = None,
        max_candidates: int = 0,
        structured: bool = False,
        max_workers: int = 8,
        cache: Optional[str] = None,
        lang: str = "en",
        meta_key: str = "keyphrases",
        formats: Sequence[str] = ("list", "scores", "text"),
        raise_on_failure: bool = False,
    ) -> None:
        """
        Create the component; nobody is called before the first run.

        :param chat_generator: Any chat generator of Haystack.
        :param selector: How it is asked: "spacy_keyphrase.SequenceLabels.v1" (T or F
            for each in turn), "spacy_keyphrase.IndependentLabels.v1" or
            "spacy_keyphrase.Listwise.v1" (the numbers of those to keep).
        :param top_n: How many are kept at most.
        :param max_candidates: How many are shown at most; 0 for all.
        :param structured: Whether to pass a JSON schema as `response_format`, which
            generators of OpenAI's kind understand.
        :param max_workers: How many calls are under way at a time.
        :param cache: Folder in which answers are kept. None keeps none.
        :param lang: Language of the documents.
        :param meta_key: The field of the meta.
        :param formats: What is written; see `KeyphraseExtractor`.
        :param raise_on_failure: Whether a document that fails ends the run.
        :raises ValueError: At a format that there is not.
        """
        self.chat_generator = chat_generator
        self.selector = selector
        self.top_n = top_n
        self.max_candidates = max_candidates
        self.structured = structured
        self.max_workers = max_workers
        self.cache = cache
        self.lang = lang
        self.meta_key = meta_key
        self.formats = check_formats(formats)
        self.raise_on_failure = raise_on_failure
        self._pipeline: Optional[SpacyPipeline] = None

    def warm_up(self) -> None:
        """Make the chat generator ready."""
        if self._pipeline is None:
            model = {
                "@architectures": HAYSTACK,
                "generator": component_to_dict(self.chat_generator, "chat_generator"),
                "structured": self.structured,
                "workers": self.max_workers,
                "cache": self.cache,
            }
            pipe = {
                "factory": "keyphrase_selector",
                "model": model,
                "selector": {"@keyphrase_selectors": self.selector},
                "top_n": self.top_n,
                "max_candidates": self.max_candidates,
            }
            nlp = {"lang": self.lang, "pipeline": ["keyphrase_selector"]}
            config = {"nlp": nlp, "components": {"keyphrase_selector": pipe}}
            self._pipeline = SpacyPipeline(
                config, {}, None, batch_size=1000, n_process=1, prepare=self._connect
            )
        self._pipeline.load()

    def _connect(self, nlp: Language) -> None:
        """Give the pipe the generator itself: what it was made of cannot always be
        made again."""
        pipe: Any = nlp.get_pipe("keyphrase_selector")
        client = HaystackClient(self.chat_generator, self.structured)
        pipe.model.attrs["chat"].client = client
        if hasattr(self.chat_generator, "warm_up"):
            self.chat_generator.warm_up()

    def close(self) -> None:
        """Close connections; new ones are opened when they are needed."""
        if self._pipeline is not None:
            self._pipeline.close()

    @component.output_types(documents=list[Document], failed_documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Choose.

        :param documents: Documents with keyphrases in their meta. Those without text
            stay as they are.
        :returns: `documents`: copies of all of them, with the same ids, in order;
            `failed_documents`: those among them that failed, with the keyphrases that
            they had, and with the reason in their meta under `..._error`.
        :raises TypeError: If these are no documents.
        :raises RuntimeError: If a document fails and `raise_on_failure` is set.
        """
        self.warm_up()
        pipeline = self._pipeline
        target = Target(self.meta_key, self.formats, "replace", self.lang)

        def find(wanted: list[Document]) -> list[Found]:
            texts = [document.content or "" for document in wanted]
            before = [phrases_of(d, self.meta_key, self.lang) for d in wanted]
            return pipeline.find(texts, before) if pipeline else []

        return enrich(documents, target, find, self.raise_on_failure)

    @component.output_types(documents=list[Document], failed_documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """
        The same in threads of its own; see `run`.

        :param documents: Documents with keyphrases in their meta.
        :returns: What `run` returns.
        """
        return await asyncio.to_thread(self.run, documents)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as data.

        :returns: Its type and parameters.
        """
        return default_to_dict(
            self,
            chat_generator=component_to_dict(self.chat_generator, "chat_generator"),
            selector=self.selector,
            top_n=self.top_n,
            max_candidates=self.max_candidates,
            structured=self.structured,
            max_workers=self.max_workers,
            cache=self.cache,
            lang=self.lang,
            meta_key=self.meta_key,
            formats=self.formats,
            raise_on_failure=self.raise_on_failure,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KeyphraseSelector":
        """
        The component from what `to_dict` returned.

        :param data: Its type and parameters.
        :returns: The component.
        """
        parameters = {**data["init_parameters"]}
        deserialize_chatgenerator_inplace(parameters, key="chat_generator")
        return default_from_dict(cls, {**data, "init_parameters": parameters})
