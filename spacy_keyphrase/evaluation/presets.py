"""Named evaluation conventions: every choice that moves a published number."""

from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal, Mapping, Tuple, Union, get_args, get_type_hints

Words = Literal["words", "tokens"]
Presence = Literal["words", "substring"]
Dedup = Literal["form", "surface", "none"]
Cut = Literal["unique", "rows"]
Denominator = Literal["hard", "soft", "rows"]
Average = Literal["macro_f1", "macro_pr", "micro"]
ZeroGold = Literal["include", "skip"]
Ideal = Literal["gold", "hits"]

# What the generation evaluators call an invalid prediction.
INVALID_TOKENS = ("<unk>", ",", ".")


@dataclass(frozen=True)
class Preset:
    """One evaluation convention. Change a field with ``dataclasses.replace``.

    name (str): Name under which scores are reported.
    words (str): "words" are runs of letters and digits, punctuation dropped, so
        that a hyphen does not matter; "tokens" are split at white space only.
    stem (bool): Compare stems; otherwise lower-cased words.
    presence (str): A phrase is present if its "words" occur in a row in the
        source, or if it is any "substring" of it.
    dedup (str): Predictions that count once: equal in "form" (after stemming),
        equal in lower-cased "surface", or "none".
    dedup_gold (bool): Gold keyphrases of one form count once.
    invalid (Tuple[str, ...]): A prediction with one of these words is dropped.
    one_word (bool): Keep only the first prediction of a single word.
    empty_line (bool): No predictions count as one empty phrase, as in scripts
        that split an empty line.
    cut (str): The first k predictions are the first k "unique" ones, or the
        unique ones among the first k "rows".
    denominator (str): What P@k divides by: "hard" k, "soft" the number of
        predictions up to k, or "rows", as soft but before deduplication.
    pad_empty (bool): A document without predictions adds k to a hard micro
        denominator, and not 0.
    average (str): F1 of a corpus: "macro_f1" is the mean of the documents' F1,
        "macro_pr" the harmonic mean of mean P and mean R, "micro" comes from
        the counts of all documents together.
    zero_gold (str): Documents without gold of a kind (all, present, absent):
        "include" them with score 0, or "skip" them for that kind.
    ideal (str): NDCG divides by the DCG of a ranking that starts with all the
        "gold", or with all the "hits" of the system itself.
    alpha_ndcg (bool): Also compute alpha-NDCG, which is slow.
    """

    name: str
    words: Words = "words"
    stem: bool = True
    presence: Presence = "words"
    dedup: Dedup = "form"
    dedup_gold: bool = True
    invalid: Tuple[str, ...] = ()
    one_word: bool = False
    empty_line: bool = False
    cut: Cut = "unique"
    denominator: Denominator = "hard"
    pad_empty: bool = True
    average: Average = "macro_f1"
    zero_gold: ZeroGold = "skip"
    ideal: Ideal = "gold"
    alpha_ndcg: bool = False

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Preset).items():
            value, allowed = getattr(self, name), get_args(hint)
            if hint is bool and not isinstance(value, bool):
                raise ValueError(f"Preset.{name} is true or false, not {value!r}.")
            if allowed and isinstance(allowed[0], str) and value not in allowed:
                raise ValueError(
                    f"Preset.{name} is one of {', '.join(map(repr, allowed))}, "
                    f"not {value!r}."
                )

    @property
    def label(self) -> str:
        """The name, followed by the fields in which it differs from the preset
        of that name."""
        known = PRESETS.get(self.name)
        if known is None or known == self:
            return self.name
        changes = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(known, field.name)
        ]
        return f"{self.name}({', '.join(changes)})"


_ALL = [
    # Ours, and that of the comparison with other packages. Surprise: hyphens and
    # other punctuation never matter ("state-of-the-art" = "state of the art").
    Preset("default"),
    # JointKPE on OpenKP (thunlp/BERT-KPE). Surprise: nothing is stemmed.
    Preset("openkp", words="tokens", stem=False, zero_gold="include"),
    # JointKPE on KP20k (thunlp/BERT-KPE). Surprises: nothing is deduplicated, so
    # a phrase predicted twice is right twice and recall can pass 1; the script
    # calls its mean of per-document F1 micro.
    Preset(
        "kp20k_jointkpe",
        words="tokens",
        dedup="none",
        dedup_gold=False,
        zero_gold="include",
    ),
    # One2Set and its successors (jiacheng-ye/kg_one2set). Surprises: F1 is made of
    # macro P and macro R; documents without present (absent) gold count as 0 and
    # so cap absent scores; NDCG is relative to the system's own hits.
    Preset(
        "one2set",
        words="tokens",
        invalid=INVALID_TOKENS,
        average="macro_pr",
        zero_gold="include",
        ideal="hits",
        alpha_ndcg=True,
    ),
    # The reinforcement-learning family (kenchan0226/keyphrase-generation-rl), as
    # One2Set. Surprise: an empty prediction line is one valid empty phrase, which
    # is a substring of every gold phrase and so has a perfect alpha-NDCG.
    Preset(
        "rl",
        words="tokens",
        invalid=INVALID_TOKENS,
        empty_line=True,
        average="macro_pr",
        zero_gold="include",
        ideal="hits",
        alpha_ndcg=True,
    ),
    # Meng and Yuan's evaluator (memray/OpenNMT-kpg-release), which prints a hard
    # and a soft column. Surprises: papers do not say which one they print; all
    # documents count although its text says otherwise. The whole script also drops
    # predictions with INVALID_TOKENS: set `invalid` to have that.
    Preset("meng_hard", words="tokens", zero_gold="include"),
    Preset("meng_soft", words="tokens", denominator="soft", zero_gold="include"),
    # PromptRank, MUDY and MDERank (NKU-HLT/PromptRank). Surprises: micro; P@k
    # divides by the number of rows before deduplication, and rows are deduplicated
    # by surface but matched by stem, so "network" and "networks" can both be right;
    # gold is counted with its duplicates.
    Preset(
        "promptrank_micro",
        words="tokens",
        dedup="surface",
        dedup_gold=False,
        denominator="rows",
        average="micro",
        zero_gold="include",
    ),
    # SAMRank (kangnlp/SAMRank). Surprises: soft; the script divides by zero on an
    # empty list, which is 0 here.
    Preset("samrank", words="tokens", denominator="soft", zero_gold="include"),
    # KPEval's exact matching (uclanlp/KPEval). Surprises: its option to drop invalid
    # phrases keeps them; an empty prediction line is one empty phrase; documents
    # without predictions of a kind add nothing to its micro denominators.
    Preset(
        "kpeval",
        words="tokens",
        empty_line=True,
        pad_empty=False,
        average="macro_pr",
        zero_gold="include",
        ideal="hits",
        alpha_ndcg=True,
    ),
    # PUSL, "From Lazy to Prolific". P@k and F1@O divide by what was predicted, so
    # lists that stop early look good: read them with B@k and #K@k. The paper does
    # not say how labels are compared: here as lower-cased strings.
    Preset("pusl", words="tokens", stem=False, denominator="soft", zero_gold="include"),
    # The UniKeyphrase repository (thinkwee/UniKeyphrase), with its stem option.
    # Surprises: micro, though the paper names the macro protocol; the first five
    # predictions are cut before they are deduplicated. Its present and absent
    # parts are those of the data set; here they come from the source.
    Preset(
        "unikeyphrase",
        words="tokens",
        cut="rows",
        denominator="soft",
        average="micro",
        zero_gold="include",
    ),
]

PRESETS: Mapping[str, Preset] = MappingProxyType({p.name: p for p in _ALL})


def get_preset(preset: Union[str, Preset]) -> Preset:
    """A preset by name.

    preset (Union[str, Preset]): The name, or a preset, returned as it is.
    RETURNS (Preset): The preset. Raises a ValueError for an unknown name.
    """
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise ValueError(
            f"There is no evaluation preset {preset!r}. Choose from "
            f"{', '.join(PRESETS)}, or pass a Preset of your own."
        )
    return PRESETS[preset]
