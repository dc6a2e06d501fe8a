"""A model behind a chat interface: many questions at a time, answers that are checked,
kept, and counted."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence

from ..selectors.questions import Answer, Failed, Malformed, Message, Question
from ..selectors.replies import read_reply
from .cache import DiskCache
from .usage import Usage

# Raised when what is asked of a model is changed, so that old answers are not used.
_VERSION = 1


@dataclass(frozen=True)
class Reply:
    """What a model wrote.

    text (str): The words.
    input_tokens, output_tokens (int): As the server counts them; 0 where it does not.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class ChatError(Exception):
    """A call failed in the end; the next may not."""


class ChatClient(Protocol):
    """How a server is talked to. Calls come from several threads."""

    def describe(self) -> Dict[str, Any]:
        """What an answer depends on but for the question, as JSON-able data: the model
        and its settings, no keys."""

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Reply:
        """The model's next turn.

        messages (Sequence[Message]): The conversation.
        schema (Mapping[str, Any]): JSON schema of the answer, for servers that keep
            to one.
        RAISES: ChatError where there is none after retries. Other errors mean that no
            call can succeed.
        """

    def close(self) -> None:
        """Close connections; the next call opens new ones."""


@dataclass
class ChatModel:
    """Asks a server.

    client (ChatClient): The server.
    workers (int): How many calls are under way at a time.
    attempts (int): How often a question is asked whose answers cannot be used.
    cache (Optional[DiskCache]): Where answers are kept.
    prices (Mapping[str, float]): Of a million "input" and "output" tokens.
    show (Optional[Callable[[str], None]]): If given no call is made: it is given each
        prompt.
    usage (Usage): What it has cost so far.
    """

    client: ChatClient
    workers: int = 8
    attempts: int = 2
    cache: Optional[DiskCache] = None
    prices: Mapping[str, float] = field(default_factory=dict)
    show: Optional[Callable[[str], None]] = None
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        if self.workers < 1 or self.attempts < 1:
            raise ValueError(
                f"workers is {self.workers}, attempts {self.attempts}; both must be 1 "
                "or more."
            )

    def answer(self, questions: Sequence[Question]) -> List[Answer]:
        """The answers to questions, in their order.

        questions (Sequence[Question]): One for each document.
        RETURNS (List[Answer]): `Failed` where there is none that can be used.
        """
        if self.workers == 1 or len(questions) < 2 or self.show is not None:
            return [self._answer(question) for question in questions]
        with ThreadPoolExecutor(min(self.workers, len(questions))) as pool:
            futures = [pool.submit(self._answer, question) for question in questions]
            try:
                return [future.result() for future in futures]
            finally:
                # Where one has raised the others would for the same reason.
                for future in futures:
                    future.cancel()

    def _answer(self, question: Question) -> Answer:
        messages = question.messages
        if self.show is not None:
            self.show("\n\n".join(f"[{role}]\n{text}" for role, text in messages))
            return Failed("it was a dry run")
        self.usage.add(questions=1)
        key = {
            "version": _VERSION,
            "client": self.client.describe(),
            "messages": [list(message) for message in messages],
            "schema": question.form.schema,
        }
        known = None if self.cache is None else self.cache.get(key)
        if known is not None:
            try:
                answer = read_reply(known, question.form)
            except Malformed:
                pass
            else:
                self.usage.add(cached=1)
                return answer
        reason = ""
        for _ in range(self.attempts):
            try:
                reply = self._call(question, messages)
                answer = read_reply(reply, question.form)
            except Malformed as error:
                self.usage.add(malformed=1)
                reason = str(error)
            except ChatError as error:
                reason = str(error)
                # The client has tried again itself.
                break
            else:
                if self.cache is not None:
                    self.cache.set(key, reply)
                return answer
        self.usage.add(failed=1)
        return Failed(reason)

    def _call(self, question: Question, messages: Sequence[Message]) -> str:
        reply = self.client.complete(messages, question.form.schema)
        cost = (
            self.prices.get("input", 0.0) * reply.input_tokens
            + self.prices.get("output", 0.0) * reply.output_tokens
        )
        self.usage.add(
            calls=1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost=cost / 1_000_000,
        )
        return reply.text
