"""Index text files with their keyphrases, and search them.

python examples/haystack/run.py QUERY FILE...
"""

import sys
from pathlib import Path

from haystack import Pipeline

HERE = Path(__file__).resolve().parent


def main(query: str, *files: str) -> None:
    indexing = Pipeline.loads((HERE / "indexing.yml").read_text("utf8"))
    written = indexing.run({"convert": {"sources": list(files)}})["write"]
    print(f"{written['documents_written']} chunks")
    querying = Pipeline.loads((HERE / "querying.yml").read_text("utf8"))
    asked = {"retrieve": {"query": query}, "rank": {"query": query}}
    for document in querying.run(asked)["rank"]["documents"][:3]:
        shown = " ".join((document.content or "").split())[:60]
        phrases = ", ".join(document.meta["keyphrases"][:3])
        print(f"{document.score:5.2f}  {shown} ... ({phrases})")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
