"""What is computed together, for all candidates of all documents, is what the equations
say of each alone."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from literal import (  # noqa: E402
    causal_score,
    change_document_columns,
    changed_scores,
    neighbours,
    t5_score,
    weights,
)
from tiny import make_causal, make_t5, t5_tokenizer  # noqa: E402

from spacy_keyphrase.lm.causal import Causal  # noqa: E402
from spacy_keyphrase.lm.causal_sentences import CausalSentences  # noqa: E402
from spacy_keyphrase.lm.document import Document, Occurrence  # noqa: E402
from spacy_keyphrase.lm.pieces import read_pieces  # noqa: E402
from spacy_keyphrase.lm.prompt import PromptScorer  # noqa: E402
from spacy_keyphrase.lm.sentences import (  # noqa: E402
    CAUSAL_PROMPT,
    SEQ2SEQ_PROMPT,
    read_sentences,
)
from spacy_keyphrase.lm.seq2seq import Seq2Seq  # noqa: E402
from spacy_keyphrase.lm.seq2seq_sentences import Seq2SeqSentences  # noqa: E402
from spacy_keyphrase.lm.weighting import Weighting  # noqa: E402

TEXTS = {
    "graph embeddings are learned by deep networks. the networks see every graph "
    "twice, and embeddings of nodes drift.": [
        "graph embeddings",
        "deep networks",
        "networks",
        "graph",
        "embeddings",
        "nodes",
    ],
    "cake recipes need butter; butter needs cows.": ["cake recipes", "butter", "cows"],
    "one word": ["word"],
}


@pytest.fixture(scope="module")
def tokenizer(models_dir):
    return t5_tokenizer(models_dir)


@pytest.fixture(scope="module")
def documents():
    found = []
    for text, candidates in TEXTS.items():
        occurrences = []
        for candidate in candidates:
            at = text.find(candidate)
            while at >= 0:
                end = at + len(candidate)
                occurrences.append(
                    Occurrence(at, end, candidate, frozenset(candidate.split()))
                )
                at = text.find(candidate, end)
        found.append(Document(text, [(0, len(text))], occurrences))
    return found


def literal_t5(model, tokenizer, document, settings, prompt):
    (pieces,) = read_pieces(
        tokenizer, [f"{prompt.before}{document.text}{prompt.after}"]
    )
    shift = len(prompt.before)
    spans = [pieces.find(o.start + shift, o.end + shift) for o in document.occurrences]
    with torch.no_grad():
        states = model.encoder(input_ids=torch.tensor([pieces.ids]))[0][0]
    stems = [o.stems for o in document.occurrences]
    near = neighbours(states, spans, stems, 3)

    def one(occurrence, span, others):
        (sentence,) = read_sentences(tokenizer, [occurrence.text], prompt, True)

        def change(layer, head, rows):
            alignment = rows[sentence.start : sentence.end].mean(dim=0)
            w = weights(alignment, pieces.blank, *span, others, layer, settings)
            return changed_scores(rows, w)

        with torch.no_grad():
            total = t5_score(
                model,
                pieces.ids,
                sentence.ids,
                (sentence.first, sentence.last),
                change if settings is not None else None,
            )
        return total / (sentence.last - sentence.first) ** prompt.alpha

    return [one(*each) for each in zip(document.occurrences, spans, near, strict=True)]


def literal_causal(model, tokenizer, document, settings, prompt):
    (pieces,) = read_pieces(
        tokenizer, [f"{prompt.before}{document.text}{prompt.after}"]
    )
    shift = len(prompt.before)

    def one(occurrence):
        span = pieces.find(occurrence.start + shift, occurrence.end + shift)
        (sentence,) = read_sentences(tokenizer, [occurrence.text], prompt, False)

        def change(layer, head, rows):
            def w(layer, alignment):
                return weights(alignment, pieces.blank, *span, [], layer, settings)

            own = sentence.start, sentence.end
            return change_document_columns(layer, rows, own, w, len(pieces))

        with torch.no_grad():
            total = causal_score(
                model,
                pieces.ids,
                sentence.ids,
                (sentence.first, sentence.last),
                change if settings is not None else None,
            )
        return total / (sentence.last - sentence.first) ** prompt.alpha

    return [one(occurrence) for occurrence in document.occurrences]


WEIGHTINGS = [
    None,
    Weighting(gamma=0.4),
    Weighting(gamma=0.1, top=3, threshold=0.0, scale=5.0),
]


@pytest.mark.parametrize("settings", WEIGHTINGS)
@pytest.mark.parametrize(
    "kind",
    [{}, {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}],
    ids=["t5", "flan-t5"],
)
def test_t5(kind, settings, tokenizer, documents):
    model = make_t5(**kind)
    score = PromptScorer(
        Seq2SeqSentences(Seq2Seq(model)), tokenizer, SEQ2SEQ_PROMPT, settings
    )
    for document, found in zip(documents, score(documents)):
        expected = literal_t5(model, tokenizer, document, settings, SEQ2SEQ_PROMPT)
        assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("settings", WEIGHTINGS)
@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt2"])
def test_decoder_only(name, settings, tokenizer, documents):
    model = make_causal(name)
    score = PromptScorer(
        CausalSentences(Causal(model)), tokenizer, CAUSAL_PROMPT, settings
    )
    found_all = score(documents)
    for document, found in zip(documents, found_all):
        expected = literal_causal(model, tokenizer, document, settings, CAUSAL_PROMPT)
        assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("max_tokens", [1, 20, 4096])
def test_batches(max_tokens, tokenizer, documents):
    """The same in any order and any batch."""
    settings = Weighting(gamma=0.4)
    for model in (
        Seq2SeqSentences(Seq2Seq(make_t5())),
        CausalSentences(Causal(make_causal("llama"))),
    ):
        prompt = SEQ2SEQ_PROMPT if model.has_states else CAUSAL_PROMPT
        whole = PromptScorer(model, tokenizer, prompt, settings)(documents)
        cut = PromptScorer(model, tokenizer, prompt, settings, max_tokens=max_tokens)
        for expected, found in zip(whole, reversed(cut(documents[::-1]))):
            assert_allclose(found, expected, atol=1e-4)
        for expected, document in zip(whole, documents):
            assert_allclose(cut([document])[0], expected, atol=1e-4)


def test_weights_of_one_are_no_bypass(tokenizer, documents):
    """Eq. 8 makes negative scores 0 where the weight is 1."""
    model = Seq2SeqSentences(Seq2Seq(make_t5()))
    everywhere = Weighting(sigma=1e9, gamma=0.0, neighbours=())
    with_ones = PromptScorer(model, tokenizer, SEQ2SEQ_PROMPT, everywhere)(documents)
    bypassed = PromptScorer(model, tokenizer, SEQ2SEQ_PROMPT)(documents)
    assert numpy.abs(with_ones[0] - bypassed[0]).max() > 1e-3
