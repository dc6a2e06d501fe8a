"""Sub-tokens of documents of any length, in windows that a transformer can read."""

from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence

import numpy


@dataclass(frozen=True)
class Pieces:
    """The sub-tokens of a batch of docs, one after the other.

    ids (ndarray): Their numbers in the vocabulary, int of shape (pieces,).
    tokens (ndarray): The token that each is of, counted over the batch, in ascending
        order; int of shape (pieces,).
    doc_pieces (ndarray): How many each doc has, int of shape (docs,).
    """

    ids: numpy.ndarray
    tokens: numpy.ndarray
    doc_pieces: numpy.ndarray


@dataclass(frozen=True)
class Frame:
    """What is the same for all windows.

    size (int): Sub-tokens of a document in a window, without the special ones.
    stride (int): Sub-tokens from the start of a window to that of the next; at most
        `size`.
    truncate (bool): Whether there is only one window a doc.
    prefix (Sequence[int]): Special sub-tokens before the window.
    suffix (Sequence[int]): Special sub-tokens after it.
    pad (int): The sub-token that fills up the shorter windows of a pass.
    """

    size: int
    stride: int
    truncate: bool
    prefix: Sequence[int]
    suffix: Sequence[int]
    pad: int


@dataclass(frozen=True)
class Pass:
    """Windows that go through the network together.

    ids (ndarray): Sub-tokens, padded; int of shape (windows, length).
    mask (ndarray): Which of them are no padding, int of the same shape.
    rows (ndarray): Which outputs are used, as places in the output of shape
        (windows * length, width); int of shape (used,).
    tokens (ndarray): The token that each of them is for, int of shape (used,).
    weights (Optional[ndarray]): Their shares in its vector, float of shape (used,);
        None where each is the only one.
    """

    ids: numpy.ndarray
    mask: numpy.ndarray
    rows: numpy.ndarray
    tokens: numpy.ndarray
    weights: Optional[numpy.ndarray]


def make_passes(
    pieces: Pieces, frame: Frame, *, mean: bool, max_batch_tokens: int
) -> List[Pass]:
    """Cut documents into windows, and put windows of like length together.

    Where windows overlap, a sub-token is read from the one in which it is further
    from the edge: with windows of one size, up to the middle of the overlap from the
    former, from there on from the latter.

    pieces (Pieces): The sub-tokens.
    frame (Frame): The windows' size and what is around them.
    mean (bool): Whether to use all sub-tokens of a token, or the first only.
    max_batch_tokens (int): Sub-tokens of a pass, padding included. A longer window is
        a pass of its own.
    RETURNS (List[Pass]): The longest windows first.
    """
    n = pieces.doc_pieces
    beyond = -((frame.size - n) // frame.stride)
    n_windows = numpy.where(
        n > 0, 1 + (0 if frame.truncate else numpy.maximum(beyond, 0)), 0
    )
    doc = numpy.repeat(numpy.arange(len(n)), n_windows)
    start = frame.stride * _ranges(numpy.zeros_like(n_windows), n_windows)
    end = numpy.minimum(start + frame.size, n[doc])
    margin = (frame.size - frame.stride) // 2
    used_start = numpy.where(start > 0, start + margin, 0)
    more = (end < n[doc]) & (not frame.truncate)
    used_end = numpy.where(more, start + frame.stride + margin, end)

    first_piece = (numpy.cumsum(n) - n)[doc]
    piece = _ranges(first_piece + used_start, used_end - used_start)
    window = numpy.repeat(numpy.arange(len(doc)), used_end - used_start)
    weights = None
    if mean:
        counts = numpy.bincount(pieces.tokens[piece])
        weights = (1 / counts[pieces.tokens[piece]]).astype("f4")
    else:
        first = numpy.diff(pieces.tokens, prepend=-1)[piece] > 0
        piece, window = piece[first], window[first]
    column = len(frame.prefix) + piece - (first_piece + start)[window]
    n_used = numpy.bincount(window, minlength=len(doc))
    first_used = numpy.cumsum(n_used) - n_used

    passes = []
    lengths = end - start
    for rows in _groups(
        lengths + len(frame.prefix) + len(frame.suffix), max_batch_tokens
    ):
        ids, mask = _fill(
            pieces.ids, first_piece[rows] + start[rows], lengths[rows], frame
        )
        used = _ranges(first_used[rows], n_used[rows])
        line = numpy.repeat(numpy.arange(len(rows)), n_used[rows])
        passes.append(
            Pass(
                ids,
                mask,
                rows=line * ids.shape[1] + column[used],
                tokens=pieces.tokens[piece[used]],
                weights=None if weights is None else weights[used],
            )
        )
    return passes


def _groups(lengths: numpy.ndarray, limit: int) -> Iterator[numpy.ndarray]:
    """Which windows go together, so that all padded to the longest are in the limit."""
    order = numpy.argsort(-lengths, kind="stable")
    i = 0
    while i < len(order):
        group = order[i : i + max(1, limit // int(lengths[order[i]]))]
        yield group
        i += len(group)


def _fill(
    ids: numpy.ndarray, starts: numpy.ndarray, lengths: numpy.ndarray, frame: Frame
) -> "tuple[numpy.ndarray, numpy.ndarray]":
    """The padded sub-tokens of a group of windows, and their mask."""
    before, after, longest = len(frame.prefix), len(frame.suffix), int(lengths.max())
    columns = numpy.arange(longest)
    places = numpy.minimum(starts[:, None] + columns, len(ids) - 1)
    filled = numpy.full((len(starts), before + longest + after), frame.pad, dtype="i8")
    filled[:, :before] = frame.prefix
    filled[:, before : before + longest] = numpy.where(
        columns < lengths[:, None], ids[places], frame.pad
    )
    ends = before + lengths[:, None]
    numpy.put_along_axis(
        filled, ends + numpy.arange(after), numpy.array([frame.suffix], "i8"), axis=1
    )
    mask = numpy.arange(filled.shape[1]) < ends + after
    return filled, mask.astype("i8")


def _ranges(starts: numpy.ndarray, lengths: numpy.ndarray) -> numpy.ndarray:
    """The numbers from each start on, as many as its length, in one array."""
    ends = numpy.cumsum(lengths)
    offsets = numpy.repeat(starts - (ends - lengths), lengths)
    numbers: numpy.ndarray = numpy.arange(len(offsets)) + offsets
    return numbers
