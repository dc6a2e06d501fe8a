"""What tests of selectors leave open is closed after each."""

import gc

import pytest


@pytest.fixture(autouse=True)
def close_connections(monkeypatch):
    from spacy_keyphrase.backends import haystack_client, openai_client

    made = []
    for kind in (openai_client.OpenAIClient, haystack_client.HaystackClient):
        make = kind._make

        def note(self, make=make):
            made.append(self)
            return make(self)

        monkeypatch.setattr(kind, "_make", note)
    yield
    for client in made:
        client.close()
    gc.collect()
