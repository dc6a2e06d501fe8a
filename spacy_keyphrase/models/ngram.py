"""The networks that represent mentions by n-grams: JointKPE, RankKPE, ChunkKPE.

The dropout of training applies to the token representations, and half of it after
the ReLU, as in the reference code.
"""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Linear, Model, chain
from thinc.types import Floats2d

from .composer import NGramConv
from .mentions import Mentions
from .slices import represent

InT = Tuple[List[Doc], Mentions]
Tok2Vec = Model[List[Doc], List[Floats2d]]
# From docs and their mentions to one row a phrase.
Features = Model[InT, Floats2d]


@registry.architectures("spacy_keyphrase.JointKPE.v1")  # type: ignore
def build_joint(
    tok2vec: Tok2Vec,
    max_length: int = 5,
    hidden_size: int = 512,
    features: Optional[Features] = None,
    context: bool = False,
    loss: str = "hinge",
) -> Model[InT, Floats2d]:
    """JointKPE (Sun et al. 2021): rank phrases and classify their mentions at once.

    Output: the rank score and the two chunk logits of each mention, float of shape
    (mentions, 3).

    tok2vec (Model[List[Doc], List[Floats2d]]): Represents the tokens.
    max_length (int): Tokens of the longest mention.
    hidden_size (int): Width of a mention's representation.
    features (Optional[Model]): Adds what is known of the phrase to each mention's
        representation; none in the paper.
    context (bool): Whether to add the mean of the document's token representations;
        not in the paper.
    loss (str): The ranking loss: "hinge" as in the paper, or "softmax", which cares
        more for the top of the ranking.
    """
    return _build("joint", 3, tok2vec, max_length, hidden_size, features, context, loss)


@registry.architectures("spacy_keyphrase.RankKPE.v1")  # type: ignore
def build_rank(
    tok2vec: Tok2Vec,
    max_length: int = 5,
    hidden_size: int = 512,
    features: Optional[Features] = None,
    context: bool = False,
    loss: str = "hinge",
) -> Model[InT, Floats2d]:
    """RankKPE (Sun et al. 2021): rank phrases by their best mention.

    Output: the rank score of each mention, float of shape (mentions, 1). The
    arguments are those of `JointKPE`.
    """
    return _build("rank", 1, tok2vec, max_length, hidden_size, features, context, loss)


@registry.architectures("spacy_keyphrase.ChunkKPE.v1")  # type: ignore
def build_chunk(
    tok2vec: Tok2Vec,
    max_length: int = 5,
    hidden_size: int = 512,
    features: Optional[Features] = None,
    context: bool = False,
) -> Model[InT, Floats2d]:
    """ChunkKPE (Sun et al. 2021): classify mentions. There is no activation after the
    convolution, as in the reference code.

    Output: two logits for each mention, float of shape (mentions, 2). The arguments
    are those of `JointKPE`.
    """
    return _build("chunk", 2, tok2vec, max_length, hidden_size, features, context)


def _build(
    head: str,
    width: int,
    tok2vec: Tok2Vec,
    max_length: int,
    hidden_size: int,
    features: Optional[Features],
    context: bool,
    loss: Optional[str] = None,
) -> Model[InT, Floats2d]:
    composer = NGramConv(max_length, hidden_size)
    output = Linear(nO=width, nI=hidden_size)
    layers: List[Model[Any, Any]] = [tok2vec, composer, output]
    refs: Dict[str, Any] = {"tok2vec": tok2vec, "composer": composer, "output": output}
    if features is not None:
        features = chain(features, Linear(nO=hidden_size))
        layers.append(features)
    refs["features"] = features
    refs["context"] = Linear(nO=hidden_size) if context else None
    layers += [refs["context"]] if context else []
    return Model(
        f"{head}_kpe",
        _forward,
        init=_init,
        layers=layers,
        refs=refs,
        attrs={
            "head": head,
            "max_length": max_length,
            "activation": head != "chunk",
            "dropout_rate": 0.0,
            **({} if loss is None else {"loss": loss}),
        },
        dims={"nO": width},
    )


def _init(
    model: Model[InT, Floats2d], X: Optional[InT] = None, Y: Optional[Floats2d] = None
) -> None:
    tok2vec, composer = model.get_ref("tok2vec"), model.get_ref("composer")
    features, context = model.maybe_get_ref("features"), model.maybe_get_ref("context")
    tok2vec.initialize(X=None if X is None else X[0])
    composer.set_dim("nI", tok2vec.get_dim("nO"))
    composer.initialize()
    model.get_ref("output").initialize()
    if context is not None:
        context.set_dim("nI", tok2vec.get_dim("nO"))
        context.initialize()
    if features is not None:
        features.initialize(X=X)


def _forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> Tuple[Floats2d, Callable[[Floats2d], InT]]:
    docs, mentions = inputs
    ops: Any = model.ops
    features, context = model.maybe_get_ref("features"), model.maybe_get_ref("context")
    token_mask: Any = 1.0
    hidden_mask: Any = 1.0

    tokens, bp_tokens = represent_tokens(model, docs, is_train)
    X = flatten(model, tokens)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    if rate:
        token_mask = ops.get_dropout_mask(X.shape, rate)
        X = X * token_mask
    hidden, bp_hidden = model.get_ref("composer")((X, mentions), is_train)
    of_phrases: Any = None
    docs_of = mentions.phrase_docs
    if features is not None:
        of_phrases, bp_features = features(inputs, is_train)
    if context is not None:
        means = ops.reduce_mean(X, ops.asarray1i(mentions.doc_tokens))
        around, bp_context = context(means, is_train)
        if of_phrases is None:
            of_phrases = around[docs_of]
        else:
            # Doc by doc: nothing is copied.
            parts = numpy.cumsum(mentions.doc_phrases)[:-1].tolist()
            for part, row in zip(ops.xp.split(of_phrases, parts), around):
                part += row
    if of_phrases is not None:
        hidden += of_phrases[mentions.phrases]
    if model.attrs["activation"]:
        active = hidden > 0 if is_train else None
        hidden = ops.xp.maximum(hidden, 0, out=hidden)
        if rate:
            hidden_mask = ops.get_dropout_mask(hidden.shape, rate / 2)
            hidden = hidden * hidden_mask
    scores, bp_scores = model.get_ref("output")(hidden, is_train)

    def backprop(d_scores: Floats2d) -> InT:
        d_hidden = bp_scores(d_scores)
        if model.attrs["activation"]:
            d_hidden = d_hidden * hidden_mask * active
        if of_phrases is not None:
            d_phrases = ops.alloc2f(*of_phrases.shape)
            ops.scatter_add(d_phrases, mentions.phrases, d_hidden)
        if features is not None:
            bp_features(d_phrases)
        dX, _ = bp_hidden(d_hidden)
        if context is not None:
            d_around = ops.alloc2f(*around.shape)
            ops.scatter_add(d_around, docs_of, d_phrases)
            d_means = bp_context(d_around)
            lengths = ops.asarray1i(mentions.doc_tokens)
            dX += ops.backprop_reduce_mean(d_means, lengths)
        bp_tokens(unflatten(dX * token_mask, mentions.doc_tokens))
        return inputs

    return scores, backprop


def represent_tokens(
    model: Model[Any, Any], docs: List[Doc], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Doc]]]:
    """The representations of the tokens of each doc, and the way back."""
    tok2vec: Tok2Vec = model.get_ref("tok2vec")
    if is_train:
        return tok2vec.begin_update(docs)
    return represent(tok2vec, docs), lambda d_rows: docs


def flatten(model: Model[Any, Any], rows: Sequence[Floats2d]) -> Floats2d:
    """The tokens of all docs, one after the other."""
    tokens: Floats2d = model.ops.xp.concatenate(rows, axis=0)
    return tokens


def unflatten(rows: Floats2d, lengths: numpy.ndarray) -> List[Floats2d]:
    """The counterpart of `flatten`."""
    ends = numpy.cumsum(lengths)
    return [rows[end - n : end] for end, n in zip(ends.tolist(), lengths.tolist())]
