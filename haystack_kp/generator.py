"""Keyphrases that documents do not have in their text, by a trained generator."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import ComponentDevice

from .enrich import Target, enrich
from .phrases import check_formats, check_policy
from .pipelines import Found, SpacyPipeline, with_device


@component
class KeyphraseGenerator:
    """
    Writes keyphrases, present and absent ones, by a spaCy pipeline with a trained
    `keyphrase_generator`: One2Set, UniKeyphrase, PUSL and others.

    Absent keyphrases are words that a searcher may use and the document does not: add
    them to what `KeyphraseExtractor` has found (`existing="merge"`, the default), and
    to what is indexed with `KeyphraseDocumentExpander`.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseGenerator

    generator = KeyphraseGenerator("en_keyphrase_one2set", presence="absent")
    result = generator.run([Document(content="A robot arm learns to grasp cups.")])
    print(result["documents"][0].meta["keyphrases"])
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        model: str,
        *,
        k: Optional[int] = None,
        presence: Optional[str] = None,
        settings: Optional[dict[str, Any]] = None,
        meta_key: str = "keyphrases",
        formats: Sequence[str] = ("list", "scores", "text"),
        existing: str = "merge",
        device: Optional[ComponentDevice] = None,
        batch_size: int = 64,
        raise_on_failure: bool = False,
    ) -> None:
        """
        Create the component; the pipeline is loaded by `warm_up` or the first run.

        :param model: Name or path of a spaCy pipeline with a generator that was
            trained.
        :param k: How many are asked for. PUSL and One2One write as many; of others the
            first k are kept. By default as the pipeline has it.
        :param presence: "all", "present" or "absent"; by default as the pipeline has
            it.
        :param settings: Further settings of its last pipe, such as
            `{"model": {"beams": 5}}`.
        :param meta_key: The field of the meta.
        :param formats: What is written; see `KeyphraseExtractor`.
        :param existing: What becomes of keyphrases that a document has: "merge",
            "replace" or "keep" (it is left as it is).
        :param device: Where the pipeline runs; the CPU by default.
        :param batch_size: Documents of a batch.
        :param raise_on_failure: Whether a document that fails ends the run.
        :raises ValueError: At a format, policy or device that there is not.
        """
        self.model = model
        self.k = k
        self.presence = presence
        self.settings = settings
        self.meta_key = meta_key
        self.formats = check_formats(formats)
        self.existing = check_policy(existing)
        self.device = device
        self.batch_size = batch_size
        self.raise_on_failure = raise_on_failure
        own = {} if presence is None else {"presence": presence}
        self._pipeline = SpacyPipeline(
            model, {**(settings or {}), **own}, device, batch_size, 1
        )

    def warm_up(self) -> None:
        """
        Load the pipeline.

        :raises OSError: If there is no such pipeline.
        """
        self._pipeline.load()

    def close(self) -> None:
        """Let the pipeline go; it is loaded again when it is needed."""
        self._pipeline.close()

    @component.output_types(documents=list[Document], failed_documents=list[Document])
    def run(self, documents: list[Document], k: Optional[int] = None) -> dict[str, Any]:
        """
        Write keyphrases.

        :param documents: Documents. Those without text stay as they are.
        :param k: How many are asked for, instead of what was set.
        :returns: `documents`: copies of all of them, with the same ids, in order;
            `failed_documents`: those among them that failed, with the reason in their
            meta under `..._error`.
        :raises TypeError: If these are no documents.
        :raises RuntimeError: If a document fails and `raise_on_failure` is set.
        """
        self.warm_up()
        lang = self._pipeline.lang
        target = Target(self.meta_key, self.formats, self.existing, lang)
        asked = self.k if k is None else k

        def find(wanted: list[Document]) -> list[Found]:
            texts = [document.content or "" for document in wanted]
            run_time = None if asked is None else {"k": asked}
            return self._pipeline.find(texts, run_time=run_time)

        return enrich(documents, target, find, self.raise_on_failure)

    @component.output_types(documents=list[Document], failed_documents=list[Document])
    async def run_async(
        self, documents: list[Document], k: Optional[int] = None
    ) -> dict[str, Any]:
        """
        The same in a thread of its own; see `run`.

        :param documents: Documents.
        :param k: How many are asked for, instead of what was set.
        :returns: What `run` returns.
        """
        return await asyncio.to_thread(self.run, documents, k)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as data.

        :returns: Its type and parameters.
        """
        return default_to_dict(
            self,
            model=self.model,
            k=self.k,
            presence=self.presence,
            settings=self.settings,
            meta_key=self.meta_key,
            formats=self.formats,
            existing=self.existing,
            device=self.device.to_dict() if self.device else None,
            batch_size=self.batch_size,
            raise_on_failure=self.raise_on_failure,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KeyphraseGenerator":
        """
        The component from what `to_dict` returned.

        :param data: Its type and parameters.
        :returns: The component.
        """
        return default_from_dict(cls, with_device(data))
