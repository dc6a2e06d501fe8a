"""``spacy keyphrase calibrate``: scores that are probabilities."""

from pathlib import Path
from typing import Annotated

import numpy
import spacy
import typer

from ..corpora.reader import create_corpus
from ._options import Corpus, InputFormat, Limit, check_path
from ._run import command, say


@command
def calibrate_cli(
    pipeline: Annotated[
        Path,
        typer.Argument(
            metavar="PIPELINE",
            help="Folder of a trained pipeline; changed.",
            callback=check_path,
            show_default=False,
        ),
    ],
    corpus: Corpus,
    input_format: InputFormat = "auto",
    limit: Limit = 0,
) -> None:
    """
    Make the scores of a trained keyphrase_extractor probabilities: what it gives 0.8
    is gold four times of five in texts like those of the corpus, which should be the
    development set. The ranking stays as it is.
    """
    from ..pipeline.extractor import KeyphraseExtractor
    from ..training.calibration import calibration_error, fit_logistic, score_examples

    nlp = spacy.load(pipeline)
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, KeyphraseExtractor)]
    ranking = [pipe for pipe in pipes if not pipe.head.probabilities]
    if not pipes:
        raise ValueError(f"{pipeline} has no keyphrase_extractor.")
    if not ranking:
        raise ValueError(
            f"The scores of {pipes[0].name!r} are probabilities by themselves."
        )
    for pipe in ranking:
        reader = create_corpus(corpus, format=input_format, key=pipe.key, limit=limit)
        examples = list(reader(nlp))
        for example in examples:
            for name, before in nlp.pipeline:
                if name == pipe.name:
                    break
                example.predicted = before(example.predicted)
        scores, gold = score_examples(pipe, examples)
        scale, shift = fit_logistic(scores, gold)
        pipe.cfg["calibration"] = [scale, shift]
        error = calibration_error(1 / (1 + numpy.exp(-(scale * scores + shift))), gold)
        say(
            f"{pipe.name}: {int(gold.sum())} of {len(gold)} candidate phrases are "
            f"gold; expected calibration error {error:.4f}."
        )
    nlp.to_disk(pipeline)
