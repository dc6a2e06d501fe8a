"""An encoder of Hugging Face transformers as a torch module. Needs torch: to be
imported only where a transformer is wanted."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, List, Optional, Sequence

import numpy
import torch
from thinc.util import get_torch_default_device
from torch.utils.checkpoint import checkpoint

from ..devices import half_type, leave_threads, mixed
from .transformer import TransformerSettings
from .windows import Frame, Pass, Pieces, make_passes


@dataclass(frozen=True)
class Batch:
    """What goes through the encoder.

    passes (List[Pass]): The windows.
    n_tokens (int): Tokens of the docs.
    """

    passes: List[Pass]
    n_tokens: int


class Encoder(torch.nn.Module):
    """From the sub-tokens of docs to vectors of their tokens.

    model (torch.nn.Module): The encoder.
    tokenizer (Any): Its fast tokenizer.
    settings (TransformerSettings): Windows, pooling, precision.
    """

    def __init__(
        self, model: Any, tokenizer: Any, settings: TransformerSettings
    ) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        self.width = int(model.config.hidden_size)
        self.frame = _make_frame(model, tokenizer, settings)

    def read(self, docs: Sequence[List[str]]) -> Batch:
        """Cut the tokens of docs into sub-tokens, and these into windows.

        docs (Sequence[List[str]]): The tokens of each doc.
        RETURNS (Batch): Input of `forward`.
        """
        passes = make_passes(
            self._read_pieces(docs),
            self.frame,
            mean=self.settings.pooling == "mean",
            max_batch_tokens=self.settings.max_batch_tokens,
        )
        return Batch(passes, sum(map(len, docs)))

    def _read_pieces(self, docs: Sequence[List[str]]) -> Pieces:
        n_tokens = numpy.array(list(map(len, docs)), dtype="i8")
        n_pieces = numpy.zeros_like(n_tokens)
        filled = numpy.flatnonzero(n_tokens)
        ids: List[List[int]] = []
        tokens = [numpy.zeros(0, dtype="i8")]
        if len(filled):
            found = self.tokenizer(
                [words for words in docs if words],
                is_split_into_words=True,
                add_special_tokens=False,
                padding=False,
                truncation=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,  # of documents longer than a window
            )
            ids = found["input_ids"]
            first_tokens = numpy.cumsum(n_tokens) - n_tokens
            for i, place in enumerate(filled):
                words = numpy.array(found.word_ids(i), dtype="i8")
                tokens.append(words + first_tokens[place])
            n_pieces[filled] = list(map(len, ids))
        return Pieces(
            numpy.fromiter(chain.from_iterable(ids), dtype="i8"),
            numpy.concatenate(tokens),
            n_pieces,
        )

    def forward(self, batch: Batch) -> torch.Tensor:
        """Represent the tokens of a batch.

        batch (Batch): What `read` returned.
        RETURNS (Tensor): Float of shape (tokens, width).
        """
        leave_threads()
        device = next(self.parameters()).device
        output = torch.zeros((batch.n_tokens, self.width), device=device)

        def tensor(array: numpy.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(device)

        again = self.settings.grad_checkpointing and torch.is_grad_enabled()
        for windows in batch.passes:
            inputs = tensor(windows.ids), tensor(windows.mask)
            if again:
                hidden = checkpoint(self._encode, *inputs, use_reentrant=False)
            else:
                hidden = self._encode(*inputs)
            used = hidden.flatten(0, 1).index_select(0, tensor(windows.rows)).float()
            if windows.weights is not None:
                used = used * tensor(windows.weights)[:, None]
            output.index_add_(0, tensor(windows.tokens), used)
        if not batch.passes and torch.is_grad_enabled():
            # There is nothing to learn from; backward takes it nevertheless.
            output.requires_grad_()
        return output

    def _encode(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        with mixed(ids.device, self.settings.mixed_precision):
            hidden: torch.Tensor = self.model(
                input_ids=ids, attention_mask=mask
            ).last_hidden_state
        return hidden


def _make_frame(model: Any, tokenizer: Any, settings: TransformerSettings) -> Frame:
    probe = tokenizer("a", return_special_tokens_mask=True)
    inside = numpy.flatnonzero(numpy.array(probe["special_tokens_mask"]) == 0)
    prefix = probe["input_ids"][: inside[0]]
    suffix = probe["input_ids"][inside[-1] + 1 :]
    window, stride = settings.window, settings.stride
    limit = _max_length(model)
    if limit is not None and limit < window:
        window, stride = limit, max(1, stride * limit // window)
    size = window - len(prefix) - len(suffix)
    if size < 1:
        raise ValueError(
            f"A window of {window} sub-tokens has no room for text beside the special "
            f"ones of {settings.name!r}."
        )
    return Frame(
        size=size,
        stride=min(stride, size),
        truncate=settings.truncate,
        prefix=prefix,
        suffix=suffix,
        pad=tokenizer.pad_token_id or 0,
    )


def _max_length(model: Any) -> Optional[int]:
    """The sub-tokens that an encoder can take at once, None for any number."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            # RoBERTa and its kin count positions from behind the padding's number.
            padding = module.padding_idx
            return int(module.num_embeddings) - (0 if padding is None else padding + 1)
    length = getattr(model.config, "max_position_embeddings", None) or 0
    return length if length > 0 else None


def needs_scaling() -> bool:
    """Whether small gradients vanish in the 16 bits of the device in use."""
    return half_type(get_torch_default_device()) is torch.float16
