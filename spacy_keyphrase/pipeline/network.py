"""What the pipes have in common whose keyphrases a network scores."""

from collections import Counter
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..candidates import Suggester, suggest_batch
from ..keyphrase import KEY, Alignment, Record, register_extensions
from ..models.features import find_styles
from ..models.heads import HEADS
from ..models.mentions import (
    DocMentions,
    Mentions,
    phrase_max,
    read_mentions,
    split_mentions,
)
from ..selection import Selection, select
from ..word_reader import read_words
from ..words import Words
from .annotate import Case, KeyphraseAnnotator, Scorer, Surfaces, check_case

ExtractorModel = Model[Tuple[List[Doc], Mentions], Floats2d]

# Tokens that go through the network at once, where docs are short: about what its
# arrays can be for a processor's cache.
_BATCH_TOKENS = 4_000


class NetworkAnnotator(KeyphraseAnnotator):
    """Suggest candidates, score their mentions with a network, keep the best phrases.

    vocab (Vocab): The shared vocabulary.
    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network.
    candidates (Suggester): From a doc to token offsets. Mentions of more tokens than
        the network's `max_length` are left out.
    name (str): Name of the component; the `source` of its keyphrases.
    selection (Optional[Selection]): How many keyphrases are kept, and which.
    case (str): "surface" or "lower".
    style (Optional[str]): The annotation convention to follow.
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
        style: Optional[str] = None,
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        head = model.attrs.get("head")
        if head not in HEADS:
            raise ValueError(
                f"The model of {name!r} has the head {head!r}; its architecture must "
                "be that of an extractor, such as spacy_keyphrase.JointKPE.v1."
            )
        register_extensions(key)
        self.vocab = vocab
        self.model = model
        self.candidates = candidates
        self.name = name
        self.selection = selection or Selection()
        self.case = case
        self.key = key
        self.scorer = scorer
        self.head = HEADS[head]()
        self.styles = find_styles(model)
        self.style = style
        self._style_index(style)  # an unknown one is said at once
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
        styles: Sequence[Optional[str]],
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
        indices = [self._style_index(style) for style in styles]
        mentions.styles = numpy.array(indices, dtype="i4")
        return mentions

    def _style_index(self, style: Optional[str]) -> int:
        """The number of a style; -1 for none."""
        if style is None:
            return -1
        if style not in self.styles:
            known = ", ".join(map(repr, self.styles)) or "none"
            raise ValueError(
                f"The model of {self.name!r} does not know the style {style!r}. Its "
                f"styles: {known}."
            )
        return self.styles.index(style)

    def predict(self, docs: Sequence[Doc]) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        """
        records: List[List[Record]] = []
        batch: List[Doc] = []
        tokens = 0
        for doc in docs:
            if batch and tokens + len(doc) > _BATCH_TOKENS:
                records += self._predict(batch)
                batch, tokens = [], 0
            batch.append(doc)
            tokens += len(doc)
        return records + (self._predict(batch) if batch else [])

    def _predict(self, docs: List[Doc]) -> List[List[Record]]:
        mentions = self.read(docs)
        if not len(mentions):
            return [[] for _ in docs]
        ops: Any = self.model.ops
        output = ops.to_numpy(self.model.predict((docs, mentions)))
        scores = self._calibrate(self.head.scores(output, mentions))
        best = phrase_max(scores, mentions)
        return [
            self._select(doc, mentions.words_of(i), own, scores, best)
            for i, (doc, own) in enumerate(zip(docs, split_mentions(mentions)))
        ]

    def _select(
        self,
        doc: Doc,
        words: Words,
        mentions: DocMentions,
        scores: numpy.ndarray,
        best: numpy.ndarray,
    ) -> List[Record]:
        """The best phrases of a doc from the scores of its mentions and phrases."""
        forms = _Forms(words, mentions)
        counts = Counter(forms.stem_ids)
        surfaces = Surfaces(doc)
        alignment: Optional[Alignment] = None
        of_mentions = scores[mentions.mentions].tolist()
        records = []
        for i, score in select(forms, best[mentions.phrases], self.selection):
            rows = slice(mentions.bounds[i], mentions.bounds[i + 1])
            places = found = list(zip(forms.starts[rows], forms.ends[rows]))
            ids = forms.ids(i)
            if min([counts[stem] for stem in ids]) > len(places):
                # The phrase may also stand where it is no candidate.
                alignment = alignment or Alignment(doc, forms.stem_ids, words.tokens)
                found = alignment.find_stems(ids)
            more = len(found) > len(places)
            records.append(
                Record(
                    text=self._text(surfaces, places),
                    form=forms.join(ids),
                    score=score,
                    mentions=found if more else places,
                    source=self.name,
                    mention_scores=None if more else of_mentions[rows],
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


class _Forms(Sequence[str]):
    """The normal forms of a doc's phrases, made when they are asked for: of most,
    nobody does."""

    def __init__(self, words: Words, mentions: DocMentions):
        self.starts, self.ends = mentions.places.T.tolist()
        self.stem_ids: List[int] = words.stem_ids.tolist()
        self._offsets = words.first_stems
        self._bounds = mentions.bounds
        self._names = words.table.names

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def ids(self, i: int) -> List[int]:
        """The stems of a phrase as rows of their table."""
        mention = self._bounds[i]
        start, end = self.starts[mention], self.ends[mention]
        return self.stem_ids[self._offsets[start] : self._offsets[end]]

    def join(self, ids: Sequence[int]) -> str:
        """The normal form of stems."""
        return " ".join([self._names[row] for row in ids])

    def __getitem__(self, i: Any) -> Any:
        return self.join(self.ids(i))
