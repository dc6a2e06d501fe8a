"""Filters for documents that have keyphrases, as the store in use understands them."""

from typing import Any, Literal, Optional

from haystack import component

from spacy_keyphrase.normalize import get_normalizer

from .phrases import flat_name, names

Style = Literal["flat", "list", "array_overlaps"]


@component
class KeyphraseFilterBuilder:
    """
    Makes a filter of keyphrases.

    How a store can filter by a list differs, and the document store in memory cannot at
    all; `style` says how it is done:

    * "flat": by fields `keyphrases_has_...` that `KeyphraseExtractor` writes with
      `formats=["flat"]`. Works with every store, and finds other forms of the words
      ("network", "networks").
    * "list": by the operator "in" on the list, for stores where it holds if one of the
      values is in the list: Elasticsearch, OpenSearch, Qdrant, Weaviate, MongoDB.
    * "array_overlaps": by the operator of pgvector.

    ### Usage example

    ```python
    from haystack_kp import KeyphraseFilterBuilder

    filters = KeyphraseFilterBuilder().run(["neural networks"])["filters"]
    assert filters["conditions"][0]["field"] == "meta.keyphrases_has_neural_network"
    ```
    """

    __module__ = "haystack_integrations.components.keyphrases"

    def __init__(
        self,
        *,
        style: Style = "flat",
        match: Literal["any", "all"] = "any",
        meta_key: str = "keyphrases",
        lang: str = "en",
    ) -> None:
        """
        Create the component.

        :param style: How the store filters; see above.
        :param match: Whether documents need "any" or "all" of the keyphrases.
        :param meta_key: The field of the meta with the keyphrases.
        :param lang: Language of the stems.
        :raises ValueError: At a style that there is not.
        """
        if style not in ("flat", "list", "array_overlaps"):
            message = f"style is {style!r}; use 'flat', 'list' or 'array_overlaps'."
            raise ValueError(message)
        if match not in ("any", "all"):
            message = f"match is {match!r}; use 'any' or 'all'."
            raise ValueError(message)
        self.style = style
        self.match = match
        self.meta_key = meta_key
        self.lang = lang

    @component.output_types(filters=Optional[dict[str, Any]])
    def run(
        self, phrases: list[str], filters: Optional[dict[str, Any]] = None
    ) -> dict[str, Any]:
        """
        Make a filter.

        :param phrases: Keyphrases.
        :param filters: A filter that holds as well.
        :returns: `filters`; the one given, or None, without keyphrases.
        """
        conditions = self._conditions(phrases)
        if not conditions:
            return {"filters": filters}
        operator = "OR" if self.match == "any" else "AND"
        made: dict[str, Any] = {"operator": operator, "conditions": conditions}
        if filters:
            made = {"operator": "AND", "conditions": [filters, made]}
        return {"filters": made}

    def _conditions(self, phrases: list[str]) -> list[dict[str, Any]]:
        if self.style == "flat":
            form = get_normalizer(self.lang).form
            forms = dict.fromkeys(filter(None, map(form, phrases)))
            fields = [f"meta.{flat_name(self.meta_key, f)}" for f in forms]
            return [{"field": f, "operator": "==", "value": True} for f in fields]
        field = f"meta.{names(self.meta_key)['list']}"
        operator = "in" if self.style == "list" else "array_overlaps"
        values = list(dict.fromkeys(phrase for phrase in phrases if phrase))
        if self.match == "any":
            parts = [values] if values else []
        else:
            parts = [[value] for value in values]
        return [{"field": field, "operator": operator, "value": v} for v in parts]
