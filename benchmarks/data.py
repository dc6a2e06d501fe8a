"""The corpora and models that the benchmarks read."""

import gzip
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent

# Default documents per dataset; None is all. A smaller number is the first so many.
DATASETS: Dict[str, Optional[int]] = {
    "inspec/test": None,
    "semeval2017/all": None,
    "duc2001/test": None,
    "www/test": None,
    "acmdl/valid": None,
    "stackexchange/valid": 945,
    "krapivin/abstract_rest": 460,
    "krapivin/full_rest": 460,
    "cstr/beginning": 40,
    "cstr/train": 40,
    "taln/fr": None,
    "ru_kw/ng": 500,
    "akec_ar/train": None,
}

# What a mean is taken of: the English sets of short documents.
MEAN = (
    "inspec/test",
    "semeval2017/all",
    "duc2001/test",
    "www/test",
    "acmdl/valid",
    "stackexchange/valid",
)
# The first so many words of each document of another split.
BEGINNINGS = {"cstr/beginning": ("cstr/train", 300)}


@dataclass(frozen=True)
class Corpus:
    """The documents of one dataset, as parallel lists."""

    name: str
    lang: str
    texts: List[str]
    gold: List[List[str]]

    def __len__(self) -> int:
        return len(self.texts)


def shared_dir() -> Path:
    """The folder with `data` and `models`: $SPACY_KEYPHRASE_DATA or ../shared."""
    return Path(os.environ.get("SPACY_KEYPHRASE_DATA") or ROOT.parent / "shared")


def model_path(name: str = "en_core_web_sm_v2port") -> Path:
    """Path of a model of the shared folder.

    name (str): Name of the model's folder.
    RETURNS (Path): An existing path.
    """
    return _existing(shared_dir() / "models" / name)


def read_corpus(name: str, limit: Optional[int] = None) -> Corpus:
    """Read a dataset.

    name (str): "dataset/split", as in the data folder.
    limit (Optional[int]): Read the first so many documents only.
    RETURNS (Corpus): The documents that have a text.
    """
    source, words = BEGINNINGS.get(name, (name, None))
    path = _existing(shared_dir() / "data" / f"{source}.jsonl.gz")
    texts: List[str] = []
    gold: List[List[str]] = []
    lang = "en"
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for line in lines:
            if limit is not None and len(texts) >= limit:
                break
            row = json.loads(line)
            texts.append(_beginning(row["text"], words) if words else row["text"])
            gold.append(row["keyphrases"])
            lang = row.get("lang") or lang
    return Corpus(name, lang, texts, gold)


def _beginning(text: str, words: int) -> str:
    return "".join(re.findall(r"\S+\s*", text)[:words])


def _existing(path: Path) -> Path:
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there: set SPACY_KEYPHRASE_DATA to the folder that "
            "holds `data` and `models`."
        )
    return path
