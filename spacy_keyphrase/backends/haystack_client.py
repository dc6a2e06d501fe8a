"""Any chat generator of Haystack as a client."""

from importlib import import_module
from threading import Lock
from typing import Any, Dict, Mapping, Sequence, Union

from ..selectors.questions import Message
from .chat import ChatError, Reply


class HaystackClient:
    """Talks to a model through a chat generator of Haystack: OpenAI, Azure, Ollama,
    Bedrock, Mistral …

    generator (Union[ChatGenerator, Mapping[str, Any]]): The generator, or what its
        `to_dict` returns: "type" and "init_parameters". Keys are secrets of Haystack,
        which names environment variables.
    structured (bool): Whether to pass it a JSON schema as `response_format`, which
        those of OpenAI's kind understand.
    """

    def __init__(
        self, generator: Union[Any, Mapping[str, Any]], structured: bool = False
    ) -> None:
        self.structured = structured
        if isinstance(generator, Mapping):
            if "type" not in generator:
                raise ValueError(
                    "A chat generator is given as its `to_dict` has it, with a `type` "
                    "such as haystack.components.generators.chat.openai."
                    "OpenAIChatGenerator and `init_parameters`."
                )
            self._data: Dict[str, Any] = {"init_parameters": {}, **generator}
            self._generator: Any = None
        else:
            serialization: Any = import_module("haystack.core.serialization")
            self._data = serialization.component_to_dict(generator, "chat_generator")
            self._generator = generator
        self._is_warm = False
        self._lock: Any = Lock()

    def describe(self) -> Dict[str, Any]:
        """The generator and its settings."""
        return {"generator": self._data, "structured": self.structured}

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Reply:
        """The model's next turn; see `ChatClient`."""
        chat: Any = import_module("haystack.dataclasses").ChatMessage
        make = {"system": chat.from_system, "user": chat.from_user}
        options: Dict[str, Any] = {}
        if self.structured:
            named = {"name": "answer", "strict": True, "schema": dict(schema)}
            options["generation_kwargs"] = {
                "response_format": {"type": "json_schema", "json_schema": named}
            }
        generator = self._make()
        try:
            result = generator.run(
                messages=[make[role](text) for role, text in messages], **options
            )
        except Exception as error:
            kind = type(error).__name__
            raise ChatError(f"the call failed ({kind}): {error}") from error
        replies = result.get("replies") or []
        usage = (replies[0].meta or {}).get("usage") if replies else None
        counts: Any = usage if isinstance(usage, Mapping) else {}
        return Reply(
            (replies[0].text or "") if replies else "",
            int(counts.get("prompt_tokens") or 0),
            int(counts.get("completion_tokens") or 0),
        )

    def _make(self) -> Any:
        with self._lock:
            if self._generator is None:
                serialization: Any = import_module("haystack.core.serialization")
                kind = serialization.import_class_by_name(self._data["type"])
                self._generator = serialization.component_from_dict(
                    kind, self._data, "chat_generator"
                )
            # Left to its first calls, which come from several threads at once, each
            # would open connections of its own, and all but the last would stay open.
            if not self._is_warm and hasattr(self._generator, "warm_up"):
                self._generator.warm_up()
            self._is_warm = True
            return self._generator

    def close(self) -> None:
        """Close connections, where the generator can; the next call opens new ones."""
        with self._lock:
            if hasattr(self._generator, "close"):
                self._generator.close()
            self._generator, self._is_warm = None, False

    def __getstate__(self) -> Dict[str, Any]:
        # Connections stay in their process.
        return {**self.__dict__, "_generator": None, "_is_warm": False, "_lock": None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())
