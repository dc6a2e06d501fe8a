"""Answers of a model that are kept on disk."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Dict, Optional


@dataclass(frozen=True)
class DiskCache:
    """A folder with a file for each answer, which is there whole or not at all, so that
    a run that was killed goes on where it was, and several can share the folder.

    folder (Path): The folder; made when it is needed.
    """

    folder: Path

    def get(self, question: Dict[str, Any]) -> Optional[str]:
        """The answer to a question, if it is known.

        question (Dict[str, Any]): All that the answer depends on, as JSON-able data.
        """
        try:
            data = json.loads(self._path(question).read_text(encoding="utf8"))
        except (OSError, ValueError):
            return None
        answer = data.get("answer") if isinstance(data, dict) else None
        return answer if isinstance(answer, str) else None

    def set(self, question: Dict[str, Any], answer: str) -> None:
        """Keep an answer."""
        path = self._path(question)
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps({"answer": answer}, ensure_ascii=False)
        with NamedTemporaryFile(
            "w", encoding="utf8", dir=path.parent, suffix=".part", delete=False
        ) as part:
            part.write(data)
        os.replace(part.name, path)

    def _path(self, question: Dict[str, Any]) -> Path:
        text = json.dumps(question, sort_keys=True, ensure_ascii=False)
        name = hashlib.sha256(text.encode("utf8", "surrogatepass")).hexdigest()
        # Not millions of files in one folder.
        return self.folder / name[:2] / f"{name}.json"
