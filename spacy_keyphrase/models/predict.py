"""What thinc's layers predict, without what they keep for training."""

from typing import Any, Callable, Dict, Iterator

import numpy
from thinc.api import Model, NumpyOps
from thinc.layers.chain import forward as _chain
from thinc.layers.dropout import forward as _dropout
from thinc.layers.expand_window import forward as _expand_window
from thinc.layers.layernorm import forward as _layernorm
from thinc.layers.maxout import forward as _maxout
from thinc.layers.residual import forward as _residual
from thinc.layers.with_array import forward as _with_array
from thinc.types import Floats2d

from .convolution import maxout_of_windows


def predict_by_layer(model: Model[Any, Any], X: Any) -> Any:
    """What ``model.predict(X)`` returns but for rounding, in less time and memory: what
    a layer of thinc keeps for training, also where nobody trains, is not computed, or
    is gone before the next one begins.

    model (Model): Any model.
    X (Any): Its input.
    """
    if model._func is _chain:
        return _predict_chain(model, X)
    if model._func is _with_array and isinstance(X, list):
        ops: Any = model.layers[0].ops
        pad = model.attrs["pad"]
        Y = predict_by_layer(model.layers[0], ops.flatten(X, pad=pad))
        lengths = numpy.array([len(part) for part in X], dtype="i4")
        return ops.unflatten(Y, lengths, pad=pad)
    if hasattr(X, "shape"):
        predict = _OF_ARRAYS.get(model._func)
        if predict is not None:
            return predict(model, X)
    return model.predict(X)


def _predict_chain(model: Model[Any, Any], X: Any) -> Any:
    layers = list(_links(model))
    while layers:
        layer = layers.pop(0)
        if layers and _are_convolution(layer, layers[0], X):
            maxout = layers.pop(0)
            W: Any = maxout.get_param("W")
            b: Any = maxout.get_param("b")
            X = maxout_of_windows(X, W, b)
        else:
            X = predict_by_layer(layer, X)
    return X


def _links(model: Model[Any, Any]) -> Iterator[Model[Any, Any]]:
    """The layers of a chain, and of chains in it."""
    for layer in model.layers:
        if layer._func is _chain:
            yield from _links(layer)
        else:
            yield layer


def _are_convolution(first: Model[Any, Any], then: Model[Any, Any], X: Any) -> bool:
    """Whether two layers are what `maxout_of_windows` computes. Products in 16 bits
    are left out: there sums of rows would be rounded once more."""
    return (
        first._func is _expand_window
        and first.attrs["window_size"] == 1
        and then._func is _maxout
        and type(then.ops) is NumpyOps
        and isinstance(X, numpy.ndarray)
        and len(X) > 0
    )


def _predict_residual(model: Model[Any, Any], X: Any) -> Any:
    return X + predict_by_layer(model.layers[0], X)


def _predict_maxout(model: Model[Any, Any], X: Floats2d) -> Floats2d:
    """The greatest of each unit's pieces. All units' first pieces stand together, then
    all second ones: whole rows are compared at once."""
    ops: Any = model.ops
    W: Any = model.get_param("W")
    b: Any = model.get_param("b")
    width, pieces, _ = W.shape
    W = ops.as_contig(W.transpose((1, 0, 2))).reshape(width * pieces, -1)
    Y = ops.gemm(X, W, trans2=True)
    Y += b.T.reshape(-1)
    best = Y[:, :width]
    for start in range(width, width * pieces, width):
        best = ops.xp.maximum(best, Y[:, start : start + width])
    return best  # type: ignore[no-any-return]


def _predict_layernorm(model: Model[Any, Any], X: Floats2d) -> Floats2d:
    xp: Any = model.ops.xp
    found: Any = X - X.mean(axis=1, keepdims=True)
    variance = xp.einsum("ij,ij->i", found, found) / X.shape[1] + 1e-8
    found *= (variance**-0.5)[:, None]
    found *= model.get_param("G")
    found += model.get_param("b")
    return found  # type: ignore[no-any-return]


def _predict_dropout(model: Model[Any, Any], X: Any) -> Any:
    return X


_OF_ARRAYS: Dict[Callable[..., Any], Callable[[Model[Any, Any], Any], Any]] = {
    _residual: _predict_residual,
    _maxout: _predict_maxout,
    _layernorm: _predict_layernorm,
    _dropout: _predict_dropout,
}
