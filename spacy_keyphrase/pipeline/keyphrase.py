"""``keyphrase``: good keyphrases at once, with nothing to choose or download."""

from typing import Literal, Optional, Union

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.util import registry

from ..candidates import make_phrases
from ..keyphrase import KEY
from ..models.bundle import load_bundled
from ..rankers.statistical import make_statistical
from ..selection import Selection, Subphrases
from .annotate import SCORE_WEIGHTS, Case, Scorer
from .network import NetworkAnnotator, Style
from .ranker import KeyphraseRanker

Method = Literal["auto", "statistical"]

DEFAULT_CONFIG = {
    "method": "auto",
    "style": None,
    "top_n": 10,
    "min_score": None,
    "max_similarity": 1.0,
    "diversity": 0.0,
    "subphrases": "keep",
    "case": "surface",
    "mixed_precision": False,
    "key": KEY,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}


@Language.factory(
    "keyphrase",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase(
    nlp: Language,
    name: str,
    method: Method,
    style: Optional[Style],
    top_n: int,
    min_score: Optional[float],
    max_similarity: float,
    diversity: float,
    subphrases: Subphrases,
    case: Case,
    mixed_precision: bool,
    key: str,
    scorer: Optional[Scorer],
) -> Union["BundledExtractor", KeyphraseRanker]:
    """Construct the default keyphrase component of a language.

    For English the bundled network (a JointKPE, see docs/model-card.md) ranks all
    n-grams of up to four words. For other languages the statistical ranker scores noun
    phrases where a component before it has tagged the docs, and stretches between stop
    words otherwise.

    method (str): "auto", or "statistical" for the statistical ranker in any language.
    style (Optional[Style]): The annotation convention that the network is to follow:
        "author" for author keywords, few and general; "index" for index terms, many
        and specific; "tags" for those of questions; "crowd" for whatever words readers
        mark; "news" for the noun phrases of news; or a dict of several with their
        weights. None, the default, is in between.
    top_n (int): How many keyphrases at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep, 0..1; no limit by default.
    max_similarity (float): Above it the less good of two phrases of similar spelling
        is dropped (Dice coefficient of character trigrams). 1 keeps all.
    diversity (float): Weight of diversity against score, 0..1, in the choice of
        phrases (maximal marginal relevance).
    subphrases (str): "keep", or "drop" phrases contained in a better one or
        containing it.
    case (str): "surface" as in the document, or "lower".
    mixed_precision (bool): Whether the network multiplies in 16 bits on a CPU. Faster
        on some that have instructions for it (avx512_bf16, amx_bf16), slower on
        others; needs torch.
    key (str): Key of the span group, and name of the `doc._` attribute.
    scorer (Optional[Scorer]): The scoring method.
    """
    selection = Selection(top_n, min_score, max_similarity, diversity, subphrases)
    bundled = load_bundled(f"{nlp.lang}.extractor") if method == "auto" else None
    if bundled is not None:
        model, settings = bundled
        extractor = BundledExtractor(
            nlp.vocab,
            model,
            registry.resolve({"candidates": settings["candidates"]})["candidates"],
            name,
            selection=selection,
            case=case,
            style=settings["style"] if style is None else style,
            blend=settings.get("blend", 0.0),
            mixed_precision=mixed_precision,
            key=key,
            scorer=scorer,
        )
        extractor.cfg["calibration"] = settings["calibration"]
        return extractor
    if style is not None:
        raise ValueError(
            f"{name!r} has the style {style!r}, which only a network follows; there is "
            f"none for the language {nlp.lang!r} with the method {method!r}."
        )
    if mixed_precision:
        raise ValueError(
            f"{name!r} has mixed_precision, which only a network computes in; there is "
            f"none for the language {nlp.lang!r} with the method {method!r}."
        )
    return KeyphraseRanker(
        make_phrases(subphrases=True),
        make_statistical(),
        selection=selection,
        name=name,
        case=case,
        key=key,
        scorer=scorer,
    )


class BundledExtractor(NetworkAnnotator, Pipe):
    """An extractor that is trained already, and is not trained with the pipeline. Its
    weights are those of the package: a saved pipeline does not hold them."""
