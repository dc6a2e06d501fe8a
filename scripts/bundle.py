"""Put a trained component into the package.

python scripts/bundle.py PIPELINE COMPONENT OUTPUT

PIPELINE is a folder that training wrote, COMPONENT a tagger or a keyphrase_extractor in
it, OUTPUT a .safetensors file in spacy_keyphrase/resources.
"""

import sys
from pathlib import Path

import spacy

from spacy_keyphrase.models.bundle import save_network


def main(pipeline: str, component: str, output: str) -> None:
    nlp = spacy.load(pipeline)
    pipe = nlp.get_pipe(component)
    config = nlp.config.interpolate()["components"][component]
    settings = (
        {"labels": list(pipe.labels)}
        if nlp.get_pipe_meta(component).factory == "tagger"
        else {
            "candidates": config["candidates"],
            "style": config["style"],
            "blend": config["blend"],
            "calibration": pipe.cfg["calibration"],
        }
    )
    save_network(output, pipe.model, config["model"], settings)
    print(f"{output}: {Path(output).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
