"""``python -m spacy keyphrase ...``, and the same as ``spacy-keyphrase ...``."""

import typer
from spacy.cli._util import app as spacy_app

from .calibrate import calibrate_cli
from .compare import compare_cli
from .convert import convert_cli
from .curve import curve_cli
from .debug_data import debug_data_cli
from .evaluate import evaluate_cli
from .extract import extract_cli
from .judge import judge_cli
from .phrases import phrases_cli
from .render import render_cli
from .train import train_cli
from .words import words_cli

HELP = """Keyphrases: extract and evaluate them, convert their corpora, look at them.

Exit codes: 0 done, 1 error in data or processing, 2 wrong usage, 130 interrupted.
"""

app = typer.Typer(
    name="keyphrase",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _name, _command in (
    ("extract", extract_cli),
    ("evaluate", evaluate_cli),
    ("convert", convert_cli),
    ("render", render_cli),
    ("compare", compare_cli),
    ("debug-data", debug_data_cli),
    ("curve", curve_cli),
    ("calibrate", calibrate_cli),
    ("words", words_cli),
    ("phrases", phrases_cli),
    ("judge", judge_cli),
):
    app.command(_name, no_args_is_help=True)(_command)
# What else is given overrides settings of the config.
app.command(
    "train",
    no_args_is_help=True,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(train_cli)

# spaCy imports the entry points of its group "spacy_cli" and does no more with
# them: a command of ours has to put itself into its application.
spacy_app.add_typer(app, name="keyphrase")


def main() -> None:
    """The console script."""
    app(prog_name="spacy-keyphrase")
