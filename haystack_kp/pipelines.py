"""A spaCy pipeline as components use it: loaded once, on a device, over many texts."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from haystack import logging
from haystack.utils import ComponentDevice
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, get_current_ops, require_gpu, set_current_ops

from spacy_keyphrase.keyphrase import KEY, get_keyphrases, set_keyphrases
from spacy_keyphrase.load import keyphrase_pipes
from spacy_keyphrase.pipeline.outcomes import get_error
from spacy_keyphrase.vocabulary import vocabulary_zone

from .phrases import Phrase

logger = logging.getLogger(__name__)

Model = Union[str, Mapping[str, Any]]
# Texts of which the words are held at a time.
ZONE = 1000


class Found(NamedTuple):
    """What was found in a text.

    phrases (list[Phrase]): Its keyphrases, the best first.
    error (Optional[str]): What went wrong, if anything did.
    """

    phrases: list[Phrase]
    error: Optional[str] = None


class SpacyPipeline:
    """Loads a pipeline when it is first used, and reads the keyphrases that it finds.

    :param model: Name or path of a pipeline, the path of a config, a config as a
        dictionary, or "blank:en" for a blank pipeline of a language. One without
        keyphrases gets the pipe `keyphrase`.
    :param settings: Of the last pipe that sets keyphrases, or of the one it gets.
    :param device: Where it runs: the CPU, if None.
    :param batch_size: Texts of a batch.
    :param n_process: Processes, -1 for one on each core. A GPU has one.
    :param prepare: What is to be done to the pipeline when it is loaded.
    """

    def __init__(
        self,
        model: Model,
        settings: Mapping[str, Any],
        device: Optional[ComponentDevice],
        batch_size: int,
        n_process: int,
        prepare: Optional[Callable[[Language], None]] = None,
    ) -> None:
        if batch_size < 1:
            message = f"batch_size is {batch_size}; it must be 1 or more."
            raise ValueError(message)
        self.gpu = gpu_id(device)
        if self.gpu is not None and n_process != 1:
            message = "A pipeline on a GPU has one process: n_process must be 1."
            raise ValueError(message)
        self.model = model
        self.settings = dict(settings)
        self.batch_size = batch_size
        self.n_process = n_process
        self.prepare = prepare
        self.nlp: Optional[Language] = None
        # spaCy's vocabulary is not to be written to by several threads.
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the pipeline, if it is not loaded.

        :raises OSError: If there is no such pipeline.
        :raises ValueError: If it has no pipe for the settings.
        """
        with self._lock, on_device(self.gpu):
            self._load()

    def _load(self) -> Language:
        if self.nlp is None:
            nlp = load_pipeline(self.model, self.settings)
            if self.prepare is not None:
                self.prepare(nlp)
            self.nlp = nlp
        return self.nlp

    @property
    def lang(self) -> str:
        """The language of the pipeline that was loaded."""
        return self.nlp.lang or "en" if self.nlp is not None else "en"

    def close(self) -> None:
        """Let the pipeline go; it is loaded again when it is used."""
        with self._lock:
            self.nlp = None

    def find(
        self,
        texts: Sequence[str],
        candidates: Optional[Sequence[Sequence[Phrase]]] = None,
        run_time: Optional[Mapping[str, Any]] = None,
    ) -> list[Found]:
        """The keyphrases of texts.

        :param texts: The texts.
        :param candidates: Of each the keyphrases that it has before.
        :param run_time: Settings of the last pipe for this call.
        :returns: One entry a text, in order.
        """
        found: list[Found] = []
        numbers = iter(range(len(texts)))
        with self._lock, on_device(self.gpu):
            nlp = self._load()
            while batch := list(islice(numbers, ZONE)):
                with vocabulary_zone(nlp):
                    found += self._find(nlp, batch, texts, candidates, run_time)
        return found

    def _find(
        self,
        nlp: Language,
        numbers: list[int],
        texts: Sequence[str],
        candidates: Optional[Sequence[Sequence[Phrase]]],
        run_time: Optional[Mapping[str, Any]],
    ) -> list[Found]:
        last = keyphrase_pipes(nlp)[-1]
        key = nlp.get_pipe_config(last).get("key", KEY)
        try:
            inputs: Iterable[Any] = (texts[n] for n in numbers)
            if candidates is not None:
                inputs = (_make_doc(nlp, texts[n], candidates[n]) for n in numbers)
            docs = nlp.pipe(
                inputs,
                batch_size=self.batch_size,
                n_process=self.n_process if len(numbers) > self.batch_size else 1,
                component_cfg={last: dict(run_time)} if run_time else None,
            )
            return [Found(_read(doc, key), get_error(doc, key)) for doc in docs]
        except Exception as error:
            if len(numbers) == 1:
                before = candidates[numbers[0]] if candidates is not None else ()
                return [Found(list(before), f"{type(error).__name__}: {error}")]
            logger.warning(
                "A batch failed and is run again, one text after the other: {error}",
                error=str(error),
            )
        # The others are not to suffer for one.
        return [self._find(nlp, [n], texts, candidates, run_time)[0] for n in numbers]


def _make_doc(nlp: Language, text: str, candidates: Sequence[Phrase]) -> Doc:
    doc = nlp.make_doc(text)
    set_keyphrases(doc, [(phrase.text, phrase.score) for phrase in candidates])
    return doc


def load_pipeline(model: Model, settings: Mapping[str, Any]) -> Language:
    """A pipeline that sets keyphrases; see `SpacyPipeline`."""
    if isinstance(model, str) and not model.endswith(".cfg"):
        nlp = util.load_model(model)
        if settings and keyphrase_pipes(nlp):
            # Settings are those of a pipe as it is made.
            last = keyphrase_pipes(nlp)[-1]
            nlp = util.load_model(model, config={"components": {last: dict(settings)}})
    else:
        config = _read_config(model)
        nlp = util.load_model_from_config(util.copy_config(config), auto_fill=True)
        pipes = keyphrase_pipes(nlp)
        if settings and pipes:
            changed = util.copy_config(config)
            changed["components"][pipes[-1]].update(settings)
            nlp = util.load_model_from_config(changed, auto_fill=True)
    if not keyphrase_pipes(nlp):
        nlp.add_pipe("keyphrase", config=dict(settings))
    if not {"parser", "ner"} & {nlp.get_pipe_meta(n).factory for n in nlp.pipe_names}:
        # The limit is for these, whose memory grows with the text.
        nlp.max_length = max(nlp.max_length, 1_000_000_000)
    return nlp


def _read_config(model: Model) -> Config:
    return (
        util.load_config(Path(model)) if isinstance(model, str) else Config(dict(model))
    )


def _read(doc: Doc, key: str) -> list[Phrase]:
    return [
        Phrase(k.text, float(k.score), k.normal_form, tuple(k.offsets), k.source)
        for k in get_keyphrases(doc, key)
    ]


def gpu_id(device: Optional[ComponentDevice]) -> Optional[int]:
    """The number of the GPU that a device is; None for the CPU.

    :raises ValueError: If it is something else.
    """
    if device is None:
        return None
    if device.has_multiple_devices:
        message = "A spaCy pipeline runs on one device, not on several."
        raise ValueError(message)
    name = device.to_torch_str()
    kind, _, number = name.partition(":")
    if kind == "cpu":
        return None
    if kind != "cuda":
        message = f"A spaCy pipeline runs on the CPU or on 'cuda', not on {name!r}."
        raise ValueError(message)
    return int(number or 0)


def with_device(data: Mapping[str, Any]) -> dict[str, Any]:
    """What `to_dict` of a component returned, its device no longer data."""
    parameters = dict(data["init_parameters"])
    if parameters.get("device"):
        parameters["device"] = ComponentDevice.from_dict(parameters["device"])
    return {**data, "init_parameters": parameters}


@contextmanager
def on_device(gpu: Optional[int]) -> Iterator[None]:
    """Within it spaCy computes on a GPU; after it where it did before."""
    if gpu is None:
        yield
        return
    ops = get_current_ops()
    require_gpu(gpu)
    try:
        yield
    finally:
        set_current_ops(ops)
