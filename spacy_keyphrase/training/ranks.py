"""Training in several processes at once, each on documents of its own: what they have
to agree on. `torchrun` starts them.

After each update gradients are added up over the processes, so that n of them do what
one does with `accumulate_gradient = n`.
"""

import os
from datetime import timedelta
from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

from spacy.language import Language
from spacy.training import Example
from thinc.api import Model

from ..corpora.mixture import Mixture
from ..corpora.reader import KeyphraseCorpus

# While the first process evaluates, the others wait.
_PATIENCE = timedelta(hours=12)


class Ranks:
    """One process alone.

    rank (int): Number of this process.
    size (int): How many there are.
    """

    rank, size = 0, 1

    @property
    def first(self) -> bool:
        """Whether it is this process that evaluates and saves."""
        return self.rank == 0

    def shard(self, corpus: Callable[[Language], Iterable[Example]]) -> Any:
        """The corpus of this process."""
        return corpus

    def share_weights(self, models: Iterable[Model[Any, Any]]) -> None:
        """Have the weights of the first process in all of them."""

    def sum_gradients(self, models: Iterable[Model[Any, Any]]) -> None:
        """Add up the gradients of all processes."""

    def sum_numbers(self, numbers: Dict[str, float]) -> Dict[str, float]:
        """Add up numbers of all processes, by name."""
        return dict(numbers)

    def any(self, flag: bool) -> bool:
        """Whether it holds in any process."""
        return flag

    def share(self, make: Callable[[], Any]) -> Any:
        """What the first process makes, in all of them."""
        return make()

    def gather(self, value: Any) -> List[Any]:
        """Values of all processes, in order."""
        return [value]

    def close(self) -> None:
        """Leave the others."""


class TorchRanks(Ranks):
    """Processes that torch.distributed connects.

    use_gpu (bool): Whether each has a GPU.
    """

    def __init__(self, use_gpu: bool) -> None:
        import torch.distributed

        self.torch = torch
        self.group = torch.distributed
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.device = torch.device("cuda" if use_gpu else "cpu")
        self.group.init_process_group("nccl" if use_gpu else "gloo", timeout=_PATIENCE)

    def shard(self, corpus: Callable[[Language], Iterable[Example]]) -> Any:
        """Every n-th example; our readers do not even make those of the others."""
        if _set_shard(corpus, (self.rank, self.size)):
            return corpus

        def sharded(nlp: Language) -> Iterator[Example]:
            return islice(corpus(nlp), self.rank, None, self.size)

        return sharded

    def share_weights(self, models: Iterable[Model[Any, Any]]) -> None:
        """Have the weights of the first process in all of them."""
        for model in models:
            for _, _, get in _slots(model):
                # The memory of the parameter itself, of thinc's on a CPU too.
                weights = get().detach()
                on_device = weights.to(self.device).contiguous()
                self.group.broadcast(on_device, 0)
                weights.copy_(on_device)

    def sum_gradients(self, models: Iterable[Model[Any, Any]]) -> None:
        """Add them up in one vector; what has none in any process keeps none."""
        torch, group = self.torch, self.group
        slots = [slot for model in models for slot in _slots(model)]
        gradients = [get() for get, _, _ in slots]
        there = torch.tensor([g is not None for g in gradients], device=self.device)
        there = there.to(torch.int32)
        group.all_reduce(there, op=group.ReduceOp.MAX)
        used = [i for i, known in enumerate(there.tolist()) if known]
        parts = []
        for i in used:
            value = gradients[i]
            like = slots[i][2]()
            part = torch.zeros_like(like) if value is None else value
            parts.append(part.detach().to(self.device, torch.float32).flatten())
        if not parts:
            return
        total = torch.cat(parts)
        group.all_reduce(total)
        for i, summed in zip(used, total.split([len(part) for part in parts])):
            slots[i][1](summed)

    def sum_numbers(self, numbers: Dict[str, float]) -> Dict[str, float]:
        """Of all names that any process has."""
        found = self.gather(dict(numbers))
        names = dict.fromkeys(name for own in found for name in own)
        return {name: sum(own.get(name, 0.0) for own in found) for name in names}

    def any(self, flag: bool) -> bool:
        """Whether it holds in any process."""
        value = self.torch.tensor(int(flag), device=self.device)
        self.group.all_reduce(value, op=self.group.ReduceOp.MAX)
        return bool(value.item())

    def share(self, make: Callable[[], Any]) -> Any:
        """What the first process makes, in all of them; or its error."""
        made: List[Any] = [None]
        if self.first:
            try:
                made = [(make(), None)]
            except Exception as error:
                made = [(None, error)]
        self.group.broadcast_object_list(made)
        value, problem = made[0]
        if problem is not None:
            raise problem
        return value

    def gather(self, value: Any) -> List[Any]:
        """Values of all processes, in order."""
        found: List[Any] = [None] * self.size
        self.group.all_gather_object(found, value)
        return found

    def close(self) -> None:
        """Leave the others."""
        self.group.destroy_process_group()


def find_ranks(use_gpu: bool) -> Ranks:
    """The processes that this one was started with, by the environment."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return Ranks()
    return TorchRanks(use_gpu)


def local_gpu(gpu_id: int) -> int:
    """The GPU of this process: as it was asked for, or one for each under torchrun."""
    return int(os.environ.get("LOCAL_RANK", gpu_id)) if gpu_id >= 0 else gpu_id


def _set_shard(corpus: Any, shard: Tuple[int, int]) -> bool:
    if isinstance(corpus, KeyphraseCorpus):
        corpus.shard = shard
        return True
    if isinstance(corpus, Mixture):
        found = [_set_shard(source, shard) for source in corpus.sources.values()]
        return all(found)
    return False


_Slot = Tuple[Callable[[], Any], Callable[[Any], None], Callable[[], Any]]


def _slots(model: Model[Any, Any]) -> Iterator[_Slot]:
    """Of each parameter, of thinc and of torch: how to get its gradient and to set it,
    and the parameter, as tensors."""
    for node in model.walk():
        for shim in node.shims:
            module: Any = getattr(shim, "_model", None)
            if hasattr(module, "named_parameters"):
                for _, parameter in module.named_parameters():
                    if parameter.requires_grad:
                        yield _torch_slot(parameter)
        for name in node.param_names:
            if node.has_param(name):
                yield _thinc_slot(node, name)


def _torch_slot(parameter: Any) -> _Slot:
    def put(values: Any) -> None:
        parameter.grad = values.view_as(parameter).to(parameter)

    return lambda: parameter.grad, put, lambda: parameter


def _thinc_slot(node: Model[Any, Any], name: str) -> _Slot:
    from thinc.api import torch2xp, xp2torch

    def get() -> Any:
        return xp2torch(node.get_grad(name)) if node.has_grad(name) else None

    def put(values: Any) -> None:
        like: Any = node.get_param(name)
        grad: Any = torch2xp(values.reshape(like.shape).contiguous(), ops=node.ops)
        node.set_grad(name, grad.astype(like.dtype))

    return get, put, lambda: xp2torch(node.get_param(name))
