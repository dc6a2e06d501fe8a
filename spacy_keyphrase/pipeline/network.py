"""What the pipes have in common whose keyphrases a network scores."""

from contextlib import nullcontext
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..candidates import Suggester, suggest_batch
from ..keyphrase import KEY, Alignment, Record, register_extensions
from ..models.blas import one_thread, set_fast_blas
from ..models.features import find_styles, has_features
from ..models.heads import HEADS, make_head
from ..models.mentions import Mentions, phrase_max, read_mentions
from ..selection import Selection, select
from ..word_reader import read_words
from ..words import bounds
from .annotate import (
    Case,
    Existing,
    KeyphraseAnnotator,
    Scorer,
    Surfaces,
    check_case,
    check_existing,
)

ExtractorModel = Model[Tuple[List[Doc], Mentions], Floats2d]

# An annotation convention by name, or several by weight.
Style = Union[str, Dict[str, float]]

# Tokens that go through the network at once, where docs are short: a batch of spaCy's
# of abstracts. What is the same for all tokens of a word is computed once a batch.
_BATCH_TOKENS = 12_000


class NetworkAnnotator(KeyphraseAnnotator):
    """Suggest candidates, score their mentions with a network, keep the best phrases.

    vocab (Vocab): The shared vocabulary.
    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network.
    candidates (Suggester): From a doc to token offsets. Mentions of more tokens than
        the network's `max_length` are left out.
    name (str): Name of the component; the `source` of its keyphrases.
    selection (Optional[Selection]): How many keyphrases are kept, and which.
    case (str): "surface" or "lower".
    existing (str): "replace" or "keep".
    style (Optional[Style]): The annotation convention to follow.
    blend (float): Weight of an untrained ranking beside the network: its logarithm
        times this is added to the scores. Texts unlike those that the network learned
        from gain by it. The network must have a ranking head and `PhraseFeatures`.
    mixed_precision (bool): Whether the network multiplies in 16 bits, which takes torch
        and gains where the processor has instructions for it. Of networks of thinc;
        others have a setting of their own.
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: ExtractorModel,
        candidates: Suggester,
        name: str = "keyphrase_extractor",
        *,
        selection: Optional[Selection] = None,
        case: Case = "surface",
        existing: Existing = "replace",
        style: Optional[Style] = None,
        blend: float = 0.0,
        mixed_precision: bool = False,
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        check_existing(existing)
        head = model.attrs.get("head")
        if head not in HEADS:
            raise ValueError(
                f"The model of {name!r} has the head {head!r}; its architecture must "
                "be that of an extractor, such as spacy_keyphrase.JointKPE.v1."
            )
        register_extensions(key)
        set_fast_blas(model, mixed_precision)
        # The threads of torch are its own affair.
        self._threads = nullcontext if _has_shims(model) else one_thread
        self.vocab = vocab
        self.model = model
        self.candidates = candidates
        self.name = name
        self.selection = selection or Selection()
        self.case = case
        self.existing = existing
        self.key = key
        self.scorer = scorer
        self.head = make_head(model.attrs)
        if blend and (self.head.probabilities or not has_features(model)):
            raise ValueError(
                f"{name!r} has the blend {blend}, but its model has no untrained "
                "ranking to blend with: that takes JointKPE.v1 or RankKPE.v1 with "
                "PhraseFeatures.v1."
            )
        self.blend = blend
        self.styles = find_styles(model)
        self.style = style
        self._style_weights(style)  # an unknown one is said at once
        # Scale and shift of raw scores before the logistic function.
        self.cfg: Dict[str, Any] = {"calibration": [1.0, 0.0]}

    def read(self, docs: Sequence[Doc]) -> Mentions:
        """The candidate mentions of a batch of docs.

        docs (Sequence[Doc]): The docs.
        RETURNS (Mentions): What the network is given beside them.
        """
        styles = [self.style] * len(docs)
        return self._read(docs, [True] * len(docs), styles)

    def _read(
        self,
        docs: Sequence[Doc],
        wanted: Sequence[bool],
        styles: Sequence[Optional[Style]],
    ) -> Mentions:
        if not docs:
            return Mentions(*numpy.zeros((5, 0), dtype="i4"))
        words = read_words(docs)
        spans = suggest_batch(self.candidates, docs, words)
        fits = spans[:, 1] - spans[:, 0] <= self.model.attrs["max_length"]
        if not all(wanted):
            doc = numpy.repeat(numpy.array(wanted), words.doc_tokens)
            fits &= doc[spans[:, 0]]
        mentions = read_mentions(words, spans[fits])
        weights = [self._style_weights(style) for style in styles]
        mentions.styles = numpy.array(weights, dtype="f4")
        return mentions

    def _style_weights(self, style: Optional[Style]) -> List[float]:
        """The weight of each of the model's styles."""
        weights = {style: 1.0} if isinstance(style, str) else style or {}
        for name in weights:
            if name not in self.styles:
                known = ", ".join(map(repr, self.styles)) or "none"
                raise ValueError(
                    f"The model of {self.name!r} does not know the style {name!r}. "
                    f"Its styles: {known}."
                )
        return [weights.get(name, 0.0) for name in self.styles]

    def predict(self, docs: Sequence[Doc]) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        """
        with self._threads():
            return [
                records for batch in _split(docs) for records in self._predict(batch)
            ]

    def _predict(self, docs: List[Doc]) -> List[List[Record]]:
        mentions = self.read(docs)
        if not len(mentions):
            return [[] for _ in docs]
        scores = self._calibrate(self.score_mentions(docs, mentions))
        best = phrase_max(scores, mentions)
        phrases = _Phrases(mentions, scores)
        return [self._select(doc, i, phrases, best) for i, doc in enumerate(docs)]

    def score_mentions(self, docs: Sequence[Doc], mentions: Mentions) -> numpy.ndarray:
        """Score the candidate mentions of a batch, before calibration.

        docs (Sequence[Doc]): The docs.
        mentions (Mentions): What `read` found in them, one mention at least.
        RETURNS (ndarray): Float of shape (mentions,).
        """
        ops: Any = self.model.ops
        output = ops.to_numpy(self.model.predict((list(docs), mentions)))
        scores = self.head.scores(output, mentions)
        if self.blend and mentions.priors is not None:
            scores = scores + self.blend * mentions.priors[mentions.phrases]
        return scores

    def _select(
        self, doc: Doc, index: int, phrases: "_Phrases", best: numpy.ndarray
    ) -> List[Record]:
        """The best phrases of a doc, the one at `index` of its batch, from the scores
        of the phrases."""
        first, last = phrases.doc_bounds[index : index + 2]
        if first == last:
            return []
        names = phrases.words.tables[index].names
        forms = _Forms(phrases, names, first, last)
        first_token = phrases.first_tokens[index]
        surfaces = Surfaces(
            doc.vocab.strings, phrases.orths, phrases.spaces, first_token
        )
        alignment: Optional[Alignment] = None
        records = []
        for i, score in select(forms, best[first:last], self.selection):
            places = found = phrases.places(first + i, first_token)
            stems = phrases.stems(first + i)
            if min(phrases.frequency[stems]) > len(places):
                # The phrase may also stand where it is no candidate.
                alignment = alignment or phrases.align(doc, index)
                found = alignment.find_stems(phrases.stem_ids[stems])
            more = len(found) > len(places)
            records.append(
                Record(
                    text=self._text(surfaces, places),
                    form=forms[i],
                    score=score,
                    mentions=found if more else places,
                    source=self.name,
                    mention_scores=None if more else phrases.scores(first + i),
                )
            )
        return records

    def _calibrate(self, scores: numpy.ndarray) -> numpy.ndarray:
        """Scores between 0 and 1 of the raw scores of a ranking head."""
        if self.head.probabilities:
            return scores
        scale, shift = self.cfg["calibration"]
        calibrated: numpy.ndarray = 1 / (1 + numpy.exp(-(scale * scores + shift)))
        return calibrated


def _split(docs: Sequence[Doc]) -> Iterator[List[Doc]]:
    """Docs in batches of about the same size, none much above `_BATCH_TOKENS` but
    for a doc that is."""
    tokens = sum(map(len, docs))
    size = tokens / max(1, round(tokens / _BATCH_TOKENS))
    batch: List[Doc] = []
    room = size
    for doc in docs:
        # Whichever is nearer to the size: with the doc or without.
        if batch and room < len(doc) / 2:
            yield batch
            batch, room = [], size
        batch.append(doc)
        room -= len(doc)
    if batch:
        yield batch


def _has_shims(model: ExtractorModel) -> bool:
    """Whether a part of a network is of another library."""
    return any(node.shims for node in model.walk())


class _Phrases:
    """The phrases of a batch, as lists: of each only a few numbers are wanted.

    mentions (Mentions): The mentions of the batch, read with their words.
    scores (ndarray): The score of each, float of shape (mentions,).
    """

    def __init__(self, mentions: Mentions, scores: numpy.ndarray):
        if mentions.words is None:
            raise ValueError("The forms of phrases need the words of the docs.")
        words = self.words = mentions.words
        self.doc_bounds: List[int] = bounds(mentions.doc_phrases).tolist()
        self.first_tokens: List[int] = words.token_bounds.tolist()
        # Of each stem of the batch its row in the table, and how often its doc has it.
        self.stem_ids: List[int] = words.stem_ids.tolist()
        self.frequency: List[int] = words.frequency.tolist()
        self.orths: List[int] = words.orths.tolist()
        self.spaces: List[bool] = words.spaces.tolist()
        self._bounds: List[int] = [*mentions.firsts.tolist(), len(mentions)]
        self._starts: List[int] = mentions.starts.tolist()
        self._ends: List[int] = mentions.ends.tolist()
        self._scores: List[float] = scores.tolist()
        self._first_stems: List[int] = words.stem_offsets.tolist()

    def places(self, phrase: int, first_token: int) -> List[Tuple[int, int]]:
        """The token offsets of the mentions of a phrase, from a token on."""
        rows = slice(self._bounds[phrase], self._bounds[phrase + 1])
        return [
            (start - first_token, end - first_token)
            for start, end in zip(self._starts[rows], self._ends[rows])
        ]

    def scores(self, phrase: int) -> List[float]:
        """The scores of the mentions of a phrase."""
        return self._scores[self._bounds[phrase] : self._bounds[phrase + 1]]

    def stems(self, phrase: int) -> slice:
        """Where the stems of a phrase are in the lists of those of the batch."""
        mention = self._bounds[phrase]
        first_stems = self._first_stems
        return slice(
            first_stems[self._starts[mention]], first_stems[self._ends[mention]]
        )

    def align(self, doc: Doc, index: int) -> Alignment:
        """What finds phrases by their `stem_ids` in a doc, the one at `index`."""
        words = self.words[index]
        return Alignment(doc, words.stem_ids.tolist(), words.tokens)


class _Forms(Sequence[str]):
    """The normal forms of a doc's phrases, made when they are asked for: of most,
    nobody does."""

    def __init__(self, phrases: _Phrases, names: List[str], first: int, last: int):
        self._phrases = phrases
        self._first, self._last = first, last
        self._names = names

    def __len__(self) -> int:
        return self._last - self._first

    def __getitem__(self, i: Any) -> Any:
        ids = self._phrases.stem_ids[self._phrases.stems(self._first + i)]
        return " ".join([self._names[row] for row in ids])
