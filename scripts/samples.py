"""Print what a generator writes about the first documents of a corpus, as Markdown.

python scripts/samples.py PIPELINE CORPUS [--n 10]
"""

import argparse
from itertools import islice

import spacy

from spacy_keyphrase import is_present
from spacy_keyphrase.corpora import read_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("corpus")
    parser.add_argument("--n", type=int, default=10)
    options = parser.parse_args()
    nlp = spacy.load(options.pipeline)
    documents = list(islice(read_corpus(options.corpus), options.n))
    docs = nlp.pipe([document.text for document in documents])
    for i, (document, doc) in enumerate(zip(documents, docs), start=1):
        absent = [k.text for k in doc._.keyphrases if not k.is_present]
        present = [k.text for k in doc._.keyphrases if k.is_present]
        gold = document.keyphrases
        missing = [text for text in gold if not is_present(text, document.text)]
        title = " ".join(document.text.split())[:110]
        print(f"{i}. {title} …")
        print(f"   * written, absent: {'; '.join(absent) or '–'}")
        print(f"   * the author's, absent: {'; '.join(missing) or '–'}")
        print(f"   * written, present: {'; '.join(present) or '–'}")


if __name__ == "__main__":
    main()
