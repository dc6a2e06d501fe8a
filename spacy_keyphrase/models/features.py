"""What is known of a phrase without reading its words: counts, places, rarity."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Maxout, Model, chain
from thinc.types import Floats2d

from .columns import MAX_WORDS, make_columns
from .mentions import Mentions
from .prior import LOG_SCALE

InT = Tuple[List[Doc], Mentions]

FEATURES = (
    *(f"words_{n}" for n in range(1, MAX_WORDS + 1)),
    "mentions",
    "mentions_share",
    "first",
    "first_share",
    "last_share",
    "spread",
    "opening",
    "words_in_doc",
    "idf_mean",
    "idf_min",
    "idf_max",
    "unknown",
    "tf_mean",
    "tf_min",
    "tf_max",
    "value",
    "capitals",
    "left_edge",
    "right_edge",
    "noun_head",
    "noun_first",
    "adjective_first",
    "other_inside",
    "similarity",
    "similarity_rank",
    "prior",
    "prior_rank",
    "near_prior",
    "near_prior_rank",
    "keyphrase_count",
    "keyphrase_share",
    "keyphrase_known",
)

_PRIOR = FEATURES.index("prior")


@registry.layers("spacy_keyphrase.PhraseFeatures.v1")
def build_phrase_features(
    hidden_size: int = 64,
    styles: Sequence[str] = (),
    style_dropout: Union[float, Dict[str, float]] = 0.25,
    leave_one_out: bool = False,
) -> Model[InT, Floats2d]:
    """Represent phrases by numbers that hold in any domain: how often and where a
    phrase occurs, how rare its words are, its casing, length and word classes, how
    near it is to the whole document where the language has word vectors, what an
    untrained ranking makes of all that, and how often it was a keyphrase elsewhere
    where the language has a table of that.

    hidden_size (int): Width of the output.
    styles (Sequence[str]): Names of annotation conventions, such as "author". What is
        a keyphrase differs between them, and the style of a doc is one more feature.
    style_dropout (Union[float, Dict[str, float]]): Share of the docs whose style is
        withheld in training, so that the network also knows what to do where none is
        given; one for all, or one for each style.
    leave_one_out (bool): Whether the docs learned from were counted in the table of
        keyphrases; in training each is then taken out of the counts that it is given.
    RETURNS (Model[Tuple[List[Doc], Mentions], Floats2d]): From a batch to one row a
        phrase, float of shape (phrases, hidden_size).
    """
    if not isinstance(style_dropout, dict):
        style_dropout = dict.fromkeys(styles, style_dropout)
    if set(style_dropout) != set(styles):
        raise ValueError(
            f"style_dropout is given for {sorted(style_dropout)}, but the styles are "
            f"{sorted(styles)}."
        )
    if not all(0 <= rate <= 1 for rate in style_dropout.values()):
        raise ValueError(f"style_dropout must be between 0 and 1, not {style_dropout}.")
    width = len(FEATURES) + len(styles)
    extract: Model[InT, Floats2d] = Model(
        "phrase_features",
        _forward,
        dims={"nO": width},
        attrs={
            "styles": list(styles),
            "style_dropout": [style_dropout[style] for style in styles],
            "leave_one_out": leave_one_out,
        },
    )
    return chain(
        extract,
        Maxout(hidden_size, width, nP=2, normalize=True, dropout=0.0),
    )


def _forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> Tuple[Floats2d, Callable[[Floats2d], InT]]:
    docs, mentions = inputs
    ops: Any = model.ops
    own_gold = mentions.gold if is_train and model.attrs["leave_one_out"] else None
    features = phrase_features(docs, mentions, own_gold)
    mentions.priors = features[:, _PRIOR] * LOG_SCALE
    if model.attrs["styles"]:
        styles = mentions.styles
        if styles is None:
            styles = numpy.zeros((len(docs), len(model.attrs["styles"])), dtype="f4")
        if is_train:
            styles = _withhold(styles, numpy.array(model.attrs["style_dropout"]))
        features = numpy.hstack([features, styles[mentions.phrase_docs]])
    return ops.asarray2f(features), lambda dY: inputs


def _withhold(styles: numpy.ndarray, rates: numpy.ndarray) -> numpy.ndarray:
    """The styles of docs, of a random share of them none."""
    kept = numpy.random.random(len(styles)) >= styles @ rates
    given: numpy.ndarray = styles * kept[:, None]
    return given


def has_features(model: Model[Any, Any]) -> bool:
    """Whether a network has `PhraseFeatures` in it."""
    return any(node.name == "phrase_features" for node in model.walk())


def find_styles(model: Model[Any, Any]) -> List[str]:
    """The styles that a network was built with.

    model (Model): A network that may have `PhraseFeatures` in it.
    """
    for node in model.walk():
        if "styles" in node.attrs:
            return list(node.attrs["styles"])
    return []


def phrase_features(
    docs: Sequence[Doc], mentions: Mentions, own_gold: Optional[numpy.ndarray] = None
) -> numpy.ndarray:
    """The features of the phrases of a batch.

    docs (Sequence[Doc]): The batch.
    mentions (Mentions): Its mentions, read with their words.
    own_gold (Optional[ndarray]): Which phrases are gold, where the docs are to be
        taken out of the table of keyphrases; bool of shape (phrases,).
    RETURNS (ndarray): About in the range -1..1, float of shape (phrases, features).
    """
    if not len(mentions):
        return numpy.zeros((0, len(FEATURES)), dtype="f4")
    columns = make_columns(docs, mentions, own_gold)
    features = numpy.empty((mentions.n_phrases, len(FEATURES)), dtype="f4")
    for i, name in enumerate(FEATURES):
        features[:, i] = columns[name]
    return features
