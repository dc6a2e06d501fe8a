"""A server that speaks OpenAI's language, for tests and benchmarks of chat clients. It
labels candidates by a rule and, where it is asked to, fails in all the ways that
servers do.

python benchmarks/chat_server.py [--latency 0.05]     prints its address, serves until
                                                      its standard input ends

A document says how it is to be answered: "fault:NAME" fails the first time, and
"always:NAME" each time, with NAME one of `FAULTS`.
"""

import argparse
import json
import re
import socket
import sys
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Callable, Dict, List, Optional

FAULTS = (
    "busy",  # 429 with Retry-After
    "broken",  # 500
    "slow",  # longer than clients wait
    "cut",  # the connection ends
    "garbage",  # no JSON
    "few",
    "many",
    "other",  # labels that were not offered
    "refusal",
    "empty",
    "denied",  # 401
    "long",  # 400, of the document
)
_FAULT = re.compile(r"\b(fault|always):(\w+)")
_CANDIDATE = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
REFUSAL = "I'm sorry, but I can't help with that."


def is_good(candidate: str) -> bool:
    """The rule by which candidates are T."""
    return "good" in candidate


class ChatServer(ThreadingHTTPServer):
    """Answers in the background while it is open.

    latency (float): Seconds that an answer takes.
    slow (float): Seconds that the fault of this name takes.
    schemas (bool): Whether it knows JSON schemas; else it refuses calls with one.
    answer (Optional[Callable[[str], str]]): From a prompt to an answer, instead of
        labels by the rule.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        latency: float = 0.0,
        slow: float = 1.0,
        schemas: bool = True,
        answer: Optional[Callable[[str], str]] = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.latency, self.slow, self.schemas = latency, slow, schemas
        self.answer = answer
        self.lock = Lock()
        self.seen: Counter[str] = Counter()
        self.calls: List[Dict[str, Any]] = []
        self.busy = self.most = 0

    @property
    def url(self) -> str:
        """What clients call `base_url`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> "ChatServer":
        Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are expected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer goes out at once.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: ChatServer

    def do_POST(self) -> None:
        server = self.server
        length = int(self.headers.get("Content-Length", 0))
        call = json.loads(self.rfile.read(length))
        prompt = call["messages"][-1]["content"]
        with server.lock:
            server.calls.append({"key": self.headers.get("Authorization"), **call})
            server.seen[prompt] += 1
            first = server.seen[prompt] == 1
            server.busy += 1
            server.most = max(server.most, server.busy)
        try:
            time.sleep(server.latency)
            found = _FAULT.search(prompt)
            fault = found.group(2) if found else ""
            if found and found.group(1) == "fault" and not first:
                fault = ""
            self._answer(call, prompt, fault)
        finally:
            with server.lock:
                server.busy -= 1

    def _answer(self, call: Dict[str, Any], prompt: str, fault: str) -> None:
        if fault == "busy":
            self._send(429, {"error": {"message": "busy"}}, {"Retry-After": "0.05"})
        elif fault == "broken":
            self._send(500, {"error": {"message": "broken"}})
        elif fault == "denied":
            self._send(401, {"error": {"message": "wrong key"}})
        elif fault == "long":
            self._send(400, {"error": {"message": "too many tokens"}})
        elif fault == "cut":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif "response_format" in call and not self.server.schemas:
            self._send(400, {"error": {"message": "response_format is not known"}})
        else:
            if fault == "slow":
                time.sleep(self.server.slow)
            self._say(prompt, fault)

    def _say(self, prompt: str, fault: str) -> None:
        listed = prompt.rpartition("\n\nCandidates:\n")[2]
        labels = ["T" if is_good(c) else "F" for c in _CANDIDATE.findall(listed)]
        if self.server.answer is not None:
            text = self.server.answer(prompt)
        else:
            changed = {
                "few": labels[:-1],
                "many": [*labels, "T"],
                "other": ["maybe" for _ in labels],
            }
            text = json.dumps({"labels": changed.get(fault, labels)})
        text = {"garbage": '{"labels": ["T", ', "refusal": REFUSAL, "empty": ""}.get(
            fault, text
        )
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(labels)}
        usage["total_tokens"] = sum(usage.values())
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "rule"}
        self._send(200, {**body, "choices": [choice], "usage": usage})

    def _send(
        self, status: int, body: Any, headers: Optional[Dict[str, str]] = None
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05)
    options = parser.parse_args()
    with ChatServer(options.latency) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
