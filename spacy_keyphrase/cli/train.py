"""``spacy keyphrase train``: spaCy's training, resumable."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from ._options import GpuId, check_path
from ._run import command, say


@command
def train_cli(
    ctx: typer.Context,
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="Training config.",
            callback=check_path,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for the models and the log."),
    ] = Path("training"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on from the checkpoint in the output folder, if any."
        ),
    ] = False,
    checkpoint_every: Annotated[
        int,
        typer.Option(
            min=0, help="Steps between checkpoints; 0 for one after each evaluation."
        ),
    ] = 0,
    gpu_id: GpuId = -1,
    code: Annotated[
        Optional[Path],
        typer.Option(
            "--code",
            "-c",
            help="Python file to import first, with functions that it registers.",
            callback=check_path,
            show_default=False,
        ),
    ] = None,
) -> None:
    """
    Train a pipeline as `spacy train` does, with checkpoints: after a crash, Ctrl-C or
    the end of a time slot, the same command with --resume goes on, and ends with the
    weights of a run that was never stopped. Settings of the config are overridden by
    options, such as --paths.train corpus/train.spacy or --training.max_steps 500.
    Started by torchrun, processes train together, each on documents of its own, as
    one does with accumulate_gradient.
    """
    from spacy.cli._util import import_code, parse_config_overrides, setup_gpu
    from spacy.util import load_config

    from ..models.blas import use_fast_blas
    from ..training.loop import Stopped, train
    from ..training.ranks import find_ranks, local_gpu

    overrides = parse_config_overrides(ctx.args)
    import_code(code)
    gpu_id = local_gpu(gpu_id)
    setup_gpu(gpu_id)
    if gpu_id < 0:
        use_fast_blas()
    ranks = find_ranks(gpu_id >= 0)
    loaded = load_config(config, overrides=overrides, interpolate=False)
    try:
        last = train(
            loaded,
            output,
            resume=resume,
            checkpoint_every=checkpoint_every,
            use_gpu=gpu_id,
            stdout=sys.stdout,
            stderr=sys.stderr,
            ranks=ranks,
        )
    except Stopped as stop:
        if ranks.first:
            say(f"{stop} Go on with the same command and --resume.")
        raise typer.Exit(130) from None
    finally:
        ranks.close()
    if ranks.first:
        say(f"Saved {last} and {last.parent / 'model-best'}.")
