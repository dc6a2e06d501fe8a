"""What a pipe does with the keyphrases that a model has written."""

from functools import partial
from itertools import islice
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Literal,
    Optional,
    Sequence,
)

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..keyphrase import KEY, Alignment, Record, register_extensions
from ..models.generator import GeneratorModel
from ..normalize import get_normalizer
from .annotate import (
    Case,
    Existing,
    KeyphraseAnnotator,
    Scorer,
    Surfaces,
    check_case,
    check_existing,
)

if TYPE_CHECKING:
    from ..generation.base import Proposal

Presence = Literal["all", "present", "absent"]
Order = Literal["score", "written"]


class ProposalAnnotator(KeyphraseAnnotator):
    """Let a model write keyphrases, and find those that are present in the text.

    vocab (Vocab): The shared vocabulary.
    model (Model[Request, Any]): The generator.
    name (str): Name of the component; the `source` of its keyphrases.
    k (Optional[int]): How many keyphrases are asked for.
    presence (str): "all", "present" or "absent".
    min_score (Optional[float]): Lowest confidence to keep.
    order (str): "score" or "written".
    existing (str): "keep" or "replace".
    known_only (bool): Keep no absent keyphrases but those of `set_phrases`.
    case (str): "surface" or "lower".
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: GeneratorModel,
        name: str = "keyphrase_generator",
        *,
        k: Optional[int] = None,
        presence: Presence = "all",
        min_score: Optional[float] = None,
        order: Order = "score",
        existing: Existing = "keep",
        known_only: bool = False,
        case: Case = "surface",
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        _check("presence", presence, "all", "present", "absent")
        _check("order", order, "score", "written")
        check_existing(existing)
        _check_k(k)
        if "writes" not in model.attrs:
            raise ValueError(
                f"The model of {name!r} writes no keyphrases; its architecture must be "
                "that of a generator, such as spacy_keyphrase.SetTrans.v1."
            )
        register_extensions(key)
        self.vocab = vocab
        self.model = model
        self.name = name
        self.k = k
        self.presence = presence
        self.min_score = min_score
        self.order = order
        self.existing = existing
        self.known_only = known_only
        self.case = case
        self.key = key
        self.scorer = scorer
        # Updates so far, with which losses may change, and the normal forms of the
        # phrases that are known: what is saved with the pipe.
        self.cfg: Dict[str, Any] = {"steps": 0, "phrases": None}

    def set_phrases(self, phrases: Iterable[str]) -> None:
        """Set the phrases that absent keyphrases are taken from where `known_only` is
        set: the keyphrases of a corpus, or the terms of a thesaurus. They are compared
        by their stems, and saved with the pipe.

        phrases (Iterable[str]): The phrases, in place of those set before.
        RAISES: TypeError at a single string, whose letters would be the phrases.
        """
        if isinstance(phrases, str):
            raise TypeError(
                f"set_phrases takes a list of phrases, not a string: [{phrases!r}]"
            )
        form = get_normalizer(self.vocab.lang).form
        forms = (form(phrase) for phrase in phrases)
        self.cfg["phrases"] = sorted({form for form in forms if form})

    def __call__(self, doc: Doc, *, k: Optional[int] = None) -> Doc:
        """Set the keyphrases of one doc.

        doc (Doc): The doc.
        k (Optional[int]): How many keyphrases are asked for, if not as set.
        """
        return next(self.pipe([doc], batch_size=1, k=k))

    def pipe(
        self, stream: Iterable[Doc], *, batch_size: int = 64, k: Optional[int] = None
    ) -> Iterator[Doc]:
        """Set the keyphrases of a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time.
        k (Optional[int]): How many keyphrases are asked for, if not as set; from
            `nlp.pipe` by its `component_cfg`.
        YIELDS (Doc): The same docs.
        """
        _check_k(k)
        return self._pipe(stream, batch_size, partial(self.predict, k=k))

    def predict(
        self, docs: Sequence[Doc], *, k: Optional[int] = None
    ) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        k (Optional[int]): How many keyphrases are asked for, if not as set.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        RAISES: ValueError where only known ones are to be kept, and none were set.
        """
        from ..generation.base import Request

        known = self._known()
        k = self.k if k is None else k
        records: List[List[Record]] = [[] for _ in docs]
        filled = [i for i, doc in enumerate(docs) if doc.text.strip()]
        if k == 0 or not filled:
            return records
        written = self.model.predict(Request([docs[i].text for i in filled], k=k))
        for i, found in zip(filled, written):
            records[i] = self._read(docs[i], found, k, known)
        return records

    def _known(self) -> Optional[FrozenSet[str]]:
        """Normal forms of the absent keyphrases that may be kept; None: of all."""
        if not self.known_only:
            return None
        # A pipe that was saved before there were any has no such entry.
        phrases = self.cfg.get("phrases")
        if phrases is None:
            raise ValueError(
                f"{self.name!r} is to keep known absent keyphrases only (known_only), "
                "and knows none: set `phrases` of [initialize.components."
                f"{self.name}] to a file of `python -m spacy keyphrase phrases`, or "
                "call its method set_phrases."
            )
        return frozenset(phrases)

    def _read(
        self,
        doc: Doc,
        proposals: "Sequence[Proposal]",
        k: Optional[int],
        known: Optional[FrozenSet[str]],
    ) -> List[Record]:
        """The keyphrases of a doc from what the model wrote."""
        if self.order == "score":
            proposals = sorted(proposals, key=lambda proposal: -proposal.score)
        alignment, surfaces = Alignment(doc), Surfaces.of_doc(doc)
        records: Dict[str, Record] = {}
        for text, score in proposals:
            form = alignment.normalizer.form(text)
            if not form or form in records:
                continue
            if self.min_score is not None and score < self.min_score:
                continue
            mentions = alignment.find(text)
            if self.presence != "all" and bool(mentions) != (
                self.presence == "present"
            ):
                continue
            if known is not None and not mentions and form not in known:
                continue
            shown = self._text(surfaces, mentions) if mentions else text
            records[form] = Record(shown, form, score, mentions, self.name)
        return list(islice(records.values(), k))


def _check(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise ValueError(
            f"{name} must be {', '.join(map(repr, allowed[:-1]))} or "
            f"{allowed[-1]!r}, not {value!r}."
        )


def _check_k(k: Optional[int]) -> None:
    if k is not None and k < 0:
        raise ValueError(f"k is {k}; it must be 0 or more, or None.")
