"""Noun phrases from tags, and chunks between stop words where there are none."""

from typing import List, Optional

from spacy.tokens import Doc

from ..lexemes import CAPITAL_NOUNS
from ..lexicon import ADJECTIVE, GERUND, NOUN, PARTICIPLE
from ..registry import registry
from ..word_reader import get_word_reader
from ..words import Unit
from .base import Offsets, Suggester

# Languages whose adjectives follow the noun.
TRAILING_ADJECTIVES = frozenset(
    """
    ar br ca es eu fa fr ga gd gl he id it la lij ms oc pt ro tl vi
    """.split()
)


@registry.keyphrase_candidates("spacy_keyphrase.Phrases.v1")
def make_phrases(
    max_words: int = 5,
    subphrases: bool = False,
    trailing_adjectives: Optional[bool] = None,
) -> Suggester:
    """Noun phrases where the doc has tags, chunks where it has none.

    max_words (int): Phrases with more words (hyphenated compounds count as one)
        are not suggested, only their parts where `subphrases` is set.
    subphrases (bool): Whether to suggest the phrases inside each phrase as well.
    trailing_adjectives (Optional[bool]): Whether adjectives may follow the noun.
        By default the document's language decides.
    RETURNS (Suggester): From a doc to token offsets.
    """
    return _PhraseSuggester(max_words, subphrases, trailing_adjectives, None)


@registry.keyphrase_candidates("spacy_keyphrase.NounPhrases.v1")
def make_noun_phrases(
    max_words: int = 5,
    subphrases: bool = False,
    trailing_adjectives: Optional[bool] = None,
) -> Suggester:
    """Noun phrases ``(noun | adjective)* noun`` by part-of-speech tags: fine-grained
    tags (NN*, JJ*) in English, universal parts of speech elsewhere. A doc without
    tags raises. The arguments are those of `Phrases`.
    """
    return _PhraseSuggester(max_words, subphrases, trailing_adjectives, True)


@registry.keyphrase_candidates("spacy_keyphrase.Chunks.v1")
def make_chunks(
    max_words: int = 5,
    subphrases: bool = False,
    trailing_adjectives: Optional[bool] = None,
) -> Suggester:
    """Stretches of text between stop words, punctuation and numbers; in English also
    between words that the lexicon knows as verbs or adverbs. Tags are not looked
    at. The arguments are those of `Phrases`.
    """
    return _PhraseSuggester(max_words, subphrases, trailing_adjectives, False)


_MODIFIERS = (ADJECTIVE, PARTICIPLE, GERUND)
# Before one of these a word in -ing governs what follows: "species inhabiting the ...".
_DETERMINERS = frozenset(
    """
    a an the this that these those its their his her our my your all any each every
    some no such both many several it them us
    """.split()
)


class _PhraseSuggester:
    def __init__(
        self,
        max_words: int,
        subphrases: bool,
        trailing_adjectives: Optional[bool],
        tags: Optional[bool],
    ):
        if max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {max_words}.")
        self.max_words = max_words
        self.subphrases = subphrases
        self.trailing_adjectives = trailing_adjectives
        self.tags = tags

    def __call__(self, doc: Doc) -> Offsets:
        words = get_word_reader(doc.lang_).read(doc, use_tags=self.tags is not False)
        if self.tags and not words.tagged and len(doc):
            raise ValueError(
                "spacy_keyphrase.NounPhrases.v1 needs part-of-speech tags and the "
                "doc has none. Add a tagger before this component, or use "
                "spacy_keyphrase.Phrases.v1, which does without where it must."
            )
        trailing = self.trailing_adjectives
        if trailing is None:
            trailing = doc.lang_ in TRAILING_ADJECTIVES
        found = self._suggest(doc, words.units, words.tagged, trailing)
        if not found and not words.tagged:
            # Better a modifier than nothing: "fast and simple".
            nouns = [
                u._replace(cls=NOUN) if u.cls in _MODIFIERS else u for u in words.units
            ]
            found = self._suggest(doc, nouns, words.tagged, trailing)
        return found

    def _suggest(
        self, doc: Doc, units: List[Unit], tagged: bool, trailing: bool
    ) -> Offsets:
        found: Offsets = []
        phrase: List[Unit] = []
        head = 0  # length of the phrase up to its last noun
        # Where nouns are told by their capitals, what looks like an adjective behind
        # one is more often a verb.
        one_noun_group = not tagged and doc.lang_ in CAPITAL_NOUNS
        for i, unit in enumerate(units):
            cls = unit.cls
            new_group = one_noun_group and cls == ADJECTIVE and head
            if phrase and (new_group or (tagged and unit.sentence_start)):
                self._add(phrase if trailing and head else phrase[:head], found)
                phrase, head = [], 0
            if cls == GERUND and phrase and phrase[-1].cls == NOUN:
                # "data mining", but "data mining the ..."
                following = units[i + 1 : i + 2]
                if not (following and doc[following[0].start].lower_ in _DETERMINERS):
                    unit, cls = unit._replace(cls=NOUN), NOUN
            if cls == NOUN:
                phrase.append(unit)
                head = len(phrase)
            elif cls == ADJECTIVE or (phrase and cls in (PARTICIPLE, GERUND)):
                phrase.append(unit)
            elif phrase:
                self._add(phrase if trailing and head else phrase[:head], found)
                phrase, head = [], 0
        self._add(phrase if trailing and head else phrase[:head], found)
        return found

    def _add(self, phrase: List[Unit], found: Offsets) -> None:
        n = len(phrase)
        if n == 0:
            return
        if n <= self.max_words:
            found.append((phrase[0].start, phrase[-1].end))
        if self.subphrases and n > 1:
            for i in range(n):
                for j in range(i + 1, min(n, i + self.max_words) + 1):
                    if j - i < n and phrase[j - 1].cls == NOUN:
                        found.append((phrase[i].start, phrase[j - 1].end))
