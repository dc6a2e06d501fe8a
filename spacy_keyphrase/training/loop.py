"""spaCy's training loop, with checkpoints to go on from.

A run that was stopped and resumed ends with the weights of one that was not.
"""

import json
import shutil
import signal
import sys
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import (
    DIR_MODEL_BEST,
    DIR_MODEL_LAST,
    create_before_to_disk_callback,
    create_evaluation_callback,
    create_train_batches,
    subdivide_batch,
    update_meta,
)
from spacy.util import load_model_from_path, registry, resolve_dot_names
from thinc.api import Config, Optimizer, fix_random_seed, set_gpu_allocator

from .checkpoint import (
    Progress,
    find_checkpoint,
    random_state,
    read_progress,
    remove_checkpoints,
    restore_optimizer,
    restore_random,
    save_checkpoint,
)
from .memory import trim_memory
from .ranks import Ranks

LOG = "log.jsonl"
# Steps from one time that freed memory is given back to the next.
_TRIM = 5
# What may be different when a run is resumed.
_FREE = ("max_steps", "patience", "eval_frequency", "logger", "score_weights")


class Stopped(Exception):
    """A run was asked to stop, and did so after a checkpoint."""


def train(
    config: Config,
    output: Path,
    *,
    resume: bool = False,
    checkpoint_every: int = 0,
    use_gpu: int = -1,
    stdout: IO[str] = sys.stdout,
    stderr: IO[str] = sys.stderr,
    ranks: Optional[Ranks] = None,
) -> Path:
    """Train a pipeline as `spacy train` does.

    Besides spaCy's ``model-best`` and ``model-last`` the output folder has a
    ``checkpoint`` while training goes on, and ``log.jsonl``: step, losses, scores,
    words and seconds of each evaluation.

    config (Config): The training config, not interpolated.
    output (Path): The output folder.
    resume (bool): Go on from the checkpoint in the folder, if there is one. The
        corpus is read again up to there.
    checkpoint_every (int): Steps from one checkpoint to the next; 0 for one after
        each evaluation.
    use_gpu (int): ID of the GPU that was set up, -1 for the CPU.
    stdout (IO[str]): Where the config's logger writes.
    stderr (IO[str]): Where its progress bar is.
    ranks (Optional[Ranks]): The processes that train together; by default this one
        alone.
    RETURNS (Path): The folder of the last model.
    RAISES: ValueError where the checkpoint is of another config; Stopped after
        SIGINT or SIGTERM, when the step under way is done and saved.
    """
    ranks = ranks or Ranks()
    checkpoint = ranks.share(lambda: find_checkpoint(output) if resume else None)
    if checkpoint is None:
        nlp = init_nlp(config, use_gpu=use_gpu)
        ranks.share(lambda: _remove_last_run(output))
    else:
        # A pipe may go by how long the run is, and that may be changed.
        steps = config.interpolate()["training"]["max_steps"]
        overrides = {"training.max_steps": steps}
        nlp = load_model_from_path(checkpoint / "model", config=overrides)
        _check_config(nlp.config, config)
        for section in ("paths", "system", "corpora", "training"):
            nlp.config[section] = config.get(section, {})
    output.mkdir(parents=True, exist_ok=True)
    with _stop_signals() as stopped:
        run = _Run(nlp, output, checkpoint, checkpoint_every, use_gpu, ranks)
        run.train(stopped, stdout, stderr)
    return output / DIR_MODEL_LAST


def _remove_last_run(output: Path) -> None:
    remove_checkpoints(output)
    for name in (DIR_MODEL_BEST, DIR_MODEL_LAST):
        shutil.rmtree(output / name, ignore_errors=True)


def _check_config(saved: Config, given: Config) -> None:
    """Raise where a config would train another pipeline than that of a checkpoint."""
    old, new = saved.interpolate(), given.interpolate()
    for config in (old, new):
        for name in _FREE:
            config["training"].pop(name, None)
        # Its schedule may end later.
        config["training"].get("optimizer", {}).pop("learn_rate", None)
    # What comes from another pipeline is described there.
    for name, component in list(new.get("components", {}).items()):
        if "source" in component:
            del new["components"][name]
    for section in ("nlp", "components", "training"):
        changed = _differences(old.get(section), new.get(section, {}), section)
        if changed:
            raise ValueError(
                f"The checkpoint is of another config: {', '.join(changed[:3])} "
                f"{'differs' if len(changed) == 1 else 'differ'}. Resume with the "
                "config of the run, or train without --resume."
            )


def _differences(old: Any, new: Any, name: str) -> List[str]:
    """Where what is given differs from what is saved; defaults need not be given."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in new:
            found += _differences(old.get(key), new[key], f"{name}.{key}")
        return found
    return [] if old == new else [name]


class _Run:
    """One run of the loop; see `train`."""

    def __init__(
        self,
        nlp: Language,
        output: Path,
        checkpoint: Optional[Path],
        checkpoint_every: int,
        use_gpu: int,
        ranks: Ranks,
    ) -> None:
        self.ranks = ranks
        config = nlp.config.interpolate()
        if config["training"]["seed"] is not None:
            # Dropout is not to be the same in all processes.
            fix_random_seed(config["training"]["seed"] + ranks.rank)
        allocator = config["training"]["gpu_allocator"]
        if use_gpu >= 0 and allocator:
            set_gpu_allocator(allocator)
        settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
        names = [settings["train_corpus"], settings["dev_corpus"]]
        train_corpus, dev_corpus = resolve_dot_names(config, names)
        self.nlp = nlp
        self.output = output
        self.checkpoint_every = checkpoint_every
        self.settings: Dict[str, Any] = settings
        self.optimizer: Optimizer = settings["optimizer"]
        self.before_to_disk = create_before_to_disk_callback(settings["before_to_disk"])
        self.evaluate = create_evaluation_callback(
            nlp, dev_corpus, settings["score_weights"]
        )
        self.batches: Iterator[Tuple[int, List[Example]]] = create_train_batches(
            nlp,
            ranks.shard(train_corpus),
            settings["batcher"],
            settings["max_epochs"],
        )
        dropout = settings["dropout"]
        self.dropouts = iter(dropout) if not isinstance(dropout, float) else None
        self.progress = Progress()
        self.seconds_before = 0.0
        if checkpoint is not None:
            self._resume(checkpoint)
        ranks.share_weights([pipe.model for pipe in self._learners()])
        ranks.share(lambda: _truncate_log(output / LOG, self.progress.step))

    def _resume(self, checkpoint: Path) -> None:
        self.progress = read_progress(checkpoint)
        self.seconds_before = self.progress.seconds
        restore_optimizer(checkpoint, self.nlp, self.optimizer)
        for _ in islice(self.batches, self.progress.step):
            self._step_schedules()
            self._dropout()
        restore_random(checkpoint, self.ranks.rank, self.ranks.size)

    def _dropout(self) -> float:
        rate: float = (
            self.settings["dropout"] if self.dropouts is None else next(self.dropouts)
        )
        return rate

    def train(
        self, stopped: Callable[[], bool], stdout: IO[str], stderr: IO[str]
    ) -> None:
        frozen = self.settings["frozen_components"]
        log_step, finalize = _ignore, _ignore
        if self.ranks.first:
            with self.nlp.select_pipes(disable=frozen):
                log_step, finalize = self.settings["logger"](self.nlp, stdout, stderr)
        start = perf_counter()
        try:
            if self._finished():
                return
            for epoch, batch in self._batches():
                self._update(epoch, batch)
                info = self._evaluate(epoch)
                words = {"words": float(sum(map(len, batch)))}
                self.progress.words += int(self.ranks.sum_numbers(words)["words"])
                elapsed = perf_counter() - start
                self.progress.seconds = self.seconds_before + elapsed
                if info is not None:
                    info.update(
                        words=self.progress.words, seconds=int(self.progress.seconds)
                    )
                    self.ranks.share(partial(self._save, info))
                log_step(info)
                if self.progress.step % _TRIM == 0:
                    trim_memory()
                self.progress.step += 1
                if info is not None:
                    self.progress.losses = {}
                done, stop = self._finished(), self.ranks.any(stopped())
                if self._due(info is not None) or (stop and not done):
                    self._save_checkpoint()
                if done:
                    break
                if stop:
                    raise Stopped(f"Stopped after step {self.progress.step - 1}.")
        finally:
            finalize()
        self.ranks.share(self._save_last)

    def _batches(self) -> Iterator[Tuple[int, List[Example]]]:
        """Until one of the processes has none left."""
        while True:
            batch = next(self.batches, None)
            if self.ranks.any(batch is None) or batch is None:
                return
            yield batch

    def _save_checkpoint(self) -> None:
        states = self.ranks.gather(random_state())
        self.ranks.share(
            lambda: save_checkpoint(
                self.output, self.nlp, self.optimizer, self.progress, states
            )
        )

    def _save_last(self) -> None:
        self._save_model(DIR_MODEL_LAST)
        remove_checkpoints(self.output)

    def _update(self, epoch: int, batch: List[Example]) -> None:
        settings, nlp = self.settings, self.nlp
        frozen = settings["frozen_components"]
        if settings["before_update"]:
            settings["before_update"](nlp, {"step": self.progress.step, "epoch": epoch})
        rate = self._dropout()
        parts: Any = subdivide_batch  # it has no types
        for part in parts(batch, settings["accumulate_gradient"]):
            nlp.update(
                part,
                drop=rate,
                losses=self.progress.losses,
                sgd=False,  # type: ignore[arg-type]
                exclude=frozen,
                annotates=settings["annotating_components"],
            )
        learners = self._learners()
        self.ranks.sum_gradients([pipe.model for pipe in learners])
        for pipe in learners:
            pipe.finish_update(self.optimizer)
        self._step_schedules()

    def _learners(self) -> List[Any]:
        frozen = self.settings["frozen_components"]
        return [
            pipe
            for name, pipe in self.nlp.pipeline
            if name not in frozen
            and getattr(pipe, "is_trainable", False)
            and getattr(pipe, "model", None) not in (True, False, None)
        ]

    def _step_schedules(self) -> None:
        self.optimizer.step_schedules()  # type: ignore[no-untyped-call]

    def _evaluate(self, epoch: int) -> Optional[Dict[str, Any]]:
        """Scores, if it is time for them."""
        step = self.progress.step
        if step % self.settings["eval_frequency"]:
            return None
        score, scores = self.ranks.share(self._score)
        self.progress.results.append((score, step))
        return {
            "epoch": epoch,
            "step": step,
            "score": score,
            "other_scores": scores,
            "losses": self.ranks.sum_numbers(self.progress.losses),
            "checkpoints": self.progress.results,
        }

    def _score(self) -> Tuple[float, Dict[str, Any]]:
        with self.nlp.use_params(self.optimizer.averages or {}):
            score, scores = self.evaluate()
        return float(score), scores

    def _save(self, info: Dict[str, Any]) -> None:
        """Save the model of an evaluation, and what it was found to be."""
        with self.nlp.select_pipes(disable=self.settings["frozen_components"]):
            update_meta(self.settings, self.nlp, info)
        self._save_model(DIR_MODEL_LAST)
        if info["score"] == max(self.progress.results)[0]:
            shutil.rmtree(self.output / DIR_MODEL_BEST, ignore_errors=True)
            shutil.copytree(self.output / DIR_MODEL_LAST, self.output / DIR_MODEL_BEST)
        info["output_path"] = str(self.output / DIR_MODEL_LAST)
        scores = info["other_scores"]
        numbers = {
            name: scores[name]
            for name in self.settings["score_weights"]
            if isinstance(scores.get(name), (int, float))
        }
        line = {
            **{name: info[name] for name in ("epoch", "step", "score", "losses")},
            "scores": numbers,
            "words": info["words"],
            "seconds": info["seconds"],
        }
        with (self.output / LOG).open("a", encoding="utf8") as log:
            log.write(json.dumps(line) + "\n")

    def _save_model(self, name: str) -> None:
        with self.nlp.use_params(self.optimizer.averages or {}):
            self.before_to_disk(self.nlp).to_disk(self.output / name)

    def _due(self, evaluated: bool) -> bool:
        if not self.checkpoint_every:
            return evaluated
        return self.progress.step % self.checkpoint_every == 0

    def _finished(self) -> bool:
        """Whether the last step done is the last of all."""
        last = self.progress.step - 1
        patience, max_steps = self.settings["patience"], self.settings["max_steps"]
        if not self.progress.results:
            return False
        best = -max((score, -step) for score, step in self.progress.results)[1]
        if patience and last - best >= patience:
            return True
        return bool(max_steps) and last >= max_steps


def _ignore(info: Any = None) -> None:
    """The logger of all processes but the first."""


def _truncate_log(path: Path, step: int) -> None:
    """Keep the lines of the steps before one."""
    lines: Iterable[str] = []
    if step and path.exists():
        lines = path.read_text("utf8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["step"] < step]
    path.write_text("".join(kept), encoding="utf8")


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Whether the process was asked to end. A second SIGINT ends it at once."""
    asked = []

    def ask(number: int, frame: Any) -> None:
        asked.append(number)
        if number == signal.SIGINT and len(asked) > 1:
            raise KeyboardInterrupt

    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, ask)
    except ValueError:  # not in the main thread
        pass
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
