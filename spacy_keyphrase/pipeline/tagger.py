"""``keyphrase_tagger``: part-of-speech tags in a blank English pipeline."""

from typing import Any, Iterable, Iterator, List, Sequence

import numpy
from spacy.attrs import TAG
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..models.blas import one_thread, set_fast_blas
from ..models.bundle import load_bundled
from ..models.predict import predict_by_layer


@Language.factory(
    "keyphrase_tagger", assigns=["token.tag"], default_config={"overwrite": False}
)
def make_keyphrase_tagger(nlp: Language, name: str, overwrite: bool) -> "BundledTagger":
    """Construct the bundled tagger of a language: fine-grained tags, so that noun
    phrases can be candidates where there is no other tagger. Only English has one.

    overwrite (bool): Whether to tag docs that have tags already.
    RAISES: ValueError in a language without one.
    """
    bundled = load_bundled(f"{nlp.lang}.tagger")
    if bundled is None:
        raise ValueError(
            f"No tagger is bundled for the language {nlp.lang!r}. Use a pipeline that "
            "has one, or candidates that need none (spacy_keyphrase.Chunks.v1)."
        )
    model, settings = bundled
    set_fast_blas(model)
    return BundledTagger(nlp.vocab, model, settings["labels"], name, overwrite)


class BundledTagger(Pipe):
    """A tagger that is trained already, and is not trained with the pipeline. Its
    weights are those of the package: a saved pipeline does not hold them.

    vocab (Vocab): The shared vocabulary.
    model (Model[List[Doc], List[Floats2d]]): Scores of the labels for each token.
    labels (Sequence[str]): The tags.
    name (str): Name of the component.
    overwrite (bool): Whether to tag docs that have tags already.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[List[Doc], List[Floats2d]],
        labels: Sequence[str],
        name: str = "keyphrase_tagger",
        overwrite: bool = False,
    ):
        self.vocab = vocab
        self.model = model
        self.name = name
        self.overwrite = overwrite
        hashes = [vocab.strings.add(label) for label in labels]
        self._tags = numpy.array(hashes, dtype="u8")

    def __call__(self, doc: Doc) -> Doc:
        """Tag one doc."""
        self._tag([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Tag a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time.
        YIELDS (Doc): The same docs.
        """
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            self._tag(docs)
            yield from docs

    def _tag(self, docs: List[Doc]) -> None:
        wanted = [
            doc
            for doc in docs
            if len(doc) and (self.overwrite or not doc.has_annotation("TAG"))
        ]
        if not wanted:
            return
        ops: Any = self.model.ops
        with one_thread():
            outputs = predict_by_layer(self.model, wanted)
        for doc, scores in zip(wanted, outputs):
            best = ops.to_numpy(scores.argmax(axis=1))
            doc.from_array(TAG, self._tags[best])
