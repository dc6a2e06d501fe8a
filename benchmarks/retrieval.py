"""What keyphrases do for retrieval.

python benchmarks/retrieval.py [--collections scifact,cysticfibrosis,cranfield]
    [--split test] [--encoder FOLDER] [--generator FOLDER] [--output benchmarks/results]

Each collection is searched by BM25 (bm25s, Porter's stems), by the embeddings of an
encoder, and by both, added up: plain, with keyphrases added to the documents, with
them as a field, or their vectors, with queries expanded by them, and ranked again by
them (and by all words, for comparison). Rows go to retrieval.json, with the
difference to the plain retriever and its p-value (permutations of queries), and how
many documents are enough for the recall of the plain retriever's first ten.
`--split train` is for SciFact, whose training claims settings were chosen by.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment  # noqa: E402
from benchmarks.retrieval_data import Collection, read_collection  # noqa: E402
from benchmarks.retrieval_ways import (  # noqa: E402
    TOP,
    contents,
    expand,
    expand_queries,
    field_scores,
    nearest_phrases,
    rank_again,
    standard,
    with_all_words,
    with_phrases_of,
)

DEPTH = 1000
# Documents of a context, whose recall others are to reach with fewer.
CONTEXT = 10
METRICS = {"ndcg_cut_10": "nDCG@10", "map": "MAP", "recall_100": "Recall@100"}
PERMUTATIONS = 10_000
# Weights of keyphrases as a field, and of their vectors, chosen on SciFact's training
# claims, over BM25 and embeddings together.
FIELD, VECTORS = 0.1, 0.1
# More words than a document has.
MANY = 100_000
Scores = numpy.ndarray


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


def evaluate(collection: Collection, options: argparse.Namespace) -> List[Any]:
    """The rows of a collection."""
    kinds = _find_keyphrases(collection, options.generator)
    documents = kinds["extracted"]
    queries = list(collection.queries.values())
    plain = contents(documents)
    bm25, embed = Bm25(plain), _embedder(options.encoder)
    vectors, asked = embed(plain), embed(queries)
    found = {"BM25": bm25.search(queries), "embeddings": asked @ vectors.T}
    found["both"] = sum(standard(scores) for scores in list(found.values()))
    by_field = FIELD * field_scores(queries, documents)
    by_vectors = VECTORS * nearest_phrases(asked, documents, embed)
    words = with_all_words(documents)
    passing = with_phrases_of(queries, documents)
    rows = []
    for name, scores in found.items():
        base = measure(collection, scores)
        rows.append(_row(collection, name, "plain", base, None))
        ways = {
            _of("keyphrase ranker", kind): rank_again(queries, docs, scores)
            for kind, docs in kinds.items()
        }
        ways["the ranker, all words"] = rank_again(queries, words, scores, MANY)
        ways["keyphrases as a field"] = standard(scores) + by_field
        ways["vectors of keyphrases"] = standard(scores) + by_vectors
        more = expand_queries(queries, documents, scores)
        if name == "BM25":
            ways["query expansion"] = bm25.search(more)
            for kind, docs in kinds.items():
                ways[_of("appended", kind)] = Bm25(expand(docs)).search(queries)
        if name == "embeddings":
            ways["query expansion"] = embed(more) @ vectors.T
            for kind, docs in kinds.items():
                ways[_of("appended", kind)] = asked @ embed(expand(docs)).T
        reached = recall_curve(collection, scores)[CONTEXT - 1]
        for way, searched in ways.items():
            row = _row(collection, name, way, measure(collection, searched), base)
            curve = recall_curve(collection, searched)
            enough = numpy.flatnonzero(curve >= reached - 1e-12)
            row["context"] = int(enough[0]) + 1 if len(enough) else None
            rows.append(row)
        left = filtered(collection, scores, passing)
        rows.append({**_row(collection, name, "filter", {}, None), **left})
    return rows


def _find_keyphrases(
    collection: Collection, generator: Optional[str]
) -> Dict[str, List[Any]]:
    """Documents with keyphrases in their meta, by their kind."""
    from haystack_kp import KeyphraseExtractor, KeyphraseGenerator

    formats = ["list", "scores"]
    settings = {"top_n": 30}
    extractor = KeyphraseExtractor(settings=settings, formats=formats)
    kinds = {"extracted": extractor.run(collection.documents)["documents"]}
    if generator:
        writer = KeyphraseGenerator(
            generator, presence="absent", formats=formats, existing="replace"
        )
        joined = KeyphraseExtractor(
            settings=settings, formats=formats, existing="merge"
        )
        kinds["generated"] = writer.run(collection.documents)["documents"]
        kinds["both"] = joined.run(kinds["generated"])["documents"]
    return kinds


def _of(way: str, kind: str) -> str:
    return way if kind == "extracted" else f"{way}, {kind}"


def filtered(
    collection: Collection, scores: Scores, kept: numpy.ndarray
) -> Dict[str, float]:
    """What a filter leaves of the first documents, and of the relevant ones among them,
    where it leaves any.

    kept (ndarray): Whether a document passes, bool of shape (queries, documents).
    RETURNS (Dict[str, float]): The share of queries with documents left, and for these
        the shares of documents and of relevant documents that are.
    """
    ids = [document.id for document in collection.documents]
    answered, left, found = 0, [], []
    for key, own, passes in zip(collection.queries, scores, kept):
        first = numpy.argsort(-own, kind="stable")[:TOP]
        answered += bool(passes[first].any())
        wanted = {d for d, grade in collection.relevant[key].items() if grade > 0}
        hits = numpy.array([ids[i] in wanted for i in first])
        if passes[first].any() and hits.any():
            left.append(passes[first].mean())
            found.append(passes[first][hits].mean())
    return {
        "answered": round(answered / len(scores), 3),
        "documents left": round(float(numpy.mean(left)), 3),
        "relevant left": round(float(numpy.mean(found)), 3),
    }


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
