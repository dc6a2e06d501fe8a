"""Models behind chat interfaces as models of thinc, which have no weights here."""

from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from spacy.util import registry
from thinc.api import Model

from ..backends.cache import DiskCache
from ..backends.chat import ChatClient, ChatModel
from ..backends.haystack_client import HaystackClient
from ..backends.openai_client import OpenAIClient
from ..selectors.questions import Answer, Asked

# From `Asked` to answers; in training the output is a loss, of shape (1,).
SelectorModel = Model[Asked, Any]
NAME = "spacy_keyphrase.ChatLM.v1"
HAYSTACK = "spacy_keyphrase.HaystackChatLM.v1"


@registry.architectures(NAME)  # type: ignore[untyped-decorator]
def build_chat(
    name: str,
    base_url: Optional[str] = None,
    key_variable: str = "OPENAI_API_KEY",
    temperature: Optional[float] = 0.0,
    options: Optional[Dict[str, Any]] = None,
    structured: bool = True,
    timeout: float = 60.0,
    retries: int = 5,
    attempts: int = 2,
    workers: int = 8,
    cache: Optional[str] = None,
    prices: Optional[Dict[str, float]] = None,
    dry_run: bool = False,
) -> SelectorModel:
    """A model behind any server that speaks OpenAI's language: OpenAI itself, vLLM,
    Ollama, llama.cpp … What it answers is checked; what is not of the form that was
    asked for is asked for again, and then counts as failed.

    name (str): Name of the model on the server.
    base_url (Optional[str]): Where the server is, "http://localhost:11434/v1" for
        example; by default the environment variable OPENAI_BASE_URL, or OpenAI's own.
    key_variable (str): Environment variable that holds the key. It is never saved.
    temperature (Optional[float]): 0 for the likeliest answers; None for models that
        have no such setting.
    options (Optional[Dict[str, Any]]): Further settings of a call, such as seed or
        max_tokens.
    structured (bool): Whether to ask the server for JSON by a schema, where it can.
    timeout (float): Seconds that an answer may take.
    retries (int): How often a call that failed is tried again, with growing delays and
        jitter, or when the server says.
    attempts (int): How often a question is asked whose answer cannot be used.
    workers (int): How many calls are under way at a time.
    cache (Optional[str]): Folder in which answers are kept, so that a run that was
        stopped goes on where it was. None keeps none.
    prices (Optional[Dict[str, float]]): Of a million "input" and "output" tokens, for
        the cost in the model's `usage`.
    dry_run (bool): Print the prompts, and call nobody.
    RAISES: ImportError without the package `openai`; ValueError at settings that are
        out of range.
    """
    try:
        import_module("openai")
    except ImportError as error:
        raise ImportError(
            f'{NAME} needs openai: pip install "spacy-keyphrase[chat]" ({error})'
        ) from error
    settings = dict(options or {})
    if temperature is not None:
        settings.setdefault("temperature", temperature)
    client = OpenAIClient(
        name, base_url, key_variable, timeout, retries, structured, settings
    )
    return wrap_chat(client, attempts, workers, cache, prices, dry_run)


@registry.architectures(HAYSTACK)  # type: ignore[untyped-decorator]
def build_haystack_chat(
    generator: Dict[str, Any],
    structured: bool = False,
    attempts: int = 2,
    workers: int = 8,
    cache: Optional[str] = None,
    prices: Optional[Dict[str, float]] = None,
    dry_run: bool = False,
) -> SelectorModel:
    """A model behind any chat generator of Haystack. It tries again itself what can be
    tried again, as it was made to.

    generator (Dict[str, Any]): What its `to_dict` returns: "type" and
        "init_parameters".
    structured (bool): Whether to pass it a JSON schema as `response_format`, which
        those of OpenAI's kind understand.

    For the other settings see `build_chat`.
    RAISES: ImportError without the package `haystack-ai`; ValueError at settings that
        are out of range.
    """
    try:
        import_module("haystack")
    except ImportError as error:
        raise ImportError(
            f'{HAYSTACK} needs haystack: pip install "spacy-keyphrase[haystack]" '
            f"({error})"
        ) from error
    client = HaystackClient(generator, structured)
    return wrap_chat(client, attempts, workers, cache, prices, dry_run)


def wrap_chat(
    client: ChatClient,
    attempts: int = 2,
    workers: int = 8,
    cache: Optional[str] = None,
    prices: Optional[Dict[str, float]] = None,
    dry_run: bool = False,
) -> SelectorModel:
    """A client as a model; settings are those of `build_chat`."""
    kept = DiskCache(Path(cache)) if cache else None
    show = print if dry_run else None
    chat = ChatModel(client, workers, attempts, kept, prices or {}, show)
    return Model("chat", _forward, attrs={"chat": chat, "asks": True})


def _forward(
    model: SelectorModel, request: Asked, is_train: bool
) -> Tuple[List[Answer], Callable[[Any], Asked]]:
    if is_train:
        raise ValueError("A model behind a chat interface cannot be trained.")
    chat: ChatModel = model.attrs["chat"]
    return chat.answer(request.questions), lambda _: request
