"""Collections of documents and queries, in the layout of BEIR."""

import csv
import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Dict, List

from .data import shared_dir


@dataclass
class Collection:
    """Documents of Haystack, queries, and which document answers which."""

    name: str
    documents: List[Any]
    queries: Dict[str, str]
    relevant: Dict[str, Dict[str, int]]


def read_collection(name: str, split: str) -> Collection:
    """A collection in the layout of BEIR."""
    from haystack import Document

    folder = shared_dir() / "data" / "ir" / name
    ending = "" if split == "test" else f"_{split}"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf8") as lines:
        records = [json.loads(line) for line in lines]
    documents = [
        Document(id=r["_id"], content=f"{r['title']} {r['text']}".strip())
        for r in records
    ]
    text = (folder / f"queries{ending}.jsonl").read_text("utf8")
    queries = {r["_id"]: r["text"] for r in map(json.loads, text.splitlines())}
    relevant: Dict[str, Dict[str, int]] = defaultdict(dict)
    with open(folder / f"qrels{ending}.tsv", encoding="utf8") as rows:
        for query, document, grade in list(csv.reader(rows, delimiter="\t"))[1:]:
            relevant[query][document] = int(grade)
    queries = {key: query for key, query in queries.items() if key in relevant}
    label = name if split == "test" else f"{name}/{split}"
    return Collection(label, documents, queries, dict(relevant))
