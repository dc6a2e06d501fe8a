"""The corpus for the post-training of PUSL: documents with many labels, and those to
which a trained model adds some.

python scripts/pusl_post_training.py PIPELINE CORPUS OUTPUT [--documents 50000]
    [--k 0] [--seed 0] [--gpu-id -1]

Of CORPUS, documents with more labels than the mean are taken as they are. PIPELINE, a
trained `keyphrase_generator` of PUSL, writes K keyphrases for the others, by default
twice the mean; a document is taken if it has more labels than the mean then, and
rejected otherwise. OUTPUT is a .jsonl file of documents drawn from both.
"""

import argparse
import json
import math
from pathlib import Path
from random import Random

import spacy
from tqdm import tqdm

from spacy_keyphrase.corpora import read_corpus
from spacy_keyphrase.training.labels import extend_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--k", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gpu-id", type=int, default=-1)
    options = parser.parse_args()
    if options.gpu_id >= 0:
        spacy.require_gpu(options.gpu_id)
    nlp = spacy.load(options.pipeline)
    documents = [d for d in read_corpus(options.corpus) if d.keyphrases]
    mean = sum(len(d.keyphrases) for d in documents) / len(documents)
    raw = [(d, d.keyphrases) for d in documents if len(d.keyphrases) > mean]
    few = [d for d in documents if len(d.keyphrases) <= mean]
    k = options.k or math.ceil(2 * mean)
    written = nlp.pipe(
        (d.text for d in few), component_cfg={"keyphrase_generator": {"k": k}}
    )
    synthetic = []
    for document, doc in zip(few, tqdm(written, total=len(few), disable=None)):
        added = [str(phrase) for phrase in doc._.keyphrases]
        labels = extend_labels(document.keyphrases, added, mean, document.lang)
        if labels is not None:
            synthetic.append((document, labels))
    print(
        f"{mean:.2f} labels on average; {len(raw)} documents have more, and with those "
        f"of the model {len(synthetic)} of {len(few)} others."
    )
    pool = raw + synthetic
    Random(options.seed).shuffle(pool)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("w", encoding="utf8") as lines:
        for document, labels in pool[: options.documents]:
            record = {"id": document.id, "title": document.title, "text": document.text}
            record.update(keyphrases=labels, lang=document.lang)
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
