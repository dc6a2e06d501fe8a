"""Slots on pretrained decoders: a slot alone is the decoder of transformers."""

import numpy
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from spacy_keyphrase.generation.pretrained_slots import make_slot_decoder  # noqa: E402
from spacy_keyphrase.generation.set_model import Packed, Past  # noqa: E402


def make(kind):
    torch.manual_seed(0)
    if kind == "bart":
        config = transformers.BartConfig(
            vocab_size=30,
            d_model=24,
            encoder_layers=1,
            decoder_layers=2,
            encoder_attention_heads=3,
            decoder_attention_heads=3,
            encoder_ffn_dim=30,
            decoder_ffn_dim=30,
            max_position_embeddings=40,
            scale_embedding=True,
            init_std=0.3,
        )
        return transformers.BartForConditionalGeneration(config).eval()
    prefix = {"mt5": "MT5", "umt5": "UMT5"}.get(kind, "T5")
    config = getattr(transformers, f"{prefix}Config")(
        vocab_size=30,
        d_model=24,
        d_kv=8,
        d_ff=30,
        num_layers=2,
        num_heads=3,
        decoder_start_token_id=0,
        tie_word_embeddings=kind in ("t5", "umt5"),
        feed_forward_proj="relu" if kind == "t5" else "gated-gelu",
    )
    model = getattr(transformers, f"{prefix}ForConditionalGeneration")(config).eval()
    for name, values in model.named_parameters():
        # Else attention is about the same everywhere.
        if "relative_attention_bias" in name or name.endswith(("q.weight", "k.weight")):
            torch.nn.init.normal_(values, std=0.5)
    return model


@pytest.mark.parametrize("kind", ["t5", "flan-t5", "mt5", "umt5", "bart"])
def test_slots_are_decoders(kind):
    """Packed, and word by word, each slot has the logits that transformers gives to
    its words; documents of unlike length."""
    model = make(kind)
    ids = torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    words = torch.randint(3, 30, (2, 3, 4))
    decoder = make_slot_decoder(model).eval()
    with torch.inference_mode():
        states = model.get_encoder()(input_ids=ids, attention_mask=mask)
        expected = torch.stack(
            [
                model(
                    encoder_outputs=states,
                    attention_mask=mask,
                    decoder_input_ids=words[:, slot],
                ).logits
                for slot in range(3)
            ],
            dim=1,
        )
        seen = decoder.look_at(states.last_hidden_state)
        slots = torch.arange(3).repeat_interleave(4).expand(2, -1)
        steps = torch.arange(4).repeat(3).expand(2, -1)
        embed = decoder.embed
        args = (seen, mask > 0)
        packed = decoder.read(
            embed(words.flatten(1)), steps, *args, Packed(slots, steps)
        )
        past = Past()
        one_by_one = [
            decoder.read(embed(words[..., i]), torch.full((3,), i), *args, past)
            for i in range(4)
        ]
    numpy.testing.assert_allclose(packed.view(2, 3, 4, -1), expected, atol=1e-4)
    numpy.testing.assert_allclose(torch.stack(one_by_one, 2), expected, atol=1e-4)


def test_other_models():
    with pytest.raises(ValueError, match="it is a pegasus; slots are known for bart"):
        config = transformers.PegasusConfig(
            vocab_size=30, d_model=16, encoder_layers=1, decoder_layers=1
        )
        make_slot_decoder(transformers.PegasusForConditionalGeneration(config))
