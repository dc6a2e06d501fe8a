"""Servers that speak OpenAI's language: its own, vLLM, Ollama, llama.cpp and many
others."""

import os
from dataclasses import dataclass, field
from importlib import import_module
from threading import Lock
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..selectors.questions import Message
from .chat import ChatError, Reply

# How an answer is made to keep to a schema, the strictest way first.
_FORMATS = ("schema", "object", "none")


@dataclass
class OpenAIClient:
    """A client of the `openai` package, which tries again after time-outs, cut
    connections, 408, 409, 429 and 5xx: with growing delays and jitter, or when the
    server says (Retry-After).

    model (str): Name of the model.
    base_url (Optional[str]): Where the server is; by default OPENAI_BASE_URL, or
        OpenAI's own.
    key_variable (str): Environment variable that holds the key; a server at a
        `base_url` may need none.
    timeout (float): Seconds that an answer may take.
    retries (int): How often a call is tried again.
    structured (bool): Whether to ask the server for JSON by a schema; where it knows
        none, for JSON, and then for nothing.
    options (Mapping[str, Any]): Further settings of a call: temperature, seed,
        max_tokens …
    """

    model: str
    base_url: Optional[str] = None
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    retries: int = 5
    structured: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    _client: Any = field(default=None, init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False, compare=False)
    _format: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("The chat model has no name: set `name` in the config.")
        if self.timeout <= 0 or self.retries < 0:
            raise ValueError(
                f"timeout is {self.timeout}, retries {self.retries}; a time-out is "
                "above 0, retries are 0 or more."
            )
        if not self.structured:
            self._format = len(_FORMATS) - 1

    def describe(self) -> Dict[str, Any]:
        """The model and its settings."""
        return {
            "model": self.model,
            "base_url": self.base_url or os.environ.get("OPENAI_BASE_URL", ""),
            "structured": self.structured,
            "options": dict(self.options),
        }

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Reply:
        """The model's next turn; see `ChatClient`."""
        openai: Any = import_module("openai")
        client = self._connect()
        turns = [{"role": role, "content": content} for role, content in messages]
        while True:
            tried = self._format
            try:
                reply = client.chat.completions.create(
                    model=self.model,
                    messages=turns,
                    **_response_format(_FORMATS[tried], schema),
                    **self.options,
                )
            except (
                openai.AuthenticationError,
                openai.PermissionDeniedError,
                openai.NotFoundError,
            ) as error:
                raise ValueError(
                    f"The server does not let us use the model {self.model!r}: "
                    f"{error}. The key is read from {self.key_variable}."
                ) from error
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if tried + 1 == len(_FORMATS):
                    raise ChatError(f"the server refused the call: {error}") from error
                # Perhaps it was the form of the answer.
                self._format = max(self._format, tried + 1)
            except openai.OpenAIError as error:
                kind = type(error).__name__
                raise ChatError(f"the call failed ({kind}): {error}") from error
            else:
                return _read(reply)

    def _connect(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> Any:
        openai: Any = import_module("openai")
        key = os.environ.get(self.key_variable)
        base_url = self.base_url or os.environ.get("OPENAI_BASE_URL")
        if not key and base_url is None:
            raise ValueError(
                f"There is no key for {self.model!r}: set the environment variable "
                f"{self.key_variable}, or the `base_url` of a server that needs none."
            )
        return openai.OpenAI(
            api_key=key or "none",
            base_url=base_url,
            timeout=self.timeout,
            max_retries=self.retries,
        )

    def close(self) -> None:
        """Close connections; the next call opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def __getstate__(self) -> Dict[str, Any]:
        # Connections and keys stay in their process.
        return {**self.__dict__, "_client": None, "_lock": None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


def _response_format(kind: str, schema: Mapping[str, Any]) -> Dict[str, Any]:
    if kind == "schema":
        named = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if kind == "object":
        return {"response_format": {"type": "json_object"}}
    return {}


def _read(reply: Any) -> Reply:
    choices: List[Any] = getattr(reply, "choices", None) or []
    message = choices[0].message if choices else None
    text = getattr(message, "content", None) or getattr(message, "refusal", None) or ""
    usage = getattr(reply, "usage", None)
    return Reply(
        text,
        getattr(usage, "prompt_tokens", None) or 0,
        getattr(usage, "completion_tokens", None) or 0,
    )
