"""Candidate-aware weights of cross attention (the MUDY paper, section "Candidate-aware
weighting", equations 2 to 8)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Sequence, Tuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class Weighting:
    """How attention is drawn to where a candidate stands.

    sigma (float): Width of the Gaussian at the lowest layer, in units of `scale`.
    gamma (float): What each layer adds to the width.
    max_sigma (float): The greatest width.
    scale (float): Sub-tokens of a width of 1.
    neighbours (Tuple[float, ...]): Widths of the Gaussians at similar occurrences,
        the most similar first.
    share (float): Weight of each of them in the mixture; the candidate's own Gaussian
        has the rest.
    threshold (float): Weights of the mixture below it become 0.
    top (int): Sub-tokens that the candidate is aligned to best, which keep weight 1.
    padded (int): Length that sentences are padded to, where the alignment is the mean
        over all their rows but the first five and the last two, as in the code of the
        authors for T5; 0 for the candidate's own rows, as in the paper.
    after_softmax (bool): Whether decoder-only models have the attention after the
        softmax multiplied by the weights and divided by its sum, as in the code of the
        authors, or the scores before it changed by eq. 8, as in the paper.
    truncated_neighbours (Optional[Tuple[int, int]]): Occurrences that begin at or
        before the first number, or at or after the second, are nobody's neighbours, as
        in the code of the authors.
    """

    sigma: float = 0.3
    gamma: float = 0.1
    max_sigma: float = float("inf")
    scale: float = 50.0
    neighbours: Tuple[float, ...] = (0.15, 0.10, 0.05)
    share: float = 0.1
    threshold: float = 0.3
    top: int = 15
    padded: int = 0
    after_softmax: bool = False
    truncated_neighbours: Optional[Tuple[int, int]] = None


@dataclass(frozen=True)
class Occurrences:
    """Where the candidates of a document stand in the model's input.

    starts (Tensor): First sub-token of each occurrence, int of shape (n,).
    ends (Tensor): Last sub-token of each, int of shape (n,).
    inside (Tensor): Whether the occurrence is in the input at all, bool of shape (n,).
    neighbours (Tensor): Centres of similar occurrences, int of shape (n, k).
    has_neighbour (Tensor): Which of them there are, bool of shape (n, k).
    """

    starts: Tensor
    ends: Tensor
    inside: Tensor
    neighbours: Tensor
    has_neighbour: Tensor

    def take(self, some: Sequence[int]) -> "Occurrences":
        """Some of them."""
        at = torch.tensor(list(some), device=self.starts.device)
        return Occurrences(
            self.starts[at],
            self.ends[at],
            self.inside[at],
            self.neighbours[at],
            self.has_neighbour[at],
        )


@dataclass(frozen=True)
class Priors:
    """Where attention is drawn to before any alignment.

    where (Occurrences): The occurrences.
    blank (Tensor): Sub-tokens of the input that nothing is aligned to, bool of shape
        (length,).
    settings (Weighting): How it is drawn.
    """

    where: Occurrences
    blank: Tensor
    settings: Weighting

    @cached_property
    def others(self) -> Tensor:
        """The Gaussians of similar occurrences, the same in all layers."""
        return similar(self.where, len(self.blank), self.settings)

    def of_layer(self, layer: int) -> Tuple[Tensor, Tensor]:
        """The plain Gaussians and the mixture, float of shape (n, length)."""
        settings = self.settings
        sigma = min(settings.sigma + layer * settings.gamma, settings.max_sigma)
        plain = gaussian(self.where, len(self.blank), sigma, settings.scale)
        return plain, mixture(plain, self.others, settings)

    def weights(self, layer: int, alignment: Tensor) -> Tensor:
        """The final weights (eq. 6), float of shape (heads, n, length).

        alignment (Tensor): Pre-softmax scores between candidates and input (eq. 5), of
            the same shape.
        """
        plain, prior = self.of_layer(layer)
        return aligned_weights(
            prior, alignment, self.settings, apart=self.blank, plain=plain
        )

    def take(self, some: Sequence[int]) -> "Priors":
        """Those of some occurrences."""
        return Priors(self.where.take(some), self.blank, self.settings)


def gaussian(where: Occurrences, length: int, sigma: float, scale: float) -> Tensor:
    """The Gaussian around each occurrence (eq. 2), 1 within it. An occurrence that is
    not in the input has 1 everywhere.

    length (int): Sub-tokens of the input.
    RETURNS (Tensor): Float of shape (n, length).
    """
    columns = torch.arange(length, device=where.starts.device)[None]
    # As Python rounds: halves to the even number.
    centres = torch.round((where.starts + where.ends).float() / 2)[:, None]
    weights = torch.exp(-(((columns - centres) / scale) ** 2) / (2 * sigma**2))
    within = (columns >= where.starts[:, None]) & (columns <= where.ends[:, None])
    return weights.masked_fill(within | ~where.inside[:, None], 1.0)


def similar(where: Occurrences, length: int, settings: Weighting) -> Tensor:
    """The sum of the Gaussians of the occurrences similar to each (eq. 4).

    length (int): Sub-tokens of the input.
    RETURNS (Tensor): Float of shape (n, length).
    """
    columns = torch.arange(length, device=where.starts.device)
    widths = torch.tensor(settings.neighbours, device=where.starts.device)
    distances = (columns - where.neighbours[..., None]) / settings.scale
    others = torch.exp(-(distances**2) / (2 * widths[:, None] ** 2))
    return (others * where.has_neighbour[..., None]).sum(dim=1)


def mixture(weights: Tensor, others: Tensor, settings: Weighting) -> Tensor:
    """The mixture with the Gaussians of similar occurrences (eq. 4), divided by its
    maximum, and 0 below the threshold.

    weights (Tensor): What `gaussian` returned.
    others (Tensor): What `similar` returned.
    RETURNS (Tensor): Float of shape (n, length).
    """
    own = 1 - settings.share * len(settings.neighbours)
    mixed = own * weights + settings.share * others
    mixed = mixed / mixed.amax(dim=1, keepdim=True)
    return mixed.masked_fill(mixed < settings.threshold, 0.0)


def aligned_weights(
    prior: Tensor,
    alignment: Tensor,
    settings: Weighting,
    *,
    apart: Optional[Tensor] = None,
    plain: Optional[Tensor] = None,
) -> Tensor:
    """Weight 1 for the sub-tokens that a candidate is aligned to best, the prior for
    all others (eq. 6).

    prior (Tensor): Float of shape (n, length).
    alignment (Tensor): Pre-softmax scores between candidate and input (eq. 5), float
        of shape (heads, n, length).
    apart (Optional[Tensor]): Sub-tokens that nothing is aligned to, bool of shape
        (length,).
    plain (Optional[Tensor]): The weights of those, float of shape (n, length).
    RETURNS (Tensor): Float of shape (heads, n, length).
    """
    if apart is not None:
        alignment = alignment.masked_fill(apart, -torch.inf)
    best = alignment.topk(min(settings.top, alignment.shape[-1]), dim=-1).indices
    weights = prior.expand(alignment.shape).scatter(-1, best, 1.0)
    if apart is not None and plain is not None:
        weights = torch.where(apart, plain, weights)
    return weights


def reweight(scores: Tensor, weights: Tensor) -> Tensor:
    """Sign-stabilised weighting of pre-softmax scores (eq. 8): more weight never makes
    a score smaller, and none makes it larger than it was.

    scores (Tensor): Before any mask, of any shape.
    weights (Tensor): Of the same shape.
    """
    return scores * torch.where(scores < 0, 1 - weights, weights)
