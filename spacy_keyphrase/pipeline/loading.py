"""Loading of trained pipes, which must be of the architecture of the config."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Union

from spacy.pipeline import TrainablePipe
from spacy.util import SimpleFrozenList

ADVICE = "Load it with the config that it was saved with."


class LoadablePipe(TrainablePipe):  # type: ignore[misc]
    """A trainable pipe that says what is wrong where the saved model does not fit the
    config."""

    def check_loaded(self) -> None:
        """Raise a ValueError where what was loaded does not fit the pipe."""

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> Any:
        """Load the model.

        data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): What is not to be loaded.
        RAISES: ValueError where it does not fit the config.
        """
        with self._loading():
            super().from_bytes(data, exclude=exclude)
        return self

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> Any:
        """Load the model.

        path (Union[str, Path]): The folder that `to_disk` wrote.
        exclude (Iterable[str]): What is not to be loaded.
        RAISES: ValueError where it does not fit the config.
        """
        with self._loading():
            super().from_disk(path, exclude=exclude)
        return self

    @contextmanager
    def _loading(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ValueError(
                f"The saved model of {self.name!r} does not fit the config: {error}. "
                f"{ADVICE}"
            ) from error
        self.check_loaded()
