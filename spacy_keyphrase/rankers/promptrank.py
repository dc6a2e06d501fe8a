"""PromptRank: how probable a candidate is as what a document talks about, by a language
model."""

from typing import Optional

from ..registry import registry
from .base import Ranker
from .mudy import PRESETS
from .prompt_ranker import PromptRanker


@registry.keyphrase_rankers("spacy_keyphrase.PromptRank.v1")
def make_promptrank(
    model: str,
    position_factor: Optional[float] = 1.2e8,
    reference: bool = False,
    template: Optional[str] = None,
    lower: bool = True,
    max_length: Optional[int] = None,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by how probable a language model finds a candidate as what the document
    talks about, times a factor of where it stands (Kong et al. 2023, "PromptRank").

    model (str): A local folder, or a name on the Hugging Face hub; of the T5 family, as
        "google-t5/t5-base", or decoder-only.
    position_factor (Optional[float]): Beta: scores are multiplied by
        ``position / length + beta / length ** 3``, with the position in tokens and the
        length in words, in units of what it is at the beginning; None to leave that
        out.
    reference (bool): Whether documents are cut at `max_length`, as in the published
        code.
    template (Optional[str]): The sentence, with ``{}`` for the candidate, instead of
        the paper's.
    lower (bool): Whether all is read in lower case, as in the paper.
    max_length (Optional[int]): Sub-tokens that are read at once, by default 512 (T5) or
        782. Longer documents are read in windows that overlap by half.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are 1 / (1 - s), with s < 0 of the paper; that of a
        phrase is that of its best mention.
    """
    return PromptRanker(
        model,
        preset=PRESETS["default"],
        gamma=None,
        attention_weight=None,
        weighting="none",
        attention="none",
        attention_layer=None,
        blocks="within",
        variant="reference" if reference else "default",
        after_softmax=False,
        encoder=None,
        template=template,
        lower=lower,
        max_length=max_length,
        position_factor=position_factor,
        device=device,
        dtype=dtype,
        max_batch_tokens=max_batch_tokens,
        trust_remote_code=trust_remote_code,
    )
