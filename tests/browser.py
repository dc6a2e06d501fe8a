"""A headless Chromium for tests, and enough PNG to read what it painted."""

import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, Optional, Tuple

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
DARK = "--blink-settings=preferredColorScheme=0"

Pixel = Tuple[int, ...]


def find_browser() -> Optional[str]:
    """The path of an installed Chromium or Chrome, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Browser:
    """Opens pages given as text, each in a fresh profile.

    executable (str): Path of the browser.
    timeout (float): Seconds to wait for one page.
    """

    executable: str
    timeout: float = 180.0

    def dump(self, page: str, *, dark: bool = False, width: int = 1200) -> str:
        """The document after scripts had their chance to run, as HTML."""
        return self._run(page, dark, (width, 900), "--dump-dom")[0]

    def probe(
        self, page: str, script: str, *, dark: bool = False, width: int = 1200
    ) -> Any:
        """What an expression of JavaScript gives on a page; JSON-able."""
        probe = f"document.body.dataset.probe = JSON.stringify({script})"
        loud = page.replace("Content-Security-Policy", "none")  # let our script run
        assert loud != page
        loud = loud.replace("</body>", f"<script>{probe}</script></body>")
        dom = self.dump(loud, dark=dark, width=width)
        _, _, rest = dom.partition('data-probe="')
        value = rest.partition('"')[0].replace("&quot;", '"').replace("&amp;", "&")
        return json.loads(value)

    def screenshot(
        self, page: str, *, dark: bool = False, size: Tuple[int, int] = (600, 400)
    ) -> List[List[Pixel]]:
        """The rows of pixels that a window of this size shows."""
        return read_png(self._run(page, dark, size, "--screenshot")[1])

    def _run(
        self, page: str, dark: bool, size: Tuple[int, int], action: str
    ) -> Tuple[str, bytes]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path, image = Path(folder, "page.html"), Path(folder, "page.png")
            path.write_text(page, encoding="utf8")
            command = [
                self.executable,
                *FLAGS,
                f"--user-data-dir={folder}/profile",
                f"--window-size={size[0]},{size[1]}",
                *([DARK] if dark else []),
                f"{action}={image}" if action == "--screenshot" else action,
                path.as_uri(),
            ]
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                out, _ = process.communicate(timeout=self.timeout)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise
            assert process.returncode == 0, f"{command} gave {process.returncode}"
            return out.decode("utf8"), image.read_bytes() if image.exists() else b""


def read_png(data: bytes) -> List[List[Pixel]]:
    """The pixels of an 8-bit RGB or RGBA image without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG image"
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunk)
            assert depth == 8 and colour in (2, 6) and rest[2] == 0
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += chunk
        at += length + 12
    raw, stride = zlib.decompress(packed), width * channels
    above, rows = bytearray(stride), []
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        _unfilter(raw[y * (stride + 1)], line, above, channels)
        rows.append([tuple(line[x : x + 3]) for x in range(0, stride, channels)])
        above = line
    return rows


def _unfilter(kind: int, line: bytearray, above: bytearray, channels: int) -> None:
    """Undo one line's filter, in place (PNG specification, section 9)."""
    for x in range(len(line)):
        left = line[x - channels] if x >= channels else 0
        corner = above[x - channels] if x >= channels else 0
        up = above[x]
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            slope = left + up - corner
            near = [abs(slope - left), abs(slope - up), abs(slope - corner)]
            guess = (left, up, corner)[near.index(min(near))]
        else:
            return
        line[x] = (line[x] + guess) & 0xFF
