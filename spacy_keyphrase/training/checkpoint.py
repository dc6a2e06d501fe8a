"""What a training run needs to go on where it stood: weights, the optimizer's moments,
the random numbers, and how far it was."""

import json
import random
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy
from spacy.language import Language
from thinc.api import Model, Optimizer, get_current_ops

CHECKPOINT = "checkpoint"
_MOMENTS = ("mom1", "mom2", "averages")
_COUNTS = ("nr_update", "last_seen")


@dataclass
class Progress:
    """How far a run is.

    step (int): Updates done.
    results (List[List[float]]): Score and step of each evaluation.
    losses (Dict[str, float]): By component, since the last evaluation.
    words (int): Words learned from.
    seconds (float): Time taken, that of the runs before included.
    """

    step: int = 0
    results: List[Tuple[float, int]] = field(default_factory=list)
    losses: Dict[str, float] = field(default_factory=dict)
    words: int = 0
    seconds: float = 0.0


def save_checkpoint(
    folder: Path,
    nlp: Language,
    optimizer: Optimizer,
    progress: Progress,
    random_states: List[Dict[str, Any]],
) -> None:
    """Write a checkpoint; the one before is there until the new one is complete.

    folder (Path): The output folder of the run.
    nlp (Language): The pipeline, with the weights that are trained, not with their
        averages.
    optimizer (Optimizer): Its optimizer.
    progress (Progress): How far the run is.
    random_states (List[Dict[str, Any]]): Of each process, from `random_state`.
    """
    new, old = folder / f"{CHECKPOINT}.new", folder / f"{CHECKPOINT}.old"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    nlp.to_disk(new / "model")
    _save_optimizer(new / "optimizer.npz", nlp, optimizer)
    state = {"progress": asdict(progress), "random": random_states}
    (new / "state.json").write_text(json.dumps(state), encoding="utf8")
    shutil.rmtree(old, ignore_errors=True)
    if (folder / CHECKPOINT).exists():
        (folder / CHECKPOINT).rename(old)
    new.rename(folder / CHECKPOINT)
    shutil.rmtree(old, ignore_errors=True)


def find_checkpoint(folder: Path) -> Optional[Path]:
    """The last complete checkpoint of a run, if there is any.

    folder (Path): The output folder of the run.
    """
    # A run may have been killed between the two renamings.
    for name in (CHECKPOINT, f"{CHECKPOINT}.old"):
        if (folder / name / "state.json").is_file():
            return folder / name
    return None


def remove_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run.

    folder (Path): The output folder of the run.
    """
    for name in (CHECKPOINT, f"{CHECKPOINT}.old", f"{CHECKPOINT}.new"):
        shutil.rmtree(folder / name, ignore_errors=True)


def read_progress(checkpoint: Path) -> Progress:
    """How far the run of a checkpoint was.

    checkpoint (Path): What `find_checkpoint` returned.
    """
    progress = Progress(**_read_state(checkpoint)["progress"])
    progress.results = [(score, step) for score, step in progress.results]
    return progress


def restore_optimizer(checkpoint: Path, nlp: Language, optimizer: Optimizer) -> None:
    """Give a new optimizer the state of that of a checkpoint. Its schedules are to be
    stepped besides.

    checkpoint (Path): What `find_checkpoint` returned.
    nlp (Language): The pipeline, loaded from the checkpoint.
    optimizer (Optimizer): Changed.
    """
    keys = dict(_parameters(nlp))
    ops: Any = get_current_ops()
    with numpy.load(checkpoint / "optimizer.npz", allow_pickle=False) as data:
        for entry in data.files:
            kind, _, name = entry.partition("|")
            values = getattr(optimizer, kind)
            if kind in _COUNTS:
                values[keys[name]] = int(data[entry])
            elif values is not None:
                values[keys[name]] = ops.asarray(data[entry])


def restore_random(checkpoint: Path, rank: int = 0, size: int = 1) -> None:
    """Draw the random numbers that the run of a checkpoint would have drawn next.

    checkpoint (Path): What `find_checkpoint` returned.
    rank, size (int): Number of the process, and how many there are.
    RAISES: ValueError where there were more processes, or fewer.
    """
    states = _read_state(checkpoint)["random"]
    if len(states) != size:
        raise ValueError(
            f"The checkpoint is of a run in {len(states)} processes, and this one has "
            f"{size}. Resume with as many."
        )
    state = states[rank]
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, numbers, *rest = state["numpy"]
    numpy.random.set_state((name, numpy.array(numbers, dtype="u4"), *rest))
    torch = sys.modules.get("torch")
    if torch is not None and "torch" in state:
        torch.set_rng_state(torch.tensor(state["torch"], dtype=torch.uint8))
        if torch.cuda.is_available() and state.get("cuda"):
            torch.cuda.set_rng_state_all(
                [torch.tensor(one, dtype=torch.uint8) for one in state["cuda"]]
            )


def random_state() -> Dict[str, Any]:
    """What the random numbers of this process go on from."""
    name, numbers, *rest = numpy.random.get_state(legacy=True)
    state: Dict[str, Any] = {
        "python": random.getstate(),
        "numpy": [name, numpy.asarray(numbers).tolist(), *rest],
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        state["torch"] = torch.get_rng_state().tolist()
        if torch.cuda.is_available():
            states = torch.cuda.get_rng_state_all()
            state["cuda"] = [one.tolist() for one in states]
    return state


def _read_state(checkpoint: Path) -> Dict[str, Any]:
    state: Dict[str, Any] = json.loads((checkpoint / "state.json").read_text("utf8"))
    return state


def _save_optimizer(path: Path, nlp: Language, optimizer: Optimizer) -> None:
    ops: Any = get_current_ops()
    arrays = {}
    for name, key in _parameters(nlp):
        for kind in _MOMENTS:
            values: Any = getattr(optimizer, kind)
            if values and key in values:
                arrays[f"{kind}|{name}"] = ops.to_numpy(values[key])
        for kind in _COUNTS:
            if key in getattr(optimizer, kind):
                arrays[f"{kind}|{name}"] = numpy.array(getattr(optimizer, kind)[key])
    numpy.savez(path, **arrays)


def _parameters(nlp: Language) -> Iterator[Tuple[str, Tuple[int, str]]]:
    """All that an optimizer can know: a name that is the same in every process, and
    the optimizer's key, which is not. A layer that several pipes share is named by
    the first."""
    seen = set()
    for pipe_name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        if not isinstance(model, Model):
            continue
        for i, node in enumerate(model.walk()):
            if node.id in seen:
                continue
            seen.add(node.id)
            for name in node.param_names:
                yield f"{pipe_name}/{i}/{name}", (node.id, name)
            for j, shim in enumerate(node.shims):
                module: Any = getattr(shim, "_model", None)
                if hasattr(module, "named_parameters"):
                    for name, _ in module.named_parameters():
                        yield f"{pipe_name}/{i}/{j}/{name}", (shim.id, name)
