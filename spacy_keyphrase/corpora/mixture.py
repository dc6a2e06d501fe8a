"""One stream of examples from several corpora, so that no domain drowns another."""

import random
from typing import Any, Callable, Dict, Iterable, Iterator

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

Reader = Callable[[Language], Iterable[Example]]


def create_mixture(
    # Of type `Reader`; confection looks at the types before it makes the readers.
    sources: Dict[str, Any],
    weights: Dict[str, float],
    epoch_size: int = 10_000,
    seed: int = 0,
) -> Reader:
    """Draw examples from several corpora, each as often as its weight says.

    Every corpus is streamed and begun again at its end, so that a small one is
    repeated; a corpus should shuffle itself (`shuffle_buffer`).

    sources (Dict[str, Reader]): Corpus readers by name.
    weights (Dict[str, float]): For each of them how often it is drawn from, in
        relation to the others.
    epoch_size (int): Examples in one pass.
    seed (int): Seed of the draw, which differs from pass to pass.
    RETURNS (Reader): The reader.
    """
    if set(sources) != set(weights):
        raise ValueError(
            f"The mixture has the sources {sorted(sources)} and weights for "
            f"{sorted(weights)}; each source needs a weight."
        )
    if not weights or min(weights.values()) <= 0:
        raise ValueError(f"The weights of a mixture must be above 0: {weights}.")
    if epoch_size < 1:
        raise ValueError(f"epoch_size is {epoch_size}; it must be 1 or more.")
    return Mixture(sources, weights, epoch_size, seed)


registry.readers("spacy_keyphrase.Mixture.v1", func=create_mixture)


class Mixture:
    """See `create_mixture`."""

    def __init__(
        self,
        sources: Dict[str, Reader],
        weights: Dict[str, float],
        epoch_size: int,
        seed: int,
    ):
        self.sources = sources
        self.weights = weights
        self.epoch_size = epoch_size
        self.seed = seed
        self.passes = 0
        self._streams: Dict[str, Iterator[Example]] = {}

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of one pass."""
        rng = random.Random(f"{self.seed}:{self.passes}")
        self.passes += 1
        names = sorted(self.sources)
        weights = [self.weights[name] for name in names]
        for _ in range(self.epoch_size):
            yield self._next(rng.choices(names, weights)[0], nlp)

    def _next(self, name: str, nlp: Language) -> Example:
        """The next example of a source, where it stood in the pass before."""
        for _ in range(2):
            if name not in self._streams:
                self._streams[name] = iter(self.sources[name](nlp))
            for example in self._streams[name]:
                return example
            del self._streams[name]
        raise ValueError(f"The source {name!r} of the mixture has no examples.")
