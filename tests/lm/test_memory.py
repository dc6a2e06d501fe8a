"""Memory is bounded by the budget of sub-tokens, not by the candidates."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

# The whole vocabulary after each of 2,200 sentences of 13 sub-tokens would be 3.7 GB,
# and the weights of their attention to 400 sub-tokens 137 MB a layer.
PROGRAM = """
import sys
from tiny import make_t5, t5_tokenizer
from pathlib import Path
from spacy_keyphrase.lm.document import Document, Occurrence
from spacy_keyphrase.lm.prompt import PromptScorer
from spacy_keyphrase.lm.sentences import SEQ2SEQ_PROMPT
from spacy_keyphrase.lm.seq2seq import Seq2Seq
from spacy_keyphrase.lm.seq2seq_sentences import Seq2SeqSentences
from spacy_keyphrase.lm.weighting import Weighting

models, weighted = Path(sys.argv[1]), sys.argv[2] == "weighted"
words = [f"w{i}" for i in range(100)]
text = " ".join(words)
starts = [sum(len(w) + 1 for w in words[:i]) for i in range(100)]
score = PromptScorer(
    Seq2SeqSentences(Seq2Seq(make_t5())),
    t5_tokenizer(models),
    SEQ2SEQ_PROMPT,
    Weighting() if weighted else None,
)
for n in (800, 3000):
    occurrences = [
        Occurrence(
            starts[i % 97],
            starts[i % 97] + len(words[i % 97]),
            f"{words[i % 97]} {i}",
            frozenset([f"w{i}"]),
        )
        for i in range(n)
    ]
    (found,) = score([Document(text, [(0, len(text))], occurrences)])
    assert len(found) == n and (found < 0).all()
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            print(int(line.split()[1]) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("weighting", ["weighted", "plain"])
def test_peak(weighting, models_dir):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(models_dir), weighting],
        capture_output=True,
        encoding="utf8",
        cwd=Path(__file__).parent,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            # What glibc frees goes back at once: the peak is of what is held.
            "MALLOC_MMAP_THRESHOLD_": "65536",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # Both are more than a budget. What is held of each occurrence is small.
    fewer, more = map(float, done.stdout.split())
    assert more - fewer < 60
