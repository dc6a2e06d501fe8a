"""Long documents go through convolutional networks in slices: what a slice needs is in
a processor's cache, and only what comes out grows with the document."""

from typing import Any, List, Optional

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .predict import predict_by_layer

# Tokens of a slice.
SLICE = 4_000


def represent(
    tok2vec: Model[List[Doc], List[Floats2d]], docs: List[Doc]
) -> List[Floats2d]:
    """Represent the tokens of docs, as ``tok2vec.predict(docs)`` does.

    tok2vec (Model[List[Doc], List[Floats2d]]): Represents the tokens. In slices, if it
        is one of spaCy's convolutional encoders, of which a token's representation
        depends on a few around it only.
    docs (List[Doc]): The docs.
    RETURNS (List[Floats2d]): Of each doc, float of shape (tokens, width).
    """
    reach = _reach(tok2vec)
    if reach is None or max(map(len, docs), default=0) <= 2 * SLICE:
        return predict_by_layer(tok2vec, docs)  # type: ignore[no-any-return]
    return [
        _in_slices(tok2vec, doc, reach)
        if len(doc) > 2 * SLICE
        else predict_by_layer(tok2vec, [doc])[0]
        for doc in docs
    ]


def _reach(tok2vec: Model[Any, Any]) -> Optional[int]:
    """How many tokens on either side a representation depends on; None for all."""
    if len(tok2vec.layers) != 2 or any(node.shims for node in tok2vec.walk()):
        return None
    encode = tok2vec.layers[1]
    # spaCy pads what it convolves by just that many.
    if not encode.name.startswith("with_array") or not encode.attrs.get("pad"):
        return None
    return int(encode.attrs["pad"])


def _in_slices(
    tok2vec: Model[List[Doc], List[Floats2d]], doc: Doc, reach: int
) -> Floats2d:
    output: Any = None
    for start in range(0, len(doc), SLICE):
        end = min(start + SLICE, len(doc))
        first, last = max(start - reach, 0), min(end + reach, len(doc))
        rows = predict_by_layer(tok2vec, [doc[first:last].as_doc()])[0]
        if output is None:
            output = tok2vec.ops.alloc2f(len(doc), rows.shape[1])
        output[start:end] = rows[start - first : end - first]
    return output  # type: ignore[no-any-return]
