"""Every system that the benchmarks can run, behind one protocol."""

import importlib
from typing import Any, Callable, Dict, Iterable, List, Optional, Protocol, Sequence

from .data import model_path
from .peers import (
    TOP,
    FirstNP,
    KeyBert,
    MultiRake,
    Phrases,
    PyTextRank,
    RakeNltk,
    Unavailable,
    Yake,
)


class System(Protocol):
    """A keyphrase extractor."""

    def load(self) -> None:
        """Import and read all that English needs. Raises `Unavailable`."""

    def supports(self, lang: str) -> bool:
        """Whether the system can run on a language."""

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        """The phrases of every text, best first, as many as it gives up to 50."""


def _register() -> None:
    # Entry points do this where the package is installed.
    for module in ("pipeline.keyphrase", "pipeline.ranker", "rankers"):
        importlib.import_module(f"spacy_keyphrase.{module}")


class Blank:
    """`spacy.blank(lang)` and the pipe `keyphrase`.

    pipe (Optional[str]): Name of the pipe's factory; None is the tokenizer only.
    settings (Any): Settings of the pipe. With a style there is only English.
    """

    def __init__(self, pipe: Optional[str] = "keyphrase", **settings: Any):
        self.pipe = pipe
        self.settings = settings
        self._by_lang: Dict[str, Any] = {}

    def load(self) -> None:
        self._make("en")

    def supports(self, lang: str) -> bool:
        return lang == "en" or "style" not in self.settings

    def _make(self, lang: str) -> None:
        import spacy

        nlp = spacy.blank(lang)
        if self.pipe:
            _register()
            nlp.add_pipe(self.pipe, config={"top_n": TOP, **self.settings})
        self._by_lang[lang] = nlp

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        if lang not in self._by_lang:
            self._make(lang)
        docs = self._by_lang[lang].pipe(texts)
        return read_keyphrases(docs) if self.pipe else [[] for _ in docs]


class Tagged:
    """The English tagger, and one of our rankers after it.

    pipe (Optional[str]): Name of the pipe's factory; None is the tagger only.
    ranker (Optional[str]): Registered name of the ranker of `keyphrase_ranker`.
    """

    def __init__(self, pipe: Optional[str] = "keyphrase", ranker: Optional[str] = None):
        self.pipe = pipe
        self.ranker = ranker

    def load(self) -> None:
        import spacy

        self.nlp = spacy.load(model_path(), exclude=["parser", "lemmatizer"])
        if self.pipe:
            self.nlp.add_pipe(self.pipe, config=self.config())

    def config(self) -> Dict[str, Any]:
        """The settings of the pipe."""
        from spacy.util import registry

        _register()
        config: Dict[str, Any] = {"top_n": TOP}
        if self.ranker:
            if not registry.has("keyphrase_rankers", self.ranker):
                raise Unavailable(f"no ranker {self.ranker} is registered")
            config["ranker"] = {"@keyphrase_rankers": self.ranker}
        else:
            config["method"] = "statistical"
        return config

    def supports(self, lang: str) -> bool:
        return lang == "en"

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        docs = self.nlp.pipe(texts)
        return read_keyphrases(docs) if self.pipe else [[] for _ in docs]


def read_keyphrases(docs: Iterable[Any]) -> List[Phrases]:
    """The texts of the keyphrases of every doc."""
    return [[phrase.text for phrase in doc._.keyphrases] for doc in docs]


# Conventions that the bundled network knows.
STYLES = ("author", "index", "tags", "news")
_GRAPHS = ("TextRank", "SingleRank", "PositionRank", "TopicRank", "MultipartiteRank")


def _graph(name: str) -> Callable[[], System]:
    return lambda: Tagged("keyphrase_ranker", f"spacy_keyphrase.{name}.v1")


def _styled(style: str) -> Callable[[], System]:
    return lambda: Blank(style=style)


SYSTEMS: Dict[str, Callable[[], System]] = {
    "yake": Yake,
    "rake-nltk": RakeNltk,
    "rake-nltk-max3": lambda: RakeNltk(3),
    "multi-rake": MultiRake,
    "firstnp": FirstNP,
    "ptr-textrank": lambda: PyTextRank("textrank"),
    "ptr-positionrank": lambda: PyTextRank("positionrank"),
    "ptr-topicrank": lambda: PyTextRank("topicrank"),
    "keybert": KeyBert,
    "keybert-kpv": lambda: KeyBert(noun_phrases=True),
    "ours": Blank,
    **{f"ours-{style}": _styled(style) for style in STYLES},
    "ours-statistical": lambda: Blank(method="statistical"),
    "ours-tagged": Tagged,
    **{f"ours-{name.lower()}": _graph(name) for name in _GRAPHS},
}

# What only the speed tables show: variants, and pipelines without a ranker.
PIPELINES: Dict[str, Callable[[], System]] = {
    "yake-top20": lambda: Yake(20),
    "tokenizer": lambda: Blank(None),
    "tagger": lambda: Tagged(None),
}


def make_system(name: str) -> System:
    """Make a system by its name; it is not loaded.

    name (str): A key of `SYSTEMS` or `PIPELINES`.
    RETURNS (System): The system.
    """
    known = {**SYSTEMS, **PIPELINES}
    if name not in known:
        raise ValueError(f"No system {name!r}; there are: {', '.join(known)}.")
    return known[name]()
