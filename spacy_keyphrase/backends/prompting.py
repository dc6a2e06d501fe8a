"""Questions as the sub-tokens of a language model that runs here."""

from typing import Any, List, NamedTuple, Optional, Tuple

from ..selectors.questions import BEFORE, Labels, Question

# What is put where a conversation has what we say.
_SYSTEM, _USER = "KPSYSTEMKP", "KPUSERKP"
_CUE = "\n\nLabels:"


class Laid(NamedTuple):
    """A question as sub-tokens.

    prompt (List[int]): What is read first.
    leads (List[List[int]]): What goes on from there before each label.
    n_cut (int): Sub-tokens of the document that there was no room for.
    """

    prompt: List[int]
    leads: List[List[int]]
    n_cut: int = 0

    @property
    def length(self) -> int:
        """Sub-tokens of all, labels included."""
        return len(self.prompt) + sum(len(lead) + 1 for lead in self.leads)


class NoRoom(ValueError):
    """The candidates alone are longer than a model can read."""


class Prompter:
    """Makes sub-tokens of questions. Nothing in a document or a candidate becomes a
    special sub-token, such as the end of a turn.

    tokenizer (PreTrainedTokenizerFast): The tokenizer. Models that were trained on
        conversations have a template for them, which is used.
    window (int): Sub-tokens that can be read, labels included.
    """

    def __init__(self, tokenizer: Any, window: int) -> None:
        self.tokenizer = tokenizer
        self.window = window
        added = tokenizer.added_tokens_decoder
        self.special = set(tokenizer.all_special_ids)
        self.special.update(i for i, token in added.items() if token.special)
        self.turns = self._find_turns()
        # Whatever a template marks turns with.
        for part in self.turns or ():
            self.special.update(set(part) & set(added))
        mark, self.labels = self._find_labels()
        self.mark = mark

    def lay_out(self, question: Question) -> Laid:
        """The sub-tokens of a question, the document cut to the room there is.

        RAISES: NoRoom where there is none.
        """
        form = question.form
        leads: List[List[int]] = []
        if isinstance(form, Labels):
            listed = question.listed and not form.independent
            after = question.after(listed) + _CUE
            leads = [self.ids(lead) + self.mark for lead in form.leads]
        else:
            after = f"{question.after()}\n\n{form.request}"
        text = self.ids(question.text)
        if self.turns is None:
            start = self._start()
            head = start + self.ids(f"{question.instruction}\n\n{BEFORE}")
            tail = self.ids(after if leads else f"{after}\n")
        else:
            first, between, last = self.turns
            told = self.ids(question.instruction)
            head = (first + told + between if between else first) + self.ids(
                BEFORE if between else f"{question.instruction}\n\n{BEFORE}"
            )
            tail = self.ids(after) + last
        labels = sum(len(lead) + 1 for lead in leads)
        room = self.window - len(head) - len(tail) - labels
        if room < 1:
            raise NoRoom(
                f"{len(question.candidates)} candidates leave no room for the document "
                f"in a window of {self.window} sub-tokens: set max_candidates"
            )
        n_cut = max(len(text) - room, 0)
        return Laid(head + text[:room] + tail, leads, n_cut)

    def ids(self, text: str) -> List[int]:
        """The sub-tokens of a text, special ones left out."""
        found = self.tokenizer(text, add_special_tokens=False, verbose=False)
        return [token for token in found["input_ids"] if token not in self.special]

    def _start(self) -> List[int]:
        """What a text begins with."""
        probe = self.tokenizer("a", return_special_tokens_mask=True)
        mask = probe["special_tokens_mask"]
        n = mask.index(0) if 0 in mask else 0
        start: List[int] = probe["input_ids"][:n]
        return start

    def _find_turns(self) -> Optional[Tuple[List[int], List[int], List[int]]]:
        """What the template of a conversation has before, between and after what we
        say; nothing between, where it knows no system messages."""
        if not getattr(self.tokenizer, "chat_template", None):
            return None
        user = {"role": "user", "content": _USER}
        try:
            text = self._render([{"role": "system", "content": _SYSTEM}, user])
            first, _, rest = text.partition(_SYSTEM)
        except Exception:
            text, first, rest = self._render([user]), "", ""
        if _USER not in rest:
            text = self._render([user])
            first, _, last = text.partition(_USER)
            return self._raw(first), [], self._raw(last)
        between, _, last = rest.partition(_USER)
        return self._raw(first), self._raw(between), self._raw(last)

    def _render(self, turns: List[Any]) -> str:
        text: str = self.tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True
        )
        return text

    def _raw(self, text: str) -> List[int]:
        """With special sub-tokens, which a template has."""
        ids: List[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _find_labels(self) -> Tuple[List[int], Tuple[int, int]]:
        """The sub-tokens of T and F, and what stands before either."""
        true, false = self.ids(" T"), self.ids(" F")
        mark: List[int] = []
        while true and false and true[0] == false[0]:
            mark.append(true.pop(0))
            false.pop(0)
        if not true or not false:
            raise ValueError("its tokenizer cannot tell T from F")
        return mark, (true[0], false[0])
