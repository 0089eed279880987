"""Starts the compiled server for a test, on a port of its own, and stops it by its process."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest

import websockets

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PARLEY_BUILD", ROOT / "build/release"))
# What scripts/deps --test installs for the tests to speak to.
NPM = pathlib.Path(os.environ.get("PARLEY_NPM", ROOT / "build/npm"))
MCP = NPM / "mcp"
SIMULATED = ROOT / "tests/e2e/simulated.yaml"
TOKEN = "test-token"
# Sanitizers make everything several times slower; nothing here asserts a time tighter than this.
PATIENCE = 60


def node():
    """The Node.js that the MCP packages run with."""
    if not (MCP / "installed").exists():
        raise AssertionError(f"{MCP} is missing: run scripts/deps --test")
    return next(MCP.glob("node_modules/node-linux-*/bin/node"), "node")


class Server:
    """A running `parley serve`."""

    def __init__(self, config=SIMULATED, token=TOKEN, arguments=()):
        self.directory = tempfile.TemporaryDirectory()
        self.turn_log = pathlib.Path(self.directory.name) / "turns.jsonl"
        environment = dict(os.environ)
        environment.pop("PARLEY_TOKEN", None)
        if token:
            environment["PARLEY_TOKEN"] = token
        self.process = subprocess.Popen(
            [BUILD / "parley", "serve", "--config", config, "--listen", "127.0.0.1:0", "--turn-log", self.turn_log,
             *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.log = []
        self.log_grew = threading.Condition()
        threading.Thread(target=self._read_log, daemon=True).start()
        self.said = []
        for line in self.process.stdout:
            self.said.append(line.strip())
            ready = re.match(r"ready (ws://127\.0\.0\.1:(\d+)/\S*)", line)
            if ready:
                self.url, self.port = ready.group(1), int(ready.group(2))
                return
        self.process.wait()
        raise AssertionError("the server did not start: " + "\n".join(self.log))

    def _read_log(self):
        for line in self.process.stderr:
            with self.log_grew:
                self.log.append(line.rstrip())
                self.log_grew.notify_all()

    def wait_for_log(self, text, after=0):
        """Until a line says so that comes after the first `after` ones."""
        with self.log_grew:
            found = self.log_grew.wait_for(lambda: any(text in line for line in self.log[after:]), PATIENCE)
        if not found:
            raise AssertionError(f"the log never said {text!r}:\n" + "\n".join(self.log))

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Returns the exit code; a crash or a sanitizer's complaint is not 0."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code

    def turns(self):
        return [json.loads(line) for line in self.turn_log.read_text().splitlines()]


class ServerTest(unittest.TestCase):
    config = SIMULATED

    def setUp(self):
        self.server = Server(self.config)
        self.addCleanup(self._stop)

    def _stop(self):
        code = self.server.stop()
        self.server.directory.cleanup()
        self.assertEqual(code, 0, "\n".join(self.server.log[-40:]))


def device_headers(device="aa:bb:cc:00:00:01", token=TOKEN, version=1):
    return {"Authorization": f"Bearer {token}", "Protocol-Version": str(version), "Device-Id": device,
            "Client-Id": "00000000-0000-4000-8000-000000000001"}


HELLO = {"type": "hello", "version": 1, "features": {}, "transport": "websocket",
         "audio_params": {"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60}}


@contextlib.asynccontextmanager
async def device(server, hello=HELLO, **headers):
    """A connected device; with `hello` the handshake is done."""
    async with websockets.connect(server.url, extra_headers=device_headers(**headers), max_size=None) as socket:
        if hello:
            await socket.send(json.dumps(hello))
            answer = await receive(socket)
            assert answer["type"] == "hello", answer
        yield socket


async def receive(socket):
    """The next JSON message."""
    while True:
        message = await asyncio.wait_for(socket.recv(), PATIENCE)
        if isinstance(message, str):
            return json.loads(message)


async def until_closed(socket):
    """The close code."""
    with contextlib.suppress(websockets.ConnectionClosed):
        while True:
            await asyncio.wait_for(socket.recv(), PATIENCE)
    return socket.close_code


def run_device(server, *arguments, token=TOKEN):
    """The simulated device's events and its exit code."""
    ran = subprocess.run([BUILD / "parley-device", "--json", "--url", server.url, "--token", token, *arguments],
                         capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
    events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return events, ran.returncode, ran.stderr
