"""Save a pipeline with other settings, such as more beams of a trained generator.

python scripts/with_settings.py PIPELINE OUTPUT SETTING=VALUE ...

A setting is one of the pipeline's config: components.keyphrase_generator.model.beams=5.
"""

import json
import sys

import spacy


def main(pipeline: str, output: str, *settings: str) -> None:
    overrides = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        overrides[name] = json.loads(value)
    spacy.load(pipeline, config=overrides).to_disk(output)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
