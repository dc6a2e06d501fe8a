"""Many documents over a server that fails in all ways: nothing is lost, nothing is made
up, and what was answered is not asked for again."""

import json
import signal
import subprocess
import sys
import time

import pytest
import spacy

pytest.importorskip("openai")

from fresh import needs_entry_points

from benchmarks.chat_server import ChatServer

CANDIDATES = ["good idea", "bad idea", "good plan", "plan"]
CHOSEN = ["good idea", "good plan"]
ONCE = ("busy", "broken", "slow", "cut", "garbage", "few", "many", "other")
ONCE += ("refusal", "empty")
ALWAYS = ("busy", "broken", "garbage", "few", "refusal", "empty", "long")


def make(url, folder):
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy_keyphrase.ChatLM.v1",
        "name": "rule",
        "base_url": url,
        "workers": 16,
        "retries": 1,
        "timeout": 0.5,
        "cache": str(folder),
    }
    nlp.add_pipe("keyphrase_selector", config={"model": model})
    return nlp


def make_texts():
    """Of a hundred documents thirty fail once, and seven always."""
    faults = [f"fault:{name}" for name in ONCE * 3]
    faults += [f"always:{name}" for name in ALWAYS]
    faults += ["fine"] * (100 - len(faults))
    return [f"Document {i}. {faults[i * 37 % 100]}" for i in range(500)]


def make_docs(nlp, texts):
    for text in texts:
        doc = nlp.make_doc(text)
        doc._.keyphrases = CANDIDATES
        yield doc


@pytest.mark.slow
def test_many_documents(tmp_path):
    texts = make_texts()
    with ChatServer(latency=0.05, slow=1.0) as server:
        nlp = make(server.url, tmp_path / "cache")
        docs = list(nlp.pipe(make_docs(nlp, texts), batch_size=200))
        assert [doc.text for doc in docs] == texts
        failed = [text for text in texts if "always" in text]
        assert len(failed) == 35
        for doc in docs:
            found = [phrase.text for phrase in doc._.keyphrases]
            rejected = [phrase.text for phrase in doc._.keyphrases_rejected]
            assert found == (CANDIDATES if doc.text in failed else CHOSEN)
            assert sorted(found + rejected) == sorted(CANDIDATES)
            assert (doc._.keyphrases_error is None) == (doc.text not in failed)
        usage = nlp.get_pipe("keyphrase_selector").usage
        assert usage.questions == 500 and usage.failed == 35
        # All but the failed ones from the cache.
        server.calls.clear()
        again = make(server.url, tmp_path / "cache")
        docs = list(again.pipe(make_docs(again, texts)))
        asked = {call["messages"][1]["content"].split("\n")[1] for call in server.calls}
        assert asked == set(failed)
        assert again.get_pipe("keyphrase_selector").usage.cached == 465


@pytest.mark.slow
def test_killed_in_the_middle(tmp_path):
    """The same command again goes on where it was."""
    needs_entry_points()
    texts = [f"A good idea number {i} is a plan." for i in range(60)]
    lines = [json.dumps({"id": str(i), "text": t}) for i, t in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    with ChatServer(latency=0.1) as server:
        nlp = make(server.url, tmp_path / "cache")
        nlp.add_pipe("keyphrase", first=True)
        nlp.get_pipe("keyphrase_selector").model.attrs["chat"].workers = 2
        config = nlp.config.copy()
        config["components"]["keyphrase_selector"]["model"]["workers"] = 2
        config.to_disk(tmp_path / "config.cfg")
        command = [sys.executable, "-m", "spacy", "keyphrase", "extract"]
        command += [str(tmp_path / "corpus.jsonl"), "--format", "jsonl"]
        command += ["--config", str(tmp_path / "config.cfg")]
        command += ["--output", str(tmp_path / "out.jsonl")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while len(server.calls) < 20:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        assert not (tmp_path / "out.jsonl").exists()
        before = len(server.calls)
        assert before < 60
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        assert "keyphrase_selector: 60 questions" in done.stderr + done.stdout
        # Asked for twice is only what was under way.
        assert len(server.calls) <= 62
    lines = (tmp_path / "out.jsonl").read_text("utf8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["id"] for record in records] == [str(i) for i in range(60)]
    assert all("good" in r["keyphrases"][0]["text"] for r in records)
