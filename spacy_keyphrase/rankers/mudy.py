"""MUDY: how probable each mention of a candidate is as what a document talks about, by
a language model that looks at where it stands."""

from typing import Any, Dict, Optional

from ..registry import registry
from .base import Ranker
from .prompt_ranker import (
    Attended,
    Blocks,
    Drawn,
    Preset,
    PromptRanker,
    Variant,
)

# Gamma and lambda of the paper: for the T5 family, and for decoder-only models.
PRESETS: Dict[str, Preset] = {
    "default": ((0.1, 0.9), (0.1, 0.9)),
    "semeval2017": ((0.1, 0.1), (0.1, 0.1)),
    "duc2001": ((0.1, 0.9), (0.4, 0.7)),
    "nus": ((1.0, 0.1), (0.8, 0.7)),
    "wikihow": ((0.7, 1.0), (0.1, 1.0)),
}


@registry.keyphrase_rankers("spacy_keyphrase.MUDY.v1")
def make_mudy(
    model: str,
    preset: str = "default",
    gamma: Optional[float] = None,
    attention_weight: Optional[float] = None,
    weighting: Drawn = "full",
    attention: Attended = "both",
    attention_layer: Optional[int] = None,
    blocks: Optional[Blocks] = None,
    variant: Variant = "default",
    after_softmax: bool = False,
    encoder: Optional[str] = None,
    template: Optional[str] = None,
    lower: bool = True,
    max_length: Optional[int] = None,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Score every mention of a candidate by how probable a language model finds it as
    what the document talks about, with the model's attention drawn to where the mention
    stands, and by the self-attention that the mention receives in the document and in
    its own sentences ("MUDY", SIGIR 2026).

    model (str): A local folder, or a name on the Hugging Face hub; of the T5 family, as
        "google-t5/t5-base", or decoder-only, as "google/gemma-2-9b".
    preset (str): Where `gamma` and `attention_weight` come from: "default", or the
        values of the paper for "semeval2017", "duc2001", "nus" or "wikihow".
    gamma (Optional[float]): What each layer adds to the width of the Gaussian around a
        mention (eq. 2).
    attention_weight (Optional[float]): Lambda of eq. 12.
    weighting (str): How attention is drawn (eq. 2 to 8): "full"; "aligned", without the
        similar mentions of eq. 3 and 4; "mixture", without the alignment of eq. 5 and
        6; "gaussian", with eq. 2 alone; "none".
    attention (str): Which self-attention counts (eq. 9 to 11): "both", "global",
        "local" or "none".
    attention_layer (Optional[int]): Whose self-attention, from 0; by default 9 of 12
        (T5) or 23 of 42 (decoder-only), or what is at the same height.
    blocks (Optional[str]): How the attention within sentences and their neighbours is
        found: "alone", they are read again by themselves, and so is the document
        without the prompt, as in the paper; "within", it is a part of the attention in
        the one pass over the document, which costs no further one. By default "within"
        in the default variant.
    variant (str): "paper" as in its equations, "reference" as in the published code,
        which cuts documents at `max_length`; the "default" takes the better of the two
        in each respect, and cuts nothing.
    after_softmax (bool): For decoder-only models, whether attention is weighted after
        the softmax, as in the published code, or before it (eq. 8).
    encoder (Optional[str]): For decoder-only models, the model whose states tell which
        mentions are similar; the paper has T5. Without one that is left out.
    template (Optional[str]): The sentence, with ``{}`` for the candidate, instead of
        the papers'.
    lower (bool): Whether all is read in lower case, as in the paper.
    max_length (Optional[int]): Sub-tokens that are read at once, by default 512 (T5) or
        782. Longer documents are read in windows that overlap by half.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are 1 / (1 - s), with s < 0 of eq. 12; that of a
        phrase is that of its best mention.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {preset!r}.")
    _check("weighting", weighting, Drawn)
    _check("attention", attention, Attended)
    _check("variant", variant, Variant)
    if blocks is not None:
        _check("blocks", blocks, Blocks)
    return PromptRanker(
        model,
        preset=PRESETS[preset],
        gamma=gamma,
        attention_weight=attention_weight,
        weighting=weighting,
        attention=attention,
        attention_layer=attention_layer,
        blocks=blocks or ("within" if variant == "default" else "alone"),
        variant=variant,
        after_softmax=after_softmax,
        encoder=encoder,
        template=template,
        lower=lower,
        max_length=max_length,
        position_factor=None,
        device=device,
        dtype=dtype,
        max_batch_tokens=max_batch_tokens,
        trust_remote_code=trust_remote_code,
    )


def _check(name: str, value: str, allowed: Any) -> None:
    if value not in allowed.__args__:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed.__args__)}, not {value!r}."
        )
