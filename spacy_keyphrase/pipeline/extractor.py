"""``keyphrase_extractor``: present keyphrases by a trained network."""

from itertools import islice
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from spacy.language import Language
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Config, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..candidates import Suggester
from ..keyphrase import KEY
from ..models.features import find_styles
from ..models.heads import Gold
from ..models.mentions import Mentions
from ..selection import Selection, Subphrases
from ..training.gold import read_gold
from .annotate import SCORE_WEIGHTS, Case, Existing, Scorer
from .loading import ADVICE, LoadablePipe
from .network import ExtractorModel, NetworkAnnotator, Style

_MODEL = """
[model]
@architectures = "spacy_keyphrase.JointKPE.v1"
max_length = 7
hidden_size = 128

[model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
rows = [5000, 1000, 2500, 1000]
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
include_static_vectors = false

[model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = ${model.tok2vec.embed.width}
window_size = 1
maxout_pieces = 3
depth = 4

[model.features]
@layers = "spacy_keyphrase.PhraseFeatures.v1"
"""

DEFAULT_CONFIG = {
    "model": Config().from_str(_MODEL)["model"],
    "candidates": {
        "@keyphrase_candidates": "spacy_keyphrase.NGrams.v1",
        "max_words": 4,
    },
    "top_n": 10,
    "min_score": None,
    "max_similarity": 1.0,
    "diversity": 0.0,
    "subphrases": "keep",
    "case": "surface",
    "existing": "replace",
    "style": None,
    "blend": 0.0,
    "key": KEY,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}


@Language.factory(
    "keyphrase_extractor",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_extractor(
    nlp: Language,
    name: str,
    model: ExtractorModel,
    candidates: Suggester,
    top_n: int,
    min_score: Optional[float],
    max_similarity: float,
    diversity: float,
    subphrases: Subphrases,
    case: Case,
    existing: Existing,
    style: Optional[Style],
    blend: float,
    key: str,
    scorer: Optional[Scorer],
) -> "KeyphraseExtractor":
    """Construct a KeyphraseExtractor component.

    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network: `JointKPE`,
        `RankKPE`, `ChunkKPE`, `TagKPE` or `SpanKPE`.
    candidates (Suggester): Registered function from a doc to token offsets: what the
        network ranks.
    top_n (int): How many keyphrases at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep, 0..1; no limit by default.
    max_similarity (float): Above it the less good of two phrases of similar spelling
        is dropped (Dice coefficient of character trigrams). 1 keeps all.
    diversity (float): Weight of diversity against score, 0..1, in the choice of
        phrases (maximal marginal relevance).
    subphrases (str): "keep", or "drop" phrases contained in a better one or
        containing it.
    case (str): "surface" as in the document, or "lower".
    existing (str): What becomes of the keyphrases that other pipes have set: "replace"
        them, or "keep" them among the new ones, by their scores.
    style (Optional[Style]): The annotation convention to follow, one of those that the
        model was trained with, or a dict of several with their weights; by default
        none in particular.
    blend (float): Weight of an untrained ranking beside the network: its logarithm
        times this is added to the scores. Texts unlike those that the network learned
        from gain by it. Takes a ranking head and `PhraseFeatures`.
    key (str): Key of the span group, of the gold as well, and name of the `doc._`
        attribute.
    scorer (Optional[Scorer]): The scoring method.
    """
    selection = Selection(top_n, min_score, max_similarity, diversity, subphrases)
    return KeyphraseExtractor(
        nlp.vocab,
        model,
        candidates,
        name,
        selection=selection,
        case=case,
        existing=existing,
        style=style,
        blend=blend,
        key=key,
        scorer=scorer,
    )


class KeyphraseExtractor(NetworkAnnotator, LoadablePipe):
    """A network that learns from gold keyphrases; see `NetworkAnnotator`.

    vocab (Vocab): The shared vocabulary.
    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network.
    candidates (Suggester): From a doc to token offsets. Mentions of more tokens than
        the network's `max_length` are left out.
    name (str): Name of the component; the `source` of its keyphrases.
    selection (Optional[Selection]): How many keyphrases are kept, and which.
    case (str): "surface" or "lower".
    existing (str): "replace" or "keep".
    style (Optional[Style]): The annotation convention to follow.
    blend (float): Weight of an untrained ranking beside the network.
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from a batch of examples.

        examples (Iterable[Example]): The batch. What has no span group of the `key`
            in its reference is not learned from.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Optional[Dict[str, float]]): Losses by component, added to.
        RETURNS (Dict[str, float]): The updated losses.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "KeyphraseExtractor.update")
        docs = [example.predicted for example in examples]
        # A doc without annotation stays in the batch, for the sake of listeners.
        annotated = [self.key in example.reference.spans for example in examples]
        mentions = self._read(docs, annotated, self._gold_styles(examples))
        if not len(mentions):
            return losses
        gold = read_gold(examples, mentions, self.key)
        mentions.gold = gold.phrases
        set_dropout_rate(self.model, drop)
        with self._threads():
            output, backprop = self.model.begin_update((docs, mentions))
            loss, gradient = self._loss(output, mentions, gold)
            backprop(gradient)
            if sgd is not None:
                self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def _gold_styles(self, examples: Iterable[Example]) -> List[Optional[Style]]:
        """The styles of the gold, where the model knows any."""
        groups = [example.reference.spans.get(self.key) for example in examples]
        return [
            group.attrs.get("style") if self.styles and group is not None else None
            for group in groups
        ]

    def get_loss(
        self, examples: Iterable[Example], scores: Tuple[Floats2d, Mentions]
    ) -> Tuple[float, Floats2d]:
        """The loss of a batch, and its gradient by the output of the network.

        examples (Iterable[Example]): The batch.
        scores (Tuple[Floats2d, Mentions]): The network's output, and the mentions that
            it was given.
        RETURNS (Tuple[float, Floats2d]): The loss and the gradient.
        """
        output, mentions = scores
        gold = read_gold(list(examples), mentions, self.key)
        return self._loss(output, mentions, gold)

    def _loss(
        self, output: Floats2d, mentions: Mentions, gold: Gold
    ) -> Tuple[float, Floats2d]:
        ops: Any = self.model.ops
        loss = self.head.loss(ops.to_numpy(output), mentions, gold)
        return loss.value, ops.asarray2f(loss.gradient)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
    ) -> None:
        """Initialize the network from a sample of examples.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        RAISES: ValueError where no example of the first hundred has a gold keyphrase
            that is among its candidates.
        """
        validate_get_examples(get_examples, "KeyphraseExtractor.initialize")
        sample = [eg for eg in islice(get_examples(), 100) if len(eg.predicted)]
        docs = [example.predicted for example in sample]
        mentions = self.read(docs)
        gold = read_gold(sample, mentions, self.key)
        if not gold.phrases.any():
            raise ValueError(self._nothing_to_learn(sample))
        few = docs[:10]
        self.model.initialize(X=(few, self.read(few)))

    def check_loaded(self) -> None:
        """Raise a ValueError where the saved model has other styles."""
        saved = find_styles(self.model)
        if saved != self.styles:
            raise ValueError(
                f"The saved model of {self.name!r} has the styles {saved}, the config "
                f"has {self.styles}. {ADVICE}"
            )

    def _nothing_to_learn(self, sample: List[Example]) -> str:
        annotated = [eg for eg in sample if self.key in eg.reference.spans]
        if not annotated:
            return (
                f"None of the first {len(sample)} examples has gold keyphrases in "
                f"doc.spans[{self.key!r}]. Make a corpus with `python -m spacy "
                "keyphrase convert`, or set `key` to the group that holds them."
            )
        n_present = sum(len(eg.reference.spans[self.key]) for eg in annotated)
        if not n_present:
            return (
                f"The gold keyphrases of the first {len(sample)} examples are all "
                "absent from their texts; an extractor can only learn those that are "
                "present. Use a generator for these."
            )
        return (
            f"None of the {n_present} gold mentions of the first {len(sample)} "
            "examples is a candidate. Widen `candidates`, or `max_length` of the "
            f"architecture (now {self.model.attrs['max_length']} tokens)."
        )
