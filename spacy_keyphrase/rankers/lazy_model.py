"""A language model that is loaded when it is used first."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, Optional

if TYPE_CHECKING:
    from ..lm.load import Kind, Loaded

DTYPES = ("float32", "bfloat16", "float16")


class LazyModel:
    """A language model that is loaded when it is used first, in each process again.

    name (str): A local folder, or a name on the Hugging Face hub.
    kind (str): "generator" for one that gives probabilities of words, "encoder" for
        one whose states are looked at, "attention" where its attention is, too.
    device (Optional[str]): Such as "cuda:0"; None for a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    trust_remote_code (bool): Whether to run code that comes with the model.
    """

    def __init__(
        self,
        name: str,
        kind: "Kind",
        *,
        device: Optional[str] = None,
        dtype: str = "float32",
        trust_remote_code: bool = False,
    ) -> None:
        if dtype not in DTYPES:
            raise ValueError(
                f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}."
            )
        self.name = name
        self.kind: Kind = kind
        self.device = device
        self.dtype = dtype
        self.trust_remote_code = trust_remote_code
        self._loaded: Optional[Loaded] = None

    def get(self) -> "Loaded":
        """The model and its tokenizer.

        RAISES: ImportError without PyTorch and transformers; ValueError where there is
            no such model, or none that can be used.
        """
        if self._loaded is None:
            try:
                for name in ("torch", "transformers"):
                    import_module(name)
            except ImportError as error:
                raise ImportError(
                    f"The language model {self.name!r} needs PyTorch and Hugging Face "
                    "transformers: pip install 'spacy-keyphrase[lm]'"
                ) from error
            from ..lm.load import ModelSource, load

            source = ModelSource(
                self.name, self.device, self.dtype, self.trust_remote_code
            )
            self._loaded = load(source, self.kind)
        return self._loaded

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_loaded": None}


def check_batch(max_batch_tokens: int) -> int:
    """The same number, if it is one of sub-tokens."""
    if max_batch_tokens < 1:
        raise ValueError(f"max_batch_tokens must be 1 or more, not {max_batch_tokens}.")
    return max_batch_tokens
