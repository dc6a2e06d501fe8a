"""What keyphrases do for retrieval.

python benchmarks/retrieval.py [--collections scifact,cysticfibrosis,cranfield]
    [--split test] [--encoder FOLDER] [--generator FOLDER] [--output benchmarks/results]

Each collection is searched by BM25 (bm25s, Porter's stems), by the embeddings of an
encoder, and by both, added up: plain, with keyphrases added to the documents, with
queries expanded by them, and ranked again by them. Rows go to retrieval.json, with the
difference to the plain retriever and its p-value (permutations of queries), and how
many documents are enough for the recall of the plain retriever's first ten.
`--split train` is for SciFact, whose training claims settings were chosen by.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.data import shared_dir  # noqa: E402
from benchmarks.process import environment  # noqa: E402

DEPTH = 1000
# Documents that are ranked again.
TOP = 100
# Documents of a context, whose recall others are to reach with fewer.
CONTEXT = 10
METRICS = {"ndcg_cut_10": "nDCG@10", "map": "MAP", "recall_100": "Recall@100"}
PERMUTATIONS = 10_000
Scores = numpy.ndarray


@dataclass
class Collection:
    """Documents of Haystack, queries, and which document answers which."""

    name: str
    documents: List[Any]
    queries: Dict[str, str]
    relevant: Dict[str, Dict[str, int]]


def main() -> None:
    """Run the command line."""
    options = _parse()
    path = options.output / "retrieval.json"
    result: Dict[str, Any] = json.loads(path.read_text("utf8")) if path.exists() else {}
    for name in options.collections.split(","):
        collection = read_collection(name, options.split)
        rows = evaluate(collection, options)
        for row in rows:
            print(json.dumps(row), flush=True)
        label = rows[0]["collection"]
        old = [r for r in result.get("rows", []) if r["collection"] != label]
        result["rows"] = [*old, *rows]
        result["environment"] = environment()
        options.output.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


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


def evaluate(collection: Collection, options: argparse.Namespace) -> List[Any]:
    """The rows of a collection."""
    from haystack_kp import KeyphraseExtractor, KeyphraseGenerator

    formats = ["list", "scores"]
    settings = {"top_n": 30}
    extractor = KeyphraseExtractor(settings=settings, formats=formats)
    documents = extractor.run(collection.documents)["documents"]
    queries = list(collection.queries.values())
    with_own = {"extracted": documents}
    if options.generator:
        generator = KeyphraseGenerator(
            options.generator, presence="absent", formats=formats, existing="replace"
        )
        absent = generator.run(collection.documents)["documents"]
        joined = KeyphraseExtractor(
            settings=settings, formats=formats, existing="merge"
        )
        with_own["generated"] = absent
        with_own["both"] = joined.run(absent)["documents"]
    plain = _contents(documents)
    bm25, embed = Bm25(plain), _embedder(options.encoder)
    vectors = embed(plain)
    asked = embed(queries)
    found = {"BM25": bm25.search(queries), "embeddings": asked @ vectors.T}
    found["both"] = sum(_standard(scores) for scores in list(found.values()))
    rows = []
    for name, scores in found.items():
        base = measure(collection, scores)
        rows.append(_row(collection, name, "plain", base, None))
        reached = recall_curve(collection, scores)[CONTEXT - 1]
        again = _rank_again(queries, documents, scores)
        ways: Dict[str, Callable[[], Scores]] = {
            "keyphrase ranker": lambda again=again: again
        }
        if name != "both":
            for kind, docs in with_own.items():
                added = _expand(docs)
                ways[f"+ {kind} keyphrases"] = (
                    (lambda added=added: Bm25(added).search(queries))
                    if name == "BM25"
                    else (lambda added=added: asked @ embed(added).T)
                )
            more = _expand_queries(queries, documents, scores)
            ways["query expansion"] = (
                (lambda more=more: bm25.search(more))
                if name == "BM25"
                else (lambda more=more: embed(more) @ vectors.T)
            )
        for way, run in ways.items():
            searched = run()
            row = _row(collection, name, way, measure(collection, searched), base)
            curve = recall_curve(collection, searched)
            enough = numpy.flatnonzero(curve >= reached - 1e-12)
            row["context"] = int(enough[0]) + 1 if len(enough) else None
            rows.append(row)
    return rows


class Bm25:
    """BM25 as Lucene has it, over Porter's stems, without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s
        import Stemmer

        self.tokenize = lambda texts: bm25s.tokenize(
            texts,
            stopwords="en",
            stemmer=Stemmer.Stemmer("porter"),
            show_progress=False,
        )
        self.index = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
        self.n = len(texts)
        self.index.index(self.tokenize(list(texts)), show_progress=False)

    def search(self, queries: Sequence[str]) -> Scores:
        """The scores of all documents, float of shape (queries, documents)."""
        found, scores = self.index.retrieve(
            self.tokenize(list(queries)), k=self.n, show_progress=False
        )
        whole = numpy.zeros((len(queries), self.n))
        numpy.put_along_axis(whole, found, scores, axis=1)
        return whole


def measure(collection: Collection, scores: Scores) -> Dict[str, numpy.ndarray]:
    """The metrics of each query, by trec_eval."""
    import pytrec_eval

    ids = [document.id for document in collection.documents]
    run = {}
    for key, own in zip(collection.queries, scores):
        first = numpy.argsort(-own, kind="stable")[:DEPTH]
        # trec_eval breaks ties by names: the order is to be ours.
        run[key] = {ids[i]: float(DEPTH - place) for place, i in enumerate(first)}
    evaluator = pytrec_eval.RelevanceEvaluator(collection.relevant, set(METRICS))
    found = evaluator.evaluate(run)
    return {
        name: numpy.array([found[key][metric] for key in collection.queries])
        for metric, name in METRICS.items()
    }


def recall_curve(collection: Collection, scores: Scores) -> numpy.ndarray:
    """The mean recall of the first 1, 2, ... documents, float of shape (DEPTH,)."""
    ids = [document.id for document in collection.documents]
    curves = []
    for key, own in zip(collection.queries, scores):
        wanted = {d for d, grade in collection.relevant[key].items() if grade > 0}
        first = numpy.argsort(-own, kind="stable")[:DEPTH]
        hits = numpy.array([ids[i] in wanted for i in first])
        curves.append(numpy.cumsum(hits) / max(len(wanted), 1))
    shortest = min(len(curve) for curve in curves)
    return numpy.mean([curve[:shortest] for curve in curves], axis=0)


def _row(
    collection: Collection, retriever: str, way: str, found: Any, base: Any
) -> Dict[str, Any]:
    row: Dict[str, Any] = {
        "collection": collection.name,
        "queries": len(collection.queries),
        "retriever": retriever,
        "with": way,
    }
    for name, values in found.items():
        row[name] = round(float(values.mean()), 4)
        if base is not None:
            difference = values - base[name]
            row[f"{name}, gain"] = round(float(difference.mean()), 4)
            row[f"{name}, p"] = round(_p_value(difference), 4)
    return row


def _p_value(difference: numpy.ndarray) -> float:
    """Two-sided, of a paired permutation test."""
    random = numpy.random.default_rng(0)
    signs = random.choice([-1.0, 1.0], size=(PERMUTATIONS, len(difference)))
    as_far = numpy.abs(signs @ difference) >= abs(difference.sum()) - 1e-12
    return float((as_far.sum() + 1) / (PERMUTATIONS + 1))


def _rank_again(
    queries: Sequence[str], documents: Sequence[Any], scores: Scores
) -> Scores:
    """The first documents in the order of `KeyphraseRanker`, before all others."""
    from dataclasses import replace

    from haystack_kp import KeyphraseRanker

    ranker = KeyphraseRanker()
    number = {document.id: i for i, document in enumerate(documents)}
    whole = scores - scores.max() - 1
    for own, new, query in zip(scores, whole, queries):
        first = numpy.argsort(-own, kind="stable")[:TOP]
        given = [replace(documents[i], score=float(own[i])) for i in first]
        ranked = ranker.run(query, given)["documents"]
        for place, document in enumerate(ranked):
            new[number[document.id]] = TOP - place
    return whole


def _expand(documents: Sequence[Any]) -> List[str]:
    from haystack_kp import KeyphraseDocumentExpander

    expander = KeyphraseDocumentExpander(top_n=10)
    return _contents(expander.run(list(documents))["documents"])


def _expand_queries(
    queries: Sequence[str], documents: Sequence[Any], scores: Scores
) -> List[str]:
    from dataclasses import replace

    from haystack_kp import KeyphraseQueryExpander

    expander = KeyphraseQueryExpander(repeat_query=3)
    more = []
    for query, own in zip(queries, scores):
        first = numpy.argsort(-own, kind="stable")[:10]
        given = [replace(documents[i], score=float(own[i])) for i in first]
        more.append(expander.run(query, given)["query"])
    return more


def _embedder(folder: Path) -> Callable[[Sequence[str]], numpy.ndarray]:
    """Vectors of texts: the means of the states of an encoder, of length 1."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoder = transformers.AutoModel.from_pretrained(folder).eval()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    encoder = encoder.to(device)
    options = {"padding": True, "truncation": True, "max_length": 256}

    @torch.inference_mode()
    def embed(texts: Sequence[str]) -> numpy.ndarray:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = numpy.zeros((len(texts), encoder.config.hidden_size), "f4")
        for start in range(0, len(order), 32):
            part = order[start : start + 32]
            batch = [texts[i] for i in part]
            inputs = tokenizer(batch, return_tensors="pt", **options).to(device)
            states = encoder(**inputs).last_hidden_state
            real = inputs["attention_mask"][..., None]
            means = (states * real).sum(1) / real.sum(1)
            vectors[part] = torch.nn.functional.normalize(means, dim=-1).cpu().numpy()
        return vectors

    return embed


def _standard(scores: Scores) -> Scores:
    return (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)


def _contents(documents: Sequence[Any]) -> List[str]:
    return [document.content or "" for document in documents]


def _parse(arguments: Optional[Sequence[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/retrieval.py", description="Keyphrases in retrieval."
    )
    names = "scifact,cysticfibrosis,cranfield"
    parser.add_argument("--collections", default=names)
    parser.add_argument("--split", default="test", choices=["test", "train"])
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--generator", help="a pipeline with a trained generator")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
