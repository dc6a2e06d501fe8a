"""Keyphrases of documents by any spaCy pipeline."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import ComponentDevice

from .enrich import Target, enrich
from .phrases import check_formats, check_policy
from .pipelines import Found, SpacyPipeline, with_device


@component
class KeyphraseExtractor:
    """
    Finds the keyphrases of documents and writes them to their meta.

    By default it works at once, with the network that spacy-keyphrase bundles for
    English; `model` names any other spaCy pipeline.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseExtractor

    extractor = KeyphraseExtractor(settings={"top_n": 3})
    text = "Dense retrieval finds passages by their embeddings."
    result = extractor.run([Document(content=text)])
    print(result["documents"][0].meta["keyphrases"])
    ```
    """

    # Pipelines that were saved are loaded without an import of this package.
    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        model: Union[str, dict[str, Any]] = "blank:en",
        *,
        settings: Optional[dict[str, Any]] = None,
        meta_key: str = "keyphrases",
        formats: Sequence[str] = ("list", "scores", "text"),
        existing: str = "replace",
        device: Optional[ComponentDevice] = None,
        batch_size: int = 64,
        n_process: int = 1,
        raise_on_failure: bool = False,
    ) -> None:
        """
        Create the component; the pipeline is loaded by `warm_up` or the first run.

        :param model: Name or path of a spaCy pipeline, path of a config, a config as a
            dictionary, or "blank:en" for a blank pipeline of a language. A pipeline
            without keyphrases gets the pipe `keyphrase` at its end.
        :param settings: Of the last pipe that sets keyphrases, such as `{"top_n": 5}`.
        :param meta_key: The field of the meta.
        :param formats: What is written: "list" (the phrases, under `meta_key`),
            "scores" (beside them, under `..._scores`), "text" (joined by "; ", under
            `..._text`, for what reads strings only), "records" (with scores, stems and
            offsets, under `..._records`), "flat" (`..._has_PHRASE: true` for each, by
            stems, for stores that cannot filter by lists).
        :param existing: What becomes of keyphrases that a document has: "replace",
            "keep" (it is left as it is) or "merge".
        :param device: Where the pipeline runs; the CPU by default.
        :param batch_size: Documents of a batch.
        :param n_process: Processes; -1 for one on each core.
        :param raise_on_failure: Whether a document that fails ends the run.
        :raises ValueError: At a format, policy or device that there is not.
        """
        self.model = model
        self.settings = settings
        self.meta_key = meta_key
        self.formats = check_formats(formats)
        self.existing = check_policy(existing)
        self.device = device
        self.batch_size = batch_size
        self.n_process = n_process
        self.raise_on_failure = raise_on_failure
        self._pipeline = SpacyPipeline(
            model, settings or {}, device, batch_size, n_process
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
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Find keyphrases.

        :param documents: Documents. Those without text stay as they are.
        :returns: `documents`: copies of all of them, with the same ids, in order;
            `failed_documents`: those among them that failed, with the reason in their
            meta under `..._error`.
        :raises TypeError: If these are no documents.
        :raises RuntimeError: If a document fails and `raise_on_failure` is set.
        """
        self.warm_up()
        lang = self._pipeline.lang
        target = Target(self.meta_key, self.formats, self.existing, lang)

        def find(wanted: list[Document]) -> list[Found]:
            return self._pipeline.find([d.content or "" for d in wanted])

        return enrich(documents, target, find, self.raise_on_failure)

    @component.output_types(documents=list[Document], failed_documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """
        The same in a thread of its own; see `run`.

        :param documents: Documents.
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
            model=self.model,
            settings=self.settings,
            meta_key=self.meta_key,
            formats=self.formats,
            existing=self.existing,
            device=self.device.to_dict() if self.device else None,
            batch_size=self.batch_size,
            n_process=self.n_process,
            raise_on_failure=self.raise_on_failure,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KeyphraseExtractor":
        """
        The component from what `to_dict` returned.

        :param data: Its type and parameters.
        :returns: The component.
        """
        return default_from_dict(cls, with_device(data))
