"""How good the keyphrases of documents are."""

from collections.abc import Sequence
from typing import Any, Optional, Union

from haystack import Document, component

from spacy_keyphrase.evaluation import make_source, score
from spacy_keyphrase.evaluation.presets import get_preset

from .enrich import check_documents, phrases_of


@component
class KeyphraseEvaluator:
    """
    Compares the keyphrases of documents with gold, by the conventions of a published
    evaluator.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_kp import KeyphraseEvaluator

    evaluator = KeyphraseEvaluator()
    meta = {"keyphrases": ["rain", "towns"]}
    documents = [Document(content="Rain fell on the town.", meta=meta)]
    result = evaluator.run(documents=documents, ground_truth=[["town"]])
    print(result["score"], result["scores"]["all_p@5"])
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        *,
        metric: str = "all_f1@5",
        preset: str = "default",
        k: Sequence[Union[int, str]] = (5, 10, "M", "O"),
        meta_key: str = "keyphrases",
        lang: str = "en",
    ) -> None:
        """
        Create the component.

        :param metric: The one that is the score: "all", "present" or "absent", and a
            metric at a k, such as "present_f1@M".
        :param preset: The conventions: of stems, duplicates, averages and documents
            without gold; see `spacy_keyphrase.evaluation`.
        :param k: Numbers of keyphrases, "M" for all that there are, "O" for as many as
            there are in the gold.
        :param meta_key: The field of the meta.
        :param lang: Language of the stems.
        :raises ValueError: If there is no such preset.
        """
        get_preset(preset)
        self.metric = metric
        self.preset = preset
        self.k = list(k)
        self.meta_key = meta_key
        self.lang = lang

    @component.output_types(
        score=Optional[float],
        individual_scores=list[Optional[float]],
        scores=dict[str, Optional[float]],
    )
    def run(
        self, documents: list[Document], ground_truth: list[list[str]]
    ) -> dict[str, Any]:
        """
        Evaluate.

        :param documents: Documents with keyphrases in their meta, the best first.
        :param ground_truth: The gold keyphrases of each.
        :returns: `score`: the metric over all documents; `individual_scores`: the
            metric of each, None for those that do not count; `scores`: all metrics.
        :raises ValueError: If there are not as many gold lists as documents, or no such
            metric.
        :raises TypeError: If these are no documents.
        """
        check_documents(documents)
        if len(documents) != len(ground_truth):
            message = (
                f"There are {len(documents)} documents and {len(ground_truth)} lists "
                "of gold keyphrases."
            )
            raise ValueError(message)
        as_source = make_source(self.preset)
        scores = score(
            [
                [phrase.text for phrase in phrases_of(d, self.meta_key, self.lang)]
                for d in documents
            ],
            ground_truth,
            [as_source(document.content or "") for document in documents],
            preset=self.preset,
            k=self.k,
            lang=self.lang,
        )
        if self.metric not in scores.values:
            message = (
                f"There is no metric {self.metric!r} with k {self.k}. Known: "
                f"{', '.join(scores.values)}."
            )
            raise ValueError(message)
        each = scores.per_document.get(self.metric)
        return {
            "score": scores[self.metric],
            "individual_scores": []
            if each is None
            else [None if value != value else float(value) for value in each],
            "scores": dict(scores.values),
        }
