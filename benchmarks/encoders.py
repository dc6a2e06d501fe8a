"""An encoder in fewer bits, and outside of torch.

python benchmarks/encoders.py ENCODER [--output benchmarks/results]

ENCODER is a folder of an encoder of transformers. Batches of abstracts, cut to one
length, go through it on one core in turn: by torch in 32 bits, in bfloat16 and with
linear layers in 8 bits, and by ONNX Runtime, where it is installed (`pip install
onnxruntime onnx onnxscript`), in 32 and in 8 bits. Told are milliseconds of a batch
(medians of rounds), how many times as fast that is as torch in 32 bits, and the cosine
of last states to those in 32 bits. Goes to encoders.json.
"""

import argparse
import copy
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Callable, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
# Last, so that an installed package goes first.
sys.path.append(str(HERE.parent))

from benchmarks.process import environment, single_core, single_thread  # noqa: E402

single_thread()

from benchmarks.data import shared_dir  # noqa: E402

# Texts of a batch, and sub-tokens of each.
SHAPES = ((16, 256), (32, 128), (8, 512))
ROUNDS = 7
Encode = Callable[[Any, Any], Any]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder")
    parser.add_argument("--output", type=Path, default=HERE / "results")
    options = parser.parse_args()
    single_core()
    result = {"rows": measure(options.encoder), "environment": environment()}
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "encoders.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


def measure(folder: str) -> List[Dict[str, Any]]:
    """Of each way and shape milliseconds, times torch in 32 bits, and the cosine."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    batches = [_batch(tokenizer, *shape) for shape in SHAPES]
    ways = {**_torch_ways(model), **_onnx_ways(model, batches[0])}
    rows = []
    for shape, batch in zip(SHAPES, batches):
        seconds: Dict[str, List[float]] = {name: [] for name in ways}
        states = {name: encode(*batch) for name, encode in ways.items()}
        for _ in range(ROUNDS):
            for name, encode in ways.items():
                began = time.perf_counter()
                encode(*batch)
                seconds[name].append(time.perf_counter() - began)
        right = states["torch, 32 bits"]
        for name, own in seconds.items():
            pairs = zip(seconds["torch, 32 bits"], own)
            cosine = torch.nn.functional.cosine_similarity(states[name], right, dim=-1)
            row = {
                "way": name,
                "shape": list(shape),
                "ms": round(1000 * median(own), 1),
                "times 32 bits": round(median(a / b for a, b in pairs), 2),
                "cosine": round(float(cosine.mean()), 4),
            }
            print(row, flush=True)
            rows.append(row)
    return rows


def _batch(tokenizer: Any, texts: int, length: int) -> Tuple[Any, Any]:
    from spacy_keyphrase.corpora import read_corpus

    path = shared_dir() / "data" / "acmdl" / "valid.jsonl.gz"
    words = " ".join(d.text for d, _ in zip(read_corpus(path), range(100)))
    ids = tokenizer(words, return_tensors="pt", verbose=False)["input_ids"][0]
    if len(ids) < texts * length:
        raise ValueError("There is too little text.")
    ids = ids[: texts * length].reshape(texts, length)
    return ids, ids.new_ones(ids.shape)


def _torch_ways(model: Any) -> Dict[str, Encode]:
    import torch

    linear = {torch.nn.Linear}
    models = {
        "torch, 32 bits": model,
        "torch, 16 bits": copy.deepcopy(model).bfloat16(),
        "torch, 8 bits": torch.ao.quantization.quantize_dynamic(model, linear),
    }

    def make(model: Any) -> Encode:
        @torch.inference_mode()
        def encode(ids: Any, mask: Any) -> Any:
            return model(input_ids=ids, attention_mask=mask).last_hidden_state.float()

        return encode

    return {name: make(model) for name, model in models.items()}


def _onnx_ways(model: Any, batch: Tuple[Any, Any]) -> Dict[str, Encode]:
    """Those of ONNX Runtime; none where it is not installed."""
    try:
        import onnxruntime
        from onnxruntime.quantization import quantize_dynamic
    except ImportError:
        print("ONNX Runtime is not installed and left out.")
        return {}
    import torch

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    free = {0: torch.export.Dim("texts"), 1: torch.export.Dim("length", max=512)}
    shapes = {"ids": free, "mask": free}
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1

    def make(path: Path) -> Encode:
        session = onnxruntime.InferenceSession(str(path), settings)
        first, second = (item.name for item in session.get_inputs())

        def encode(ids: Any, mask: Any) -> Any:
            inputs = {first: ids.numpy(), second: mask.numpy()}
            return torch.from_numpy(session.run(None, inputs)[0])

        return encode

    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "32.onnx", Path(folder) / "8.onnx"
        torch.onnx.export(States(), batch, path, dynamic_shapes=shapes, dynamo=True)
        quantize_dynamic(path, small)
        return {
            "ONNX Runtime, 32 bits": make(path),
            "ONNX Runtime, 8 bits": make(small),
        }


if __name__ == "__main__":
    main()
