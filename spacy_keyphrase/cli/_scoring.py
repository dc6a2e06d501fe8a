"""From corpora, predictions and options to scores."""

import json
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import typer

from ..corpora import CorpusError, KeyphraseDocument, MalformedError, ReadContext
from ..corpora.files import read_lines
from ..corpora.records import get_id, get_phrases, parse_record
from ..evaluation import PRESETS, Scores, get_preset, make_source, score
from ..evaluation.metrics import K, parse_k


def check_preset(name: str) -> str:
    """The name of an evaluation preset."""
    if name not in PRESETS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(PRESETS)}.")
    return name


def parse_ks(text: str) -> List[K]:
    """Cutoffs between commas, such as "5,10,M"."""
    try:
        return [
            parse_k(int(part) if part.isdigit() else part)
            for part in text.replace(" ", "").split(",")
        ]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


class Gold:
    """What is left of the documents of a corpus once they are read.

    preset (str): Name of the evaluation preset.
    """

    def __init__(self, preset: str):
        self.preset = get_preset(preset)
        self.make_source = make_source(self.preset)
        self.ids: List[str] = []
        self.references: List[List[str]] = []
        self.sources: List[str] = []

    def add(self, document: KeyphraseDocument) -> None:
        """Keep what scoring needs of a document."""
        self.ids.append(document.id)
        self.references.append(document.keyphrases)
        self.sources.append(self.make_source(document.text))

    def score(
        self, predictions: Sequence[Sequence[str]], ks: Sequence[K], lang: str
    ) -> Scores:
        """The scores of predictions, given in the order of the documents."""
        return score(
            predictions,
            self.references,
            self.sources,
            preset=self.preset,
            k=ks,
            lang=lang,
        )

    def check(self, name: str) -> None:
        """Raise where there is nothing to score against."""
        if not any(self.references):
            raise CorpusError(f"{name}: no document has gold keyphrases.")


def read_predictions(path: Path) -> List[Tuple[str, List[str]]]:
    """Identifiers and keyphrases from JSON lines as `extract` writes them.

    path (Path): The file; keyphrases are strings or objects with a field "text".
    RETURNS (List[Tuple[str, List[str]]]): In the order of the file.
    """
    predictions = []
    for number, line in read_lines(path, ReadContext()):
        if not line or not line.strip():
            continue
        try:
            record = parse_record(line)
            if "keyphrases" not in record:
                fields = ", ".join(record) or "none"
                raise MalformedError(f"no field 'keyphrases'; the fields are: {fields}")
            predictions.append(
                (get_id(record, "id", ""), get_phrases(record, "keyphrases"))
            )
        except MalformedError as error:
            raise CorpusError(f"{path}:{number}: {error}") from None
    return predictions


def align(
    predictions: List[Tuple[str, List[str]]], ids: List[str], path: Path
) -> List[List[str]]:
    """Predictions in the order of the gold documents.

    predictions (List[Tuple[str, List[str]]]): Identifiers and keyphrases.
    ids (List[str]): Identifiers of the gold documents.
    path (Path): Where the predictions are from.
    RETURNS (List[List[str]]): As they stand, where the identifiers are the same or
        there are none; otherwise found by identifier.
    """
    given = [id for id, _ in predictions]
    if given == ids or (len(given) == len(ids) and not any(given)):
        return [phrases for _, phrases in predictions]
    by_id: Dict[str, List[str]] = dict(predictions)
    for what, values in (("gold", ids), (str(path), given)):
        repeated = len(values) - len(set(values))
        if repeated:
            raise CorpusError(
                f"{path}: cannot be matched with the gold documents, as the order "
                f"differs and {repeated} identifiers of {what} are repeated or missing."
            )
    missing = [id for id in ids if id not in by_id]
    if missing:
        raise CorpusError(
            f"{path}: no prediction for {len(missing)} of {len(ids)} gold documents, "
            f"such as {json.dumps(missing[0], ensure_ascii=False)}."
        )
    return [by_id[id] for id in ids]
