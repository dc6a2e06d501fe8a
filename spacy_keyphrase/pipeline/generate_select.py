"""``keyphrase_generate_select``: a generator and a selector as one component
("ONE2SET + Large Language Model: Best Partners for Keyphrase Generation")."""

from functools import partial
from pathlib import Path
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    Literal,
    Optional,
    Union,
)

from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import SimpleFrozenList
from thinc.api import Optimizer

from ..backends.usage import Usage
from ..keyphrase import KEY
from ..models.chat import SelectorModel
from ..models.generator import GeneratorModel
from ..selectors.questions import Selector
from .annotate import Scorer
from .generator import DEFAULT_CONFIG as GENERATOR
from .generator import SCORE_WEIGHTS, KeyphraseGenerator
from .proposals import Presence
from .selector import DEFAULT_CONFIG as SELECTOR
from .selector import KeyphraseSelector

Learn = Literal["selector", "generator", "both"]

DEFAULT_CONFIG = {
    "generator": GENERATOR["model"],
    "model": SELECTOR["model"],
    "selector": SELECTOR["selector"],
    "k": None,
    "presence": "all",
    "top_n": None,
    "learn": "selector",
    "raise_on_failure": False,
    "key": KEY,
    "scorer": GENERATOR["scorer"],
}


@Language.factory(
    "keyphrase_generate_select",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_generate_select(
    nlp: Language,
    name: str,
    generator: GeneratorModel,
    model: SelectorModel,
    selector: Selector,
    k: Optional[int],
    presence: Presence,
    top_n: Optional[int],
    learn: Learn,
    raise_on_failure: bool,
    key: str,
    scorer: Optional[Scorer],
) -> "KeyphraseGenerateSelect":
    """Construct a KeyphraseGenerateSelect component.

    generator (Model[Request, Any]): Writes candidates; with `beams` and `samples` of
        its architecture, many of them. What pipes before have found is a candidate as
        well.
    model (Model[Asked, Any]): Chooses from them.
    selector (Selector): How it is asked.
    k (Optional[int]): How many candidates are asked for; by default the generator
        decides.
    presence (str): "all", or only candidates that are "present" in the text or "absent"
        from it.
    top_n (Optional[int]): How many keyphrases are kept at most.
    learn (str): What training changes: the "selector", the "generator", or "both".
    raise_on_failure (bool): Whether a doc without an answer of the model is an error.
        By default its candidates stay, and `doc._.keyphrases_error` says why.
    key (str): Key of the span group, of the gold as well.
    scorer (Optional[Scorer]): The scoring method.
    """
    return KeyphraseGenerateSelect(
        KeyphraseGenerator(
            nlp.vocab, generator, name, k=k, presence=presence, key=key, scorer=scorer
        ),
        KeyphraseSelector(
            nlp.vocab,
            model,
            selector,
            name,
            top_n=top_n,
            raise_on_failure=raise_on_failure,
            key=key,
            scorer=scorer,
        ),
        name,
        learn=learn,
        scorer=scorer,
    )


class KeyphraseGenerateSelect(Pipe):
    """Write candidates, choose from them.

    generator (KeyphraseGenerator): Writes them.
    selector (KeyphraseSelector): Chooses.
    name (str): Name of the component.
    learn (str): "selector", "generator" or "both".
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        generator: KeyphraseGenerator,
        selector: KeyphraseSelector,
        name: str = "keyphrase_generate_select",
        *,
        learn: Learn = "selector",
        scorer: Optional[Scorer] = None,
    ):
        if learn not in ("selector", "generator", "both"):
            raise ValueError(
                f"learn must be 'selector', 'generator' or 'both', not {learn!r}."
            )
        self.generator = generator
        self.selector = selector
        self.name = name
        self.learn = learn
        self.scorer = scorer

    @property
    def model(self) -> SelectorModel:
        """The model that chooses."""
        return self.selector.model

    @property
    def is_trainable(self) -> bool:
        """Whether something of it learns here."""
        return self.learn != "selector" or self.selector.is_trainable

    @property
    def usage(self) -> Optional[Usage]:
        """What calls of a model behind a chat interface have cost so far."""
        return self.selector.usage

    def __call__(self, doc: Doc) -> Doc:
        """Set the keyphrases of one doc."""
        return next(self.pipe([doc], batch_size=1))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Set the keyphrases of a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time.
        YIELDS (Doc): The same docs.
        """
        written = self.generator.pipe(stream, batch_size=batch_size)
        yield from self.selector.pipe(written, batch_size=batch_size)

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        """Set what becomes of docs at fault."""
        super().set_error_handler(error_handler)
        self.generator.set_error_handler(error_handler)
        self.selector.set_error_handler(error_handler)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        generator: Optional[Union[str, Path]] = None,
        words: Optional[Union[str, Path]] = None,
        vectors: Optional[Union[str, Path]] = None,
    ) -> None:
        """Initialize both models.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        generator (Optional[Union[str, Path]]): Pipeline, by name or path, whose
            `keyphrase_generator`, of the same architecture, this one begins with.
        words, vectors (Optional[Union[str, Path]]): Of the generator, if it is to be
            trained from scratch.
        """
        if generator is not None:
            pipes = [pipe for _, pipe in util.load_model(generator).pipeline]
            found = [pipe for pipe in pipes if isinstance(pipe, KeyphraseGenerator)]
            if not found:
                raise ValueError(
                    f"The pipeline {generator} has no keyphrase_generator that this "
                    "one could begin with."
                )
            self.generator.from_bytes(found[0].to_bytes(exclude=["vocab"]))
        else:
            self.generator.initialize(
                get_examples, nlp=nlp, words=words, vectors=vectors
            )
        self.selector.initialize(get_examples, nlp=nlp)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from a batch of examples: the generator from the gold, the selector
        from what the generator writes.

        examples (Iterable[Example]): The batch.
        drop (float): Not used.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Optional[Dict[str, float]]): Losses by component, added to.
        RETURNS (Dict[str, float]): The updated losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        if self.learn != "selector":
            self.generator.update(examples, drop=drop, losses=losses)
        if self.learn != "generator" and self.selector.is_trainable:
            docs = [example.predicted for example in examples]
            self.generator.set_annotations(docs, self.generator.predict(docs))
            self.selector.update(examples, drop=drop, losses=losses)
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by what was learned."""
        if self.learn != "selector":
            self.generator.finish_update(sgd)
        if self.learn != "generator" and self.selector.is_trainable:
            self.selector.finish_update(sgd)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score a batch of examples with the component's scorer."""
        return self.scorer(examples, **kwargs) if self.scorer is not None else {}

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Both models.

        exclude (Iterable[str]): What is not to be saved.
        """
        parts: Any = {
            name: partial(pipe.to_bytes, exclude=["vocab"])
            for name, pipe in self._parts().items()
        }
        data: bytes = util.to_bytes(parts, exclude)
        return data

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseGenerateSelect":
        """The counterpart of `to_bytes`."""
        parts: Any = {
            name: partial(pipe.from_bytes, exclude=["vocab"])
            for name, pipe in self._parts().items()
        }
        util.from_bytes(data, parts, exclude)
        return self

    def to_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> None:
        """Both models, in folders of their own.

        path (Union[str, Path]): The folder of the component.
        exclude (Iterable[str]): What is not to be saved.
        """
        parts: Any = {
            name: partial(pipe.to_disk, exclude=["vocab"])
            for name, pipe in self._parts().items()
        }
        util.to_disk(Path(path), parts, exclude)

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseGenerateSelect":
        """The counterpart of `to_disk`."""
        parts: Any = {
            name: partial(pipe.from_disk, exclude=["vocab"])
            for name, pipe in self._parts().items()
        }
        util.from_disk(Path(path), parts, exclude)
        return self

    def _parts(self) -> Dict[str, Any]:
        return {"generator": self.generator, "selector": self.selector}
