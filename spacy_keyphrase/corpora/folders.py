"""What the formats of one file a document share."""

from pathlib import Path


def document_id(file: Path, root: Path) -> str:
    """The path below the corpus folder, without its suffix."""
    name = file.name[:-3] if file.name.endswith(".gz") else file.name
    file = file.with_name(name).with_suffix("")
    return file.relative_to(root).as_posix() if root.is_dir() else file.name
