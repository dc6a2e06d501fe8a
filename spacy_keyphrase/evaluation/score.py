"""Score predicted against gold keyphrases."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from .aggregate import statistic
from .diversity import dup_phrase_ratio, dup_token_ratio
from .matching import KINDS, Matched, Source, make_form, match_document
from .metrics import Floats, K, Ranking, alpha_ndcg, f1_score, parse_k
from .presets import Average, Preset, get_preset

_RATIOS = ("dup_phrase_ratio", "dup_token_ratio")


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one system on one corpus; `score` documents the names.

    preset (str): The convention, with its changed fields if it has any.
    average (str): How F1 is averaged: see `Preset.average`.
    n_docs (int): Number of documents.
    values (Dict[str, Optional[float]]): Corpus values, None where undefined.
    per_document (Dict[str, Floats]): One array a name, in the order of the
        documents, NaN for those that do not count. Beside the names of `values`
        it has what micro averages are made of ("all_hits@5", "all_predicted@5").
    """

    preset: str
    average: Average
    n_docs: int
    values: Dict[str, Optional[float]]
    per_document: Dict[str, Floats] = field(repr=False)

    def __getitem__(self, name: str) -> Optional[float]:
        if name not in self.values:
            raise KeyError(
                f"There is no score {name!r} (preset {self.preset}). Was its k "
                f"asked for? Known: {', '.join(self.values)}."
            )
        return self.values[name]

    def to_dict(self) -> Dict[str, Any]:
        """The preset, the number of documents and the values, as JSON-able data."""
        return {
            "preset": self.preset,
            "average": self.average,
            "n_docs": self.n_docs,
            "values": dict(self.values),
        }


def score(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    sources: Optional[Sequence[Source]] = None,
    *,
    preset: Union[str, Preset] = "default",
    k: Sequence[K] = (5, 10, "M", "O"),
    lang: str = "en",
) -> Scores:
    """Score the keyphrases predicted for a corpus.

    The names of the scores are ``<kind>_<metric>@<k>``. Kinds: "all", "present",
    "absent" (gold and predictions that do or do not occur in the source). Metrics:

    * "p", "r", "f1": precision, recall, F1;
    * "b" (k a number): hits / k, however few were predicted;
    * "map", "ndcg": mean average precision, normalised discounted cumulative gain;
    * "alpha_ndcg": only with a preset that asks for it;
    * "count": unique predictions, k at most (#K@k).

    Without @k there are "<kind>_map" (all predictions), "<kind>_count", "<kind>_gold"
    (means per document), "dup_phrase_ratio" and "dup_token_ratio".

    predictions (Sequence[Sequence[str]]): For each document, best first.
    references (Sequence[Sequence[str]]): Gold keyphrases of each document.
    sources (Optional[Sequence[Source]]): For each document its text, or a list of
        sections (title, body) across which no phrase is found. Without it the
        scores of present and absent keyphrases are None. For presets that expect
        tokenised texts see `make_source`.
    preset (Union[str, Preset]): The convention: see `PRESETS`.
    k (Sequence[K]): Cutoffs: numbers, "M" (all predictions), "O" (as many as
        gold), "G" (the larger of the two).
    lang (str): Language of the stems.
    RETURNS (Scores): Values from 0 to 1, apart from counts; None where no document
        counts.
    """
    preset = get_preset(preset)
    ks = list(dict.fromkeys(map(parse_k, [k] if isinstance(k, (str, int)) else k)))
    _check(predictions, references, sources)
    form = make_form(preset, lang)
    matched: Dict[str, List[Matched]] = {kind: [] for kind in KINDS}
    diversity: List[List[float]] = [[], []]
    for i, (predicted, gold) in enumerate(zip(predictions, references, strict=True)):
        source = None if sources is None else sources[i]
        by_kind = match_document(predicted, gold, source, preset, form)
        for kind, found in by_kind.items():
            matched[kind].append(found)
        forms = [phrase for phrase in map(form, predicted) if phrase]
        if preset.empty_line:
            forms = forms or [""]
        diversity[0].append(dup_phrase_ratio(forms, lang=None))
        diversity[1].append(dup_token_ratio(forms, lang=None))
    per_document: Dict[str, Floats] = {}
    for kind in KINDS:
        if matched[kind]:
            arrays = _arrays(matched[kind], preset, ks)
        else:
            # The same names, whatever was given.
            arrays = _arrays([], preset, ks)
            arrays = {name: np.full(len(predictions), np.nan) for name in arrays}
        per_document.update({f"{kind}_{name}": a for name, a in arrays.items()})
    for name, ratios in zip(_RATIOS, diversity, strict=True):
        per_document[name] = np.array(ratios, dtype=float)
    values: Dict[str, Optional[float]] = {}
    for name in per_document:
        if "_hits@" not in name and "_predicted@" not in name:
            value = statistic(per_document, name, preset.average).corpus_value()
            values[name] = None if np.isnan(value) else value
    return Scores(
        preset=preset.label,
        average=preset.average,
        n_docs=len(predictions),
        values=values,
        per_document=per_document,
    )


def _arrays(documents: List[Matched], preset: Preset, ks: List[K]) -> Dict[str, Floats]:
    """Every per-document metric of one kind, NaN where a document is skipped."""
    ranking = Ranking(
        [m.hits for m in documents],
        [len(m.gold) for m in documents],
        [m.n_rows for m in documents],
        [m.counted for m in documents],
    )
    scored: Dict[str, Floats] = {}
    counted: Dict[str, Floats] = {
        "gold": ranking.n_gold.astype(float),
        "count": ranking.count("M"),
    }
    for k in ks:
        predicted = ranking.predicted(k, preset.denominator)
        precision = ranking.precision(k, preset.denominator)
        recall = ranking.recall(k)
        scored[f"p@{k}"], scored[f"r@{k}"] = precision, recall
        scored[f"f1@{k}"] = f1_score(precision, recall)
        if isinstance(k, int):
            scored[f"b@{k}"] = ranking.b(k)
        scored[f"map@{k}"] = ranking.average_precision(k)
        scored[f"ndcg@{k}"] = ranking.ndcg(k, preset.ideal)
        counted[f"count@{k}"] = ranking.count(k)
        scored[f"hits@{k}"] = ranking.hits(k)
        if not preset.pad_empty:
            predicted = np.where(ranking.size == 0, 0.0, predicted)
        scored[f"predicted@{k}"] = predicted
    scored["map"] = ranking.average_precision()
    if preset.alpha_ndcg:
        places = np.array([ranking.places(k) for k in ks], dtype=int)
        rows = [
            alpha_ndcg(m.forms, m.gold, places[:, i].tolist())
            for i, m in enumerate(documents)
        ]
        columns = np.array(rows, dtype=float).reshape(len(documents), len(ks))
        scored.update({f"alpha_ndcg@{k}": columns[:, j] for j, k in enumerate(ks)})
    skipped = np.zeros(len(documents), dtype=bool)
    if preset.zero_gold == "skip" or not ranking.n_gold.any():
        # Without any gold of this kind in the corpus nothing is defined.
        skipped = ranking.n_gold == 0
    scored = {name: np.where(skipped, np.nan, a) for name, a in scored.items()}
    return {**scored, **counted}


def _check(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    sources: Optional[Sequence[Source]],
) -> None:
    given = {"predictions": predictions, "references": references}
    for what, lists in given.items():
        if isinstance(lists, (str, bytes)):
            raise TypeError(f"{what} is one list of strings a document, not a string.")
        for i, phrases in enumerate(lists):
            if isinstance(phrases, (str, bytes)):
                raise TypeError(
                    f"{what}[{i}] is the string {phrases!r}: give a list of strings "
                    "for each document."
                )
            for phrase in phrases:
                if not isinstance(phrase, str):
                    raise TypeError(
                        f"{what}[{i}] holds {phrase!r}: keyphrases are strings here; "
                        "of a Keyphrase give its text."
                    )
    lengths = {what: len(lists) for what, lists in given.items()}
    if sources is not None:
        if isinstance(sources, str):
            raise TypeError("sources is one text, or list of sections, a document.")
        lengths["sources"] = len(sources)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{n} {what}" for what, n in lengths.items())
        raise ValueError(f"Expected as many of each, one a document, got {said}.")
