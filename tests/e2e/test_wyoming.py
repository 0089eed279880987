"""Whole conversations with engines behind the Wyoming protocol, against its reference implementation."""

import json
import os
import pathlib
import subprocess
import threading
import unittest

from harness import BUILD, PATIENCE, ROOT, Server, run_device

PYTHON = pathlib.Path(os.environ.get("PARLEY_VENV", ROOT / "build/venv")) / "bin/python"
CONFIG = ROOT / "tests/e2e/wyoming.yaml"


class Peer:
    """A running Wyoming server, and the events it got."""

    def __init__(self, *arguments):
        if not PYTHON.exists():
            raise AssertionError(f"{PYTHON} is missing: run scripts/deps --test")
        self.process = subprocess.Popen([PYTHON, ROOT / "tests/e2e/wyoming_peer.py", *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.uri = f"tcp://127.0.0.1:{int(self.process.stdout.readline())}"
        self.events = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class WyomingTest(unittest.TestCase):
    arguments = ()
    streaming = "auto"

    def setUp(self):
        self.recogniser = Peer("asr", *self.arguments)
        self.addCleanup(self.recogniser.stop)
        self.voice = Peer("tts", *self.arguments)
        self.addCleanup(self.voice.stop)
        os.environ["WYOMING_ASR"] = self.recogniser.uri
        os.environ["WYOMING_TTS"] = self.voice.uri
        os.environ["TEST_STREAMING"] = self.streaming

    def serve(self):
        self.server = Server(CONFIG)
        self.addCleanup(self._stop)

    def _stop(self):
        code = self.server.stop()
        self.server.directory.cleanup()
        self.assertEqual(code, 0, "\n".join(self.server.log[-40:]))

    def converse(self, *arguments):
        events, code, error = run_device(self.server, *arguments)
        self.assertEqual(code, 0, error + "\n".join(self.server.log[-20:]))
        self.assertEqual(events[-1]["violations"], 0)
        called = [event["text"] for event in events if event.get("event") == "tool_call"]
        for turn in events[-1]["turns"]:
            self.assertTrue(turn["replies"])
            self.assertIsNotNone(turn["first_audio_ms"])
        for turn in self.server.turns():
            self.assertEqual(turn["outcome"], "completed", turn)
        return called, events[-1]["turns"]

    def test_a_conversation_with_a_tool_round(self):
        self.serve()
        called, turns = self.converse("--say", "turn on the lamp", "--say", "turn on the lamp")
        self.assertEqual(called, ["self.lamp.turn_on"] * 2)
        self.recogniser.stop()
        self.voice.stop()
        self.assertFalse([line for line in self.server.log if "an engine failed" in line])
        self.assertEqual([event["language"] for event in self.recogniser.of_type("transcribe")], ["en", "en"])
        self.assertEqual([event["name"] for event in self.recogniser.of_type("transcribe")], ["fixed", "fixed"])
        for event in self.recogniser.of_type("audio-stop"):
            self.assertGreater(event["seconds"], 0.5)
        spoken = self.voice.of_type("synthesize")
        self.assertEqual([event["text"] for event in spoken], [text for turn in turns for text in turn["replies"]])
        self.assertEqual({event["voice"]["name"] for event in spoken}, {"hum"})
        self.speech_was_asked_for(len(spoken))

    def speech_was_asked_for(self, texts):
        self.assertFalse(self.voice.of_type("synthesize-start"))
        self.assertEqual(len(self.voice.of_type("describe")), 1, "asked once, not for each session or text")

    def test_the_embedded_engines_stand_in_when_the_servers_are_gone(self):
        self.serve()
        self.recogniser.stop()
        self.voice.stop()
        called, _ = self.converse("--say", "turn on the lamp")
        self.assertEqual(called, ["self.lamp.turn_on"])

    def check(self):
        return subprocess.run([BUILD / "parley", "check", "--online", "--config", CONFIG], capture_output=True,
                              text=True, timeout=2 * PATIENCE, check=False)

    def test_check_asks_both(self):
        asked = self.check()
        self.assertEqual(asked.returncode, 0, asked.stdout + asked.stderr)
        self.assertRegex(asked.stdout, r'whisper \(wyoming\): \d+ ms, heard "Turn on the lamp."')
        self.assertRegex(asked.stdout, r"piper \(wyoming\): \d+ ms, \d+ ms of sound at 22050 Hz")
        self.recogniser.stop()
        self.voice.stop()
        asked = self.check()
        self.assertEqual(asked.returncode, 1)
        for peer in (self.recogniser, self.voice):
            self.assertIn(f"FAILED: {peer.uri} cannot be reached", asked.stdout)


class StreamingTest(WyomingTest):
    arguments = ("--streaming",)
    streaming = "on"

    def speech_was_asked_for(self, texts):
        for kind in ("synthesize-start", "synthesize-chunk", "synthesize-stop"):
            self.assertEqual(len(self.voice.of_type(kind)), texts, kind)


if __name__ == "__main__":
    unittest.main()
