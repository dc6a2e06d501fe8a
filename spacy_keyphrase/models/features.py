"""What is known of a phrase without reading its words: counts, places, rarity."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Maxout, Model, chain
from thinc.types import Floats2d

from ..keyphraseness import get_keyphraseness
from ..lexicon import ADJECTIVE, NOUN, Lexicon, get_lexicon
from ..vectors import get_vectors
from ..words import BREAK, Words
from .mentions import Mentions
from .prior import add_priors

InT = Tuple[List[Doc], Mentions]

_MAX_WORDS = 5
FEATURES = (
    *(f"words_{n}" for n in range(1, _MAX_WORDS + 1)),
    "mentions",
    "mentions_share",
    "first",
    "first_share",
    "last_share",
    "spread",
    "opening",
    "words_in_doc",
    "idf_mean",
    "idf_min",
    "idf_max",
    "unknown",
    "tf_mean",
    "tf_min",
    "tf_max",
    "value",
    "capitals",
    "left_edge",
    "right_edge",
    "noun_head",
    "noun_first",
    "adjective_first",
    "other_inside",
    "similarity",
    "similarity_rank",
    "prior",
    "prior_rank",
    "near_prior",
    "near_prior_rank",
    "keyphrase_count",
    "keyphrase_share",
    "keyphrase_known",
)


@registry.layers("spacy_keyphrase.PhraseFeatures.v1")
def build_phrase_features(
    hidden_size: int = 64,
    styles: Sequence[str] = (),
    style_dropout: Union[float, Dict[str, float]] = 0.25,
    leave_one_out: bool = False,
) -> Model[InT, Floats2d]:
    """Represent phrases by numbers that hold in any domain: how often and where a
    phrase occurs, how rare its words are, its casing, length and word classes, how
    near it is to the whole document where the language has word vectors, what an
    untrained ranking makes of all that, and how often it was a keyphrase elsewhere
    where the language has a table of that.

    hidden_size (int): Width of the output.
    styles (Sequence[str]): Names of annotation conventions, such as "author". What is
        a keyphrase differs between them, and the style of a doc is one more feature.
    style_dropout (Union[float, Dict[str, float]]): Share of the docs whose style is
        withheld in training, so that the network also knows what to do where none is
        given; one for all, or one for each style.
    leave_one_out (bool): Whether the docs learned from were counted in the table of
        keyphrases; in training each is then taken out of the counts that it is given.
    RETURNS (Model[Tuple[List[Doc], Mentions], Floats2d]): From a batch to one row a
        phrase, float of shape (phrases, hidden_size).
    """
    if not isinstance(style_dropout, dict):
        style_dropout = dict.fromkeys(styles, style_dropout)
    if set(style_dropout) != set(styles):
        raise ValueError(
            f"style_dropout is given for {sorted(style_dropout)}, but the styles are "
            f"{sorted(styles)}."
        )
    if not all(0 <= rate <= 1 for rate in style_dropout.values()):
        raise ValueError(f"style_dropout must be between 0 and 1, not {style_dropout}.")
    width = len(FEATURES) + len(styles)
    extract: Model[InT, Floats2d] = Model(
        "phrase_features",
        _forward,
        dims={"nO": width},
        attrs={
            "styles": list(styles),
            "style_dropout": [style_dropout[style] for style in styles],
            "leave_one_out": leave_one_out,
        },
    )
    return chain(
        extract,
        Maxout(hidden_size, width, nP=2, normalize=True, dropout=0.0),
    )


def _forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> Tuple[Floats2d, Callable[[Floats2d], InT]]:
    docs, mentions = inputs
    ops: Any = model.ops
    own_gold = mentions.gold if is_train and model.attrs["leave_one_out"] else None
    features = phrase_features(docs, mentions, own_gold)
    if model.attrs["styles"]:
        dropout = model.attrs["style_dropout"] if is_train else None
        styles = _style_features(mentions, len(model.attrs["styles"]), dropout)
        features = numpy.hstack([features, styles])
    return ops.asarray2f(features), lambda dY: inputs


def _style_features(
    mentions: Mentions, n: int, dropout: Optional[List[float]]
) -> numpy.ndarray:
    """1 in the column of the style of a phrase's doc, float of shape (phrases, n)."""
    of_docs: numpy.ndarray = numpy.zeros((len(mentions.doc_tokens), n), dtype="f4")
    if mentions.styles is not None:
        kept = mentions.styles >= 0
        if dropout is not None:
            rates = numpy.array(dropout)[mentions.styles]
            kept &= numpy.random.random(len(of_docs)) >= rates
        rows = numpy.flatnonzero(kept)
        of_docs[rows, mentions.styles[rows]] = 1
    rows_of: numpy.ndarray = of_docs[mentions.phrase_docs]
    return rows_of


def find_styles(model: Model[Any, Any]) -> List[str]:
    """The styles that a network was built with.

    model (Model): A network that may have `PhraseFeatures` in it.
    """
    for node in model.walk():
        if "styles" in node.attrs:
            return list(node.attrs["styles"])
    return []


def phrase_features(
    docs: Sequence[Doc], mentions: Mentions, own_gold: Optional[numpy.ndarray] = None
) -> numpy.ndarray:
    """The features of the phrases of a batch.

    docs (Sequence[Doc]): The batch.
    mentions (Mentions): Its mentions, read with their words.
    own_gold (Optional[ndarray]): Which phrases are gold, where the docs are to be
        taken out of the table of keyphrases; bool of shape (phrases,).
    RETURNS (ndarray): About in the range -1..1, float of shape (phrases, features).
    """
    rows = []
    token = mention = 0
    phrase_ends = numpy.cumsum(mentions.doc_phrases)
    bounds = numpy.searchsorted(mentions.phrases, phrase_ends)
    for doc, words, end in zip(docs, mentions.words, bounds):
        spans = slice(mention, int(end))
        if mention < end:
            rows.append(
                _of_doc(
                    doc,
                    words,
                    get_lexicon(doc.lang_),
                    mentions.starts[spans] - token,
                    mentions.ends[spans] - token,
                    mentions.phrases[spans] - mentions.phrases[mention],
                )
            )
        token, mention = token + len(doc), int(end)
    features = numpy.zeros((0, len(FEATURES)), dtype="f4")
    if rows:
        features = numpy.concatenate(rows)
        features[:, -3:] = _keyphraseness(docs, mentions, own_gold)
    return features


def _keyphraseness(
    docs: Sequence[Doc], mentions: Mentions, own_gold: Optional[numpy.ndarray]
) -> numpy.ndarray:
    """The last three features, float of shape (phrases, 3)."""
    gold, counted = numpy.zeros((2, mentions.n_phrases))
    languages = numpy.array([doc.lang_ for doc in docs])[mentions.phrase_docs]
    for language in set(languages.tolist()):
        table = get_keyphraseness(language)
        if table is not None and mentions.keys is not None:
            rows = languages == language
            own = None if own_gold is None else own_gold[rows]
            gold[rows], counted[rows] = table.look_up(mentions.keys[rows], own)
    share = numpy.log((gold + 0.1) / (counted + 4))
    return numpy.column_stack([numpy.log1p(gold) / 3, share / 3 + 1, gold > 0])


def _of_doc(
    doc: Doc,
    words: Words,
    lexicon: Lexicon,
    starts: numpy.ndarray,
    ends: numpy.ndarray,
    phrases: numpy.ndarray,
) -> numpy.ndarray:
    first_stems = numpy.array(words.first_stems)
    n_stems = len(words.stems)
    a, b = first_stems[starts], first_stems[ends]
    firsts = numpy.flatnonzero(numpy.diff(phrases, prepend=-1))
    counts = numpy.diff(firsts, append=len(phrases))
    lengths = (b - a)[firsts]
    place, last = a[firsts], a[firsts + counts - 1]

    frequency: dict[str, int] = {}
    for stem in words.stems:
        frequency[stem] = frequency.get(stem, 0) + 1
    idf_of, rare = lexicon.idf, lexicon.rare
    idf = numpy.array([idf_of.get(stem, rare) for stem in words.stems])
    known = numpy.array([stem in idf_of for stem in words.stems], dtype=float)
    tf = numpy.log([frequency[stem] for stem in words.stems])
    # The statistical ranker's value of a word.
    value = numpy.exp(0.25 * tf) * numpy.maximum(idf, 0.01) ** 0.8

    def mean(of_stems: numpy.ndarray) -> numpy.ndarray:
        sums = numpy.concatenate([[0.0], numpy.cumsum(of_stems)])
        means: numpy.ndarray = (sums[place + lengths] - sums[place]) / lengths
        return means

    def extremes(of_stems: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
        low, high = of_stems[place], of_stems[place]
        for k in range(1, int(lengths.max())):
            at = of_stems[numpy.minimum(place + k, place + lengths - 1)]
            low, high = numpy.minimum(low, at), numpy.maximum(high, at)
        return low, high

    def share(of_mentions: numpy.ndarray) -> numpy.ndarray:
        sums = numpy.add.reduceat(of_mentions.astype(float), firsts)
        shares: numpy.ndarray = sums / counts
        return shares

    noun, adjective, other, edge, opening = _token_classes(words)
    capital = numpy.array(words.capitals) & ~opening
    before = numpy.where(starts > 0, edge[starts - 1], True)
    after = numpy.append(edge, True)[ends]
    head, front = ends[firsts] - 1, starts[firsts]
    others = numpy.concatenate([[0], numpy.cumsum(other)])
    sentence = words.sentence_ends[0]
    columns = {
        "mentions": numpy.log(counts) / 3,
        "mentions_share": numpy.log(counts) / max(numpy.log(counts.max()), 0.5),
        "first": numpy.log1p(place) / 6,
        "first_share": place / n_stems,
        "last_share": last / n_stems,
        "spread": (last - place) / n_stems,
        "opening": place < sentence,
        "words_in_doc": numpy.full(len(firsts), numpy.log(n_stems) / 10),
        "idf_mean": mean(idf),
        "unknown": 1 - mean(known),
        "tf_mean": mean(tf) / 3,
        "value": mean(value),
        "capitals": share(capital[starts]),
        "left_edge": share(before),
        "right_edge": share(after),
        "noun_head": noun[head],
        "noun_first": noun[front],
        "adjective_first": adjective[front],
        "other_inside": others[ends[firsts]] > others[front],
    }
    columns["idf_min"], columns["idf_max"] = extremes(idf)
    low, high = extremes(tf)
    columns["tf_min"], columns["tf_max"] = low / 3, high / 3
    for n in range(1, _MAX_WORDS + 1):
        columns[f"words_{n}"] = (
            lengths if n < _MAX_WORDS else lengths.clip(max=n)
        ) == n
    vectors = get_vectors(doc.lang_)
    for name in FEATURES[-3:]:
        columns[name] = numpy.zeros(len(firsts))  # set for all docs at once
    columns["similarity"] = (
        numpy.zeros(len(firsts))
        if vectors is None
        else vectors.similarities(doc, starts[firsts], ends[firsts])
    )
    add_priors(columns, counts, place, lengths)
    return numpy.column_stack([columns[name] for name in FEATURES]).astype("f4")


def _token_classes(words: Words) -> Tuple[numpy.ndarray, ...]:
    """For each token whether it is a noun, an adjective, another word, the edge of
    a phrase (another word, or no word), and the first word of a sentence."""
    n = len(words.capitals)
    noun, adjective, other, opening = numpy.zeros((4, n), dtype=bool)
    for start, end, cls, sentence_start in words.units:
        if cls == BREAK:
            continue
        if cls == NOUN:
            noun[start:end] = True
        elif cls == ADJECTIVE:
            adjective[start:end] = True
        else:
            other[start:end] = True
        if sentence_start:
            opening[start] = True
    # Hyphens inside a compound are of its class; what is of no class separates.
    return noun, adjective, other, ~(noun | adjective), opening
