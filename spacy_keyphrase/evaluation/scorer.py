"""The same metrics as a scorer of spaCy pipelines."""

from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from ..keyphrase import KEY, get_keyphrases
from .metrics import parse_k
from .presets import get_preset
from .score import score

# Of the scores, those that spaCy's tables and score weights are given.
_METRICS = ("p", "r", "f1", "map", "ndcg")


@registry.scorers("spacy_keyphrase.scorer.v1")  # type: ignore
def make_keyphrase_scorer(
    key: str = KEY,
    k: Sequence[Union[int, str]] = (5, 10, "M"),
    preset: str = "default",
) -> Callable[..., Dict[str, Optional[float]]]:
    """Make a scorer of the keyphrases that a pipeline predicts.

    key (str): Key of the span group that holds them, and first part of the names
        of the scores.
    k (Sequence[Union[int, str]]): Cutoffs: numbers, "M", "O" or "G".
    preset (str): Name of the evaluation convention.
    RETURNS (Callable): The scorer.
    """
    get_preset(preset)
    return partial(keyphrase_score, key=key, k=[parse_k(n) for n in k], preset=preset)


def keyphrase_score(
    examples: Iterable[Example],
    *,
    key: str = KEY,
    k: Sequence[Union[int, str]] = (5, 10, "M"),
    preset: str = "default",
    **kwargs: Any,
) -> Dict[str, Optional[float]]:
    """Score the keyphrases of examples.

    The scores are those of `score`, named "keyphrases_f1@5" for all keyphrases,
    "keyphrases_present_f1@5" and "keyphrases_absent_r@10" for a kind, and, for
    mentions, "spans_keyphrases_p", "_r" and "_f" as `Scorer.score_spans` gives them.

    examples (Iterable[Example]): Predicted and gold docs. Examples whose gold doc
        has no such span group are left out.
    key (str): Key of the span group.
    k (Sequence[Union[int, str]]): Cutoffs.
    preset (str): Name of the evaluation convention.
    **kwargs: What spaCy passes on to every scorer; not used.
    RETURNS (Dict[str, Optional[float]]): Scores by name, None where undefined.
    """
    examples = [eg for eg in examples if key in eg.reference.spans]
    # The conventions that do not cut off punctuation expect tokenised text.
    tokens = get_preset(preset).words == "tokens"
    scores = score(
        [_texts(eg.predicted, key, tokens) for eg in examples],
        [_texts(eg.reference, key, tokens) for eg in examples],
        [_text(eg.reference, tokens) for eg in examples],
        preset=preset,
        k=k,
        lang=examples[0].reference.lang_ if examples else "en",
    )
    named: Dict[str, Optional[float]] = {}
    for name, value in scores.values.items():
        kind, _, metric = name.partition("_")
        if metric.partition("@")[0] in _METRICS:
            prefix = key if kind == "all" else f"{key}_{kind}"
            named[f"{prefix}_{metric}"] = value
    mentions = Scorer.score_spans(
        examples,
        attr=f"spans_{key}",
        getter=partial(_spans, key=key),
        has_annotation=partial(_has_spans, key=key),
        labeled=False,
        allow_overlap=True,
    )
    return {**named, **mentions}


def _text(text: Union[Doc, Span], tokens: bool) -> str:
    return " ".join([token.text for token in text]) if tokens else text.text


def _texts(doc: Doc, key: str, tokens: bool) -> List[str]:
    return [
        _text(phrase.spans[0], tokens) if tokens and phrase.spans else phrase.text
        for phrase in get_keyphrases(doc, key)
    ]


def _spans(doc: Doc, attr: str, key: str) -> Iterable[Span]:
    return list(doc.spans.get(key, ()))


def _has_spans(doc: Doc, key: str) -> bool:
    return key in doc.spans
