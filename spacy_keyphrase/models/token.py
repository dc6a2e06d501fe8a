"""The networks that look at tokens one by one: TagKPE, SpanKPE."""

from typing import Any, Callable, List, Optional, Tuple

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Linear, Model
from thinc.types import Floats2d

from .mentions import Mentions
from .ngram import Tok2Vec, flatten, represent_tokens, unflatten

InT = Tuple[List[Doc], Mentions]


@registry.architectures("spacy_keyphrase.TagKPE.v1")  # type: ignore
def build_tag(tok2vec: Tok2Vec, max_length: int = 5) -> Model[InT, Floats2d]:
    """TagKPE (Sun et al. 2021): tag the tokens with O, B, I, E, U.

    Output: five logits for each token, float of shape (tokens, 5).

    tok2vec (Model[List[Doc], List[Floats2d]]): Represents the tokens.
    max_length (int): Tokens of the longest mention to predict; longer ones are
        taught nevertheless.
    """
    return _build("tag", tok2vec, max_length)


@registry.architectures("spacy_keyphrase.SpanKPE.v1")  # type: ignore
def build_span(tok2vec: Tok2Vec, max_length: int = 5) -> Model[InT, Floats2d]:
    """SpanKPE (Sun et al. 2021): find starts, and by attention the ends to them.

    Output: for each token two logits, a query and a key of the width of `tok2vec`,
    float of shape (tokens, 2 + 2 * width). The arguments are those of `TagKPE`.
    """
    return _build("span", tok2vec, max_length)


def _build(head: str, tok2vec: Tok2Vec, max_length: int) -> Model[InT, Floats2d]:
    output: Model[Floats2d, Floats2d] = Linear()
    return Model(
        f"{head}_kpe",
        _forward,
        init=_init,
        layers=[tok2vec, output],
        refs={"tok2vec": tok2vec, "output": output, "features": None},
        attrs={"head": head, "max_length": max_length, "dropout_rate": 0.0},
        dims={"nO": 5 if head == "tag" else None},
    )


def _init(
    model: Model[InT, Floats2d], X: Optional[InT] = None, Y: Optional[Floats2d] = None
) -> None:
    tok2vec, output = model.get_ref("tok2vec"), model.get_ref("output")
    tok2vec.initialize(X=None if X is None else X[0])
    width = tok2vec.get_dim("nO")
    if model.has_dim("nO") is None:
        model.set_dim("nO", 2 + 2 * width)
    output.set_dim("nI", width)
    output.set_dim("nO", model.get_dim("nO"))
    output.initialize()


def _forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> Tuple[Floats2d, Callable[[Floats2d], InT]]:
    docs, mentions = inputs
    mask: Any = 1.0
    tokens, bp_tokens = represent_tokens(model, docs, is_train)
    X = flatten(model, tokens)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    if rate:
        mask = model.ops.get_dropout_mask(X.shape, rate)
        X = X * mask
    Y, bp_output = model.get_ref("output")(X, is_train)

    def backprop(dY: Floats2d) -> InT:
        bp_tokens(unflatten(bp_output(dY) * mask, mentions.doc_tokens))
        return inputs

    return Y, backprop
