"""The spaCy pipeline components, one factory a file."""
