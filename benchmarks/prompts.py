"""Ranking by a language model: documents a second against the way of the public code,
and against the bare network.

The published rankers run the encoder again with every batch of candidates, on inputs
padded to 512 sub-tokens, and predict the whole vocabulary at each of 30 places. That
way is written down here once more, over the same modules and in the same precision, so
that only the order of the work differs; scores are compared as well.
"""

import time
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy
import spacy
import torch
from torch import Tensor
from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

from spacy_keyphrase.lm.document import Document, read_document
from spacy_keyphrase.lm.granular import Granular
from spacy_keyphrase.lm.pieces import read_pieces
from spacy_keyphrase.lm.prompt import PromptScorer, normalise
from spacy_keyphrase.lm.sentences import SEQ2SEQ_PROMPT, Sentence, read_sentences
from spacy_keyphrase.lm.seq2seq import Seq2Seq
from spacy_keyphrase.lm.seq2seq_sentences import Seq2SeqSentences
from spacy_keyphrase.lm.weighting import Priors, Weighting, reweight
from spacy_keyphrase.lm.windows import make_windows

from .data import read_corpus, shared_dir

DATASET = "inspec/test"
BATCH = 64
ROW = 30
COLUMNS = 512
Row = Dict[str, Any]


class Model:
    """A model of the size of T5-small with random weights: they do not matter for
    speed."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(
            shared_dir() / "models" / "tokenizers" / "t5"
        )
        config = T5Config(vocab_size=32128, decoder_start_token_id=0)
        self.network: Any = T5ForConditionalGeneration(config).eval()
        self.own = Seq2Seq(self.network)
        self.sentences = Seq2SeqSentences(self.own)

    def scorer(self, weighting: Optional[Weighting]) -> PromptScorer:
        return PromptScorer(
            self.sentences, self.tokenizer, SEQ2SEQ_PROMPT, weighting, truncate=True
        )


def read_documents(limit: int) -> List[Document]:
    """Documents with the noun phrases of the bundled tagger as candidates."""
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_tagger")
    ranker: Any = nlp.add_pipe("keyphrase_ranker")
    docs = list(nlp.pipe(read_corpus(DATASET, limit).texts))
    return [read_document(doc, ranker.suggest(doc), True) for doc in docs]


@torch.inference_mode()
def literal(
    model: Model, documents: Sequence[Document], weighting: Optional[Weighting]
) -> List[numpy.ndarray]:
    """Scores of occurrences, the encoder run again for each batch of them."""
    scorer = model.scorer(weighting)
    prompt = SEQ2SEQ_PROMPT
    found = []
    for document in documents:
        (whole,) = read_pieces(
            model.tokenizer, [prompt.before + document.text + prompt.after]
        )
        (window,) = make_windows(
            [document], [whole], len(prompt.before), prompt.length, True
        )
        own = [document.occurrences[i] for i in window.occurrences]
        sentences = read_sentences(model.tokenizer, [o.text for o in own], prompt, True)
        n = len(window.pieces)
        ids = torch.zeros((1, COLUMNS), dtype=torch.long)
        ids[0, :n] = torch.tensor(window.pieces.ids)
        mask = (torch.arange(COLUMNS) < n).long()[None]
        priors = None
        if weighting is not None:
            states = model.own.encode(ids, mask.bool())[0][0, :n]
            given = weighting, document, window, own, states, whole
            priors = scorer.read_priors(*given)
        sums: List[float] = []
        for first in range(0, len(sentences), BATCH):
            some = sentences[first : first + BATCH]
            many = ids.expand(len(some), -1), mask.expand(len(some), -1)
            states = model.own.encode(*many)[0]
            if priors is None:
                sums += _whole_vocabulary(model, some, states, many[1])
            else:
                numbers = range(first, first + len(some))
                sums += _weighted(model, some, states[:, :n], priors, numbers)
        lengths = numpy.array([s.last - s.first for s in sentences])
        found.append(normalise(numpy.array(sums), lengths, prompt.alpha))
    return found


def _inputs(sentences: Sequence[Sentence]) -> Tuple[Tensor, Tensor, Tensor]:
    ids = torch.zeros((len(sentences), ROW), dtype=torch.long)
    targets = torch.zeros_like(ids)
    scored = torch.zeros(ids.shape, dtype=torch.bool)
    for i, sentence in enumerate(sentences):
        n = min(len(sentence.ids), ROW)
        ids[i, 1:n] = torch.tensor(sentence.ids[1:n])
        targets[i, : n - 1] = torch.tensor(sentence.ids[1:n])
        scored[i, sentence.first - 1 : sentence.last - 1] = True
    return ids, targets, scored


def _whole_vocabulary(
    model: Model, sentences: Sequence[Sentence], states: Tensor, mask: Tensor
) -> List[float]:
    ids, targets, scored = _inputs(sentences)
    logits = model.network(
        decoder_input_ids=ids, encoder_outputs=(states,), attention_mask=mask
    ).logits
    chances = logits.log_softmax(dim=-1).gather(2, targets[..., None])[..., 0]
    sums: List[float] = (chances * scored).double().sum(dim=1).tolist()
    return sums


def _weighted(
    model: Model,
    sentences: Sequence[Sentence],
    states: Tensor,
    priors: Priors,
    numbers: Sequence[int],
) -> List[float]:
    """Each with keys and values of its own."""
    ids, targets, scored = _inputs(sentences)
    own = torch.zeros(ids.shape)
    for i, sentence in enumerate(sentences):
        own[i, sentence.start : sentence.end] = 1 / (sentence.end - sentence.start)
    some = priors.take(list(numbers))
    network = model.network.decoder
    hidden = network.embed_tokens(ids)
    bias = None
    for layer, block in enumerate(network.block):
        attend, cross, forward = block.layer
        if bias is None:
            bias = _causal_bias(attend.SelfAttention)
        hidden = hidden + _attend(
            attend.SelfAttention, attend.layer_norm(hidden), None, bias, None
        )
        change = partial(_change, own=own, priors=some, layer=layer)
        hidden = hidden + _attend(
            cross.EncDecAttention, cross.layer_norm(hidden), states, None, change
        )
        hidden = forward(hidden)
    hidden = network.final_layer_norm(hidden) * model.network.model_dim**-0.5
    chances = model.network.lm_head(hidden).log_softmax(dim=-1)
    chosen = chances.gather(2, targets[..., None])[..., 0]
    sums: List[float] = (chosen * scored).double().sum(dim=1).tolist()
    return sums


def _causal_bias(attention: Any) -> Tensor:
    places = torch.arange(ROW)
    buckets = attention._relative_position_bucket(
        places[None] - places[:, None],
        bidirectional=False,
        num_buckets=attention.relative_attention_num_buckets,
        max_distance=attention.relative_attention_max_distance,
    )
    bias: Tensor = attention.relative_attention_bias(buckets).permute(2, 0, 1)
    return bias.masked_fill(places[None] > places[:, None], -torch.inf)


def _attend(
    attention: Any,
    hidden: Tensor,
    states: Optional[Tensor],
    bias: Optional[Tensor],
    change: Optional[Callable[[Tensor], Tensor]],
) -> Tensor:
    """Every row has keys and values of its own."""
    states = hidden if states is None else states
    query, key, value = (
        project(x).unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)
        for project, x in (
            (attention.q, hidden),
            (attention.k, states),
            (attention.v, states),
        )
    )
    scores = query @ key.transpose(-1, -2)
    scores = scores if bias is None else scores + bias
    scores = scores if change is None else change(scores)
    found: Tensor = attention.o(
        (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)
    )
    return found


def _change(scores: Tensor, own: Tensor, priors: Priors, layer: int) -> Tensor:
    """Scores of shape (rows, heads, places, columns)."""
    alignment = (own[:, None, None] @ scores)[:, :, 0].transpose(0, 1)
    weights = priors.weights(layer, alignment).transpose(0, 1)
    return reweight(scores, weights[:, :, None])


@torch.inference_mode()
def bare(model: Model, documents: Sequence[Document], weighted: bool) -> None:
    """One pass of the encoder over each document, and one of the decoder over as many
    sub-tokens as its sentences have up to the last that is scored; common beginnings
    once, if nothing is weighted. No vocabulary."""
    prompt = SEQ2SEQ_PROMPT
    for document in documents:
        (whole,) = read_pieces(
            model.tokenizer, [prompt.before + document.text + prompt.after]
        )
        texts = [o.text for o in document.occurrences]
        texts = texts if weighted else sorted(set(texts))
        sentences = read_sentences(model.tokenizer, texts, prompt, True)
        if weighted:
            n = sum(s.last - 1 for s in sentences)
        else:
            n = len({tuple(s.ids[:k]) for s in sentences for k in range(1, s.last)})
        states = model.network.encoder(
            input_ids=torch.tensor([whole.ids[:COLUMNS]])
        ).last_hidden_state
        for first in range(0, n, COLUMNS):
            model.network.decoder(
                input_ids=torch.zeros((1, min(COLUMNS, n - first)), dtype=torch.long),
                encoder_hidden_states=states,
                use_cache=False,
            )


def run_prompts(limit: int, passes: int, say: Callable[[str], None]) -> Iterator[Row]:
    """Time the ways.

    limit (int): Documents.
    passes (int): Timed passes of the fast ways; the median counts.
    say (Callable[[str], None]): Called with each line of progress.
    YIELDS (Row): Documents per second and ratios of one setting.
    """
    model = Model()
    documents = read_documents(limit)
    granular = Granular()

    def mudy(weighting: Optional[Weighting]) -> List[numpy.ndarray]:
        scorer = model.scorer(weighting)
        return scorer.score(documents, granular if weighting else None)[0]

    mudy(Weighting())
    for name, weighting in (("MUDY", Weighting()), ("PromptRank", None)):
        ours, network = [], []
        for _ in range(passes):
            ours.append(_timed(partial(mudy, weighting))[0])
            network.append(
                _timed(partial(bare, model, documents, weighting is not None))[0]
            )
        seconds, expected = _timed(partial(literal, model, documents, weighting))
        found = mudy(weighting)
        difference = max(
            float(abs(a - b).max()) for a, b in zip(found, expected) if len(a)
        )
        own, alone = numpy.median(ours), numpy.median(network)
        row = {
            "system": name,
            "dataset": DATASET,
            "docs": len(documents),
            "occurrences/doc": sum(len(d.occurrences) for d in documents) / limit,
            "docs/s": limit / own,
            "literal docs/s": limit / seconds,
            "ratio": seconds / own,
            "of network": float(numpy.median(numpy.array(ours) / numpy.array(network))),
            "network docs/s": limit / alone,
            "difference": difference,
        }
        say(
            f"{name:12} {row['docs/s']:.2f} docs/s, {row['ratio']:.1f} times those of "
            f"the public way; {row['of network']:.2f} times the bare network's time; "
            f"scores differ by {difference:.1e}"
        )
        yield row


def _timed(work: Callable[[], Any]) -> Tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
