"""Whole conversations with engines that are programs, each behind one that always fails."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import BUILD, PATIENCE, ROOT, ServerTest, run_device


class ProgramsTest(ServerTest):
    config = ROOT / "tests/e2e/programs.yaml"
    voice = "speaker"

    def setUp(self):
        os.environ["TEST_VOICE"] = self.voice
        super().setUp()

    def children(self):
        task = pathlib.Path("/proc") / str(self.server.process.pid) / "task"
        return "".join((thread / "children").read_text() for thread in task.iterdir())

    def test_a_conversation_with_a_tool(self):
        events, code, error = run_device(self.server, "--say", "turn on the lamp", "--say", "turn on the lamp")
        self.assertEqual(code, 0, error + "\n".join(self.server.log[-20:]))
        called = [event["text"] for event in events if event.get("event") == "tool_call"]
        self.assertEqual(called, ["self.lamp.turn_on"] * 2)
        for turn in events[-1]["turns"]:
            self.assertTrue(turn["replies"])
            self.assertIsNotNone(turn["first_audio_ms"])
        for turn in self.server.turns():
            self.assertEqual(turn["outcome"], "completed", turn)
        self.assertEqual(self.children(), "", "no program is left, not even as a zombie")


class RawTest(ProgramsTest):
    voice = "raw"


class CheckTest(unittest.TestCase):
    def test_a_missing_program_is_found_before_the_first_device(self):
        with tempfile.TemporaryDirectory() as directory:
            config = pathlib.Path(directory) / "missing.yaml"
            config.write_text("engines: {piper: {type: command, command: [no-such-piper]}}\nroles: {tts: piper}\n")
            ran = subprocess.run([BUILD / "parley", "check", "--config", config], capture_output=True, text=True,
                                 timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn('no program "no-such-piper" in PATH', ran.stderr + ran.stdout)
        self.assertIn("missing.yaml:1", ran.stderr + ran.stdout)


if __name__ == "__main__":
    unittest.main()
