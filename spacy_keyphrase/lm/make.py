"""Which class a language model has here."""

from .causal import Causal
from .causal_sentences import CausalSentences
from .load import SEQ2SEQ, Loaded
from .sentence_model import SentenceModel
from .seq2seq import Seq2Seq
from .seq2seq_sentences import Seq2SeqSentences


def make_sentence_model(loaded: Loaded) -> SentenceModel:
    """The class for a model.

    loaded (Loaded): A generator, of the T5 family or decoder-only.
    """
    if loaded.model.config.model_type in SEQ2SEQ:
        return Seq2SeqSentences(Seq2Seq(loaded.model))
    return CausalSentences(Causal(loaded.model))
