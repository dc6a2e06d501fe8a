"""UniKeyphrase (Wu et al. 2021): present keyphrases by tags, absent ones written, by
one network."""

import json
import math
import re
from dataclasses import asdict
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from ..devices import mixed
from .bag import bag_loss, bag_loss_as_released, bag_weight
from .base import Generator, GoldPhrase, Proposal, Request
from .files import WEIGHTS, save_folder, weights_to_bytes
from .losses import tag_losses, word_losses
from .tags import OUTSIDE, TAGS, read_tags, tag_phrases, whole_words
from .unikeyphrase_network import Source, UniKeyphraseNetwork
from .unikeyphrase_settings import UniKeyphraseSettings
from .unilm_search import Found, Marks, search

SETTINGS = "settings.json"
_NONE = "none"
_JOINED = re.compile(r" ?([-/’']) ?")


class Window(NamedTuple):
    """A part of a document.

    doc (int): Number of the document.
    ids (List[int]): Sub-tokens, without special ones.
    offsets (List[Tuple[int, int]]): Of each its characters.
    """

    doc: int
    ids: List[int]
    offsets: List[Tuple[int, int]]


class UniKeyphrase(Generator):
    """Tags of what is present, words of what is absent.

    network (UniKeyphraseNetwork): The network.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer.
    settings (UniKeyphraseSettings): How it is taught and read.
    """

    def __init__(
        self,
        network: UniKeyphraseNetwork,
        tokenizer: Any,
        settings: UniKeyphraseSettings,
    ) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.settings = settings
        for special in ("cls_token", "sep_token", "pad_token", "mask_token"):
            if getattr(tokenizer, special) is None:
                raise ValueError(f"its tokenizer has no {special}")
        self.cls: int = tokenizer.cls_token_id
        self.sep: int = tokenizer.sep_token_id
        self.pad: int = tokenizer.pad_token_id
        self.mask: int = tokenizer.mask_token_id
        positions = network.encoder.positions
        self.size = min(settings.window, positions) - settings.length - 2
        if self.size < 1:
            raise ValueError(
                f"a window of {min(settings.window, positions)} sub-tokens has no room "
                f"for a document beside {settings.length} that are written"
            )
        self.separator = self._ids(";")
        self.stop = self._ids(".")[-1]
        self.none = self._ids(_NONE)[0]

    def loss(self, request: Request) -> Tensor:
        """The loss of UniKeyphrase (eq. 15) over the first window of each document."""
        if request.gold is None:
            raise ValueError("Without gold keyphrases there is no loss.")
        windows = [next(self._cut(i, text)) for i, text in enumerate(request.texts)]
        windows = [window for window in windows if window.ids]
        if not windows:
            return self.network.tagger.weight.sum() * 0
        gold = [request.gold[window.doc] for window in windows]
        targets = [self._target(phrases) for phrases in gold]
        with mixed(self.device, self.settings.mixed_precision):
            source_ids, source_mask = self._pad_source(windows)
            source = self.network.read(source_ids, source_mask)
            words, real = pad_rows(targets, self.pad, self.device)
            chosen = self._choose(targets, words)
            tag_logits, word_logits = self.network.teach(
                source, self._hide(words, chosen), real
            )
        # Special sub-tokens have no tags.
        tag_logits = tag_logits[:, 1:-1].float()
        word_logits = word_logits.float()
        texts = [request.texts[window.doc] for window in windows]
        tags = self._tags(texts, windows, gold, tag_logits.shape[1])
        tagged = tags >= 0
        weights = [1.0] + [self.settings.tag_weight] * (len(TAGS) - 1)
        losses = tag_losses(tag_logits[tagged], tags[tagged], weights)
        of_tags = losses.sum() / tag_logits.new_tensor(weights)[tags[tagged]].sum()
        of_words = word_losses(
            word_logits[chosen], words[chosen], self.settings.smoothing
        ).mean()
        total: Tensor = of_tags + of_words
        if self.settings.bag != "off":
            weight = bag_weight(
                request.step, self.settings.total_steps, self.settings.bag_weight
            )
            total = total + weight * self._bag_loss(
                source_ids[:, 1:-1], tag_logits, tags, word_logits, words, chosen
            )
        return total

    def _bag_loss(
        self,
        source: Tensor,
        tag_logits: Tensor,
        tags: Tensor,
        word_logits: Tensor,
        words: Tensor,
        chosen: Tensor,
    ) -> Tensor:
        tagged = tags >= 0
        if self.settings.bag == "released":
            errors = bag_loss_as_released(
                source, tag_logits, tags, tagged, word_logits, words, chosen
            )
            return (errors[0] + errors[1]) / 2
        p_tags, predicted = tag_logits.softmax(-1).max(-1)
        p_words = word_logits.softmax(-1)
        losses = []
        for doc in range(len(source)):
            gold = word_logits.new_zeros(word_logits.shape[-1])
            of_gold = torch.cat([source[doc][tags[doc] > 0], words[doc][chosen[doc]]])
            gold.index_add_(0, of_gold, torch.ones_like(of_gold, dtype=gold.dtype))
            inside = tagged[doc] & (predicted[doc] != OUTSIDE)
            losses.append(
                bag_loss(
                    source[doc],
                    p_tags[doc],
                    inside,
                    p_words[doc],
                    chosen[doc],
                    gold,
                )
            )
        return torch.stack(losses).mean()

    @torch.inference_mode()
    def write(self, request: Request) -> List[List[Proposal]]:
        """The present keyphrases, best first, then the absent ones as they are
        written."""
        windows = [
            window
            for i, text in enumerate(request.texts)
            for window in self._cut(i, text)
            if window.ids
        ]
        present: Dict[int, List[Proposal]] = {}
        absent: Dict[int, List[Proposal]] = {}
        marks = Marks(self.mask, self.sep, self.pad, self.stop)
        settings = self.settings
        lengths = [len(window.ids) + settings.length for window in windows]
        for numbers in make_groups(lengths, settings.max_batch_tokens):
            batch = [windows[number] for number in numbers]
            with mixed(self.device, settings.mixed_precision):
                source = self.network.read(*self._pad_source(batch))
                found = search(
                    self.network,
                    source,
                    marks,
                    settings.beams,
                    settings.length,
                    self.none,
                    settings.least_none,
                )
            tagged = self._read_tags(source, batch)
            for number, phrases, written in zip(numbers, tagged, found):
                text = request.texts[windows[number].doc]
                present[number] = [
                    Proposal(text[slice(*whole_words(text, *place))], score)
                    for place, score in phrases
                ]
                absent[number] = list(self._read_words(written))
        proposals: List[List[Proposal]] = [[] for _ in request.texts]
        for found_ones, ranked in ((present, True), (absent, False)):
            of_docs: List[List[Proposal]] = [[] for _ in request.texts]
            for number, window in enumerate(windows):
                of_docs[window.doc].extend(found_ones[number])
            for own, some in zip(proposals, of_docs):
                own.extend(sorted(some, key=lambda p: -p.score) if ranked else some)
        return proposals

    def _read_tags(
        self, source: Source, windows: Sequence[Window]
    ) -> Iterator[List[Tuple[Tuple[int, int], float]]]:
        """The phrases that each window has by its tags: characters, and scores."""
        p, tags = self.network.tagger(source.present).float().softmax(-1).max(-1)
        for window, own_tags, own_p in zip(windows, tags.tolist(), p.tolist()):
            n = len(window.ids)
            yield [
                (
                    (window.offsets[found.start][0], window.offsets[found.end - 1][1]),
                    found.score,
                )
                for found in read_tags(own_tags[1 : n + 1], own_p[1 : n + 1])
            ]

    def _read_words(self, found: Found) -> Iterator[Proposal]:
        """The phrases of a sequence, but for one that there was no room for to the end;
        their scores are geometric means of probabilities."""
        ids, log_p, ended = found
        first, n = 0, len(self.separator)
        for i in range(len(ids) + ended):
            if i < len(ids) and ids[i : i + n] != self.separator:
                continue
            if i > first:
                text = self.tokenizer.decode(ids[first:i], skip_special_tokens=True)
                text = _JOINED.sub(r"\1", text.strip())
                if text and text != _NONE:
                    mean = sum(log_p[first:i]) / (i - first)
                    yield Proposal(text, math.exp(mean))
            first = i + n

    def to_files(self) -> Dict[str, bytes]:
        """The encoder's config and tokenizer, settings, and all weights."""
        relation = {
            "relation_layers": len(self.network.relation.srl),
            "leak_free": self.network.leak_free,
        }
        return {
            **save_folder(self.network.encoder.model.config.save_pretrained),
            **save_folder(self.tokenizer.save_pretrained),
            SETTINGS: json.dumps({**asdict(self.settings), **relation}).encode(),
            WEIGHTS: weights_to_bytes(self.network, self.saved_as),
        }

    def _ids(self, text: str) -> List[int]:
        ids: List[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _cut(self, doc: int, text: str) -> Iterator[Window]:
        """The windows of a document, one at least."""
        found = self.tokenizer(
            text,
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )
        ids, offsets = found["input_ids"], found["offset_mapping"]
        n = max(-(-len(ids) // self.size), 1)
        for i in range(n):
            part = slice(i * len(ids) // n, (i + 1) * len(ids) // n)
            yield Window(doc, ids[part], offsets[part])

    def _target(self, gold: Sequence[GoldPhrase]) -> List[int]:
        """What is to be written of the absent keyphrases; those that there is no room
        for are left out."""
        ids: List[int] = []
        for phrase in gold:
            if not phrase.is_present:
                more = (self.separator if ids else []) + self._ids(phrase.text.lower())
                if len(ids) + len(more) < self.settings.length:
                    ids += more
        return [*(ids or self._ids(_NONE)), self.sep]

    def _tags(
        self,
        texts: Sequence[str],
        windows: Sequence[Window],
        gold: Sequence[Sequence[GoldPhrase]],
        length: int,
    ) -> Tensor:
        """The tags of windows, -1 where there is no text; int of shape (windows,
        length)."""
        rows = []
        for text, window, phrases in zip(texts, windows, gold):
            mentions = [mention for phrase in phrases for mention in phrase.offsets]
            tags = tag_phrases(text, window.offsets, mentions)
            rows.append(tags + [-1] * (length - len(tags)))
        return torch.tensor(rows, device=self.device)

    def _choose(self, targets: Sequence[List[int]], words: Tensor) -> Tensor:
        """Which of what is written is predicted, bool of the shape of words."""
        chosen = torch.zeros_like(words, dtype=torch.bool)
        for row, target in enumerate(targets):
            n = max(1, round(self.settings.masked * len(target)))
            chosen[row, torch.randperm(len(target))[:n]] = True
        return chosen

    def _hide(self, words: Tensor, chosen: Tensor) -> Tensor:
        """Four of five words that are predicted are masked, one of ten is another."""
        draw = torch.rand(words.shape).to(words.device)
        others = torch.randint(len(self.tokenizer), words.shape).to(words.device)
        hidden = words.masked_fill(chosen & (draw < 0.8), self.mask)
        return others.where(chosen & (draw >= 0.9), hidden)

    def _pad_source(self, windows: Sequence[Window]) -> Tuple[Tensor, Tensor]:
        rows = [[self.cls, *window.ids, self.sep] for window in windows]
        return pad_rows(rows, self.pad, self.device)
