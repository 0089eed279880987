"""Conversations that outlive their session, and `parley history`."""

import json
import pathlib
import stat
import subprocess
import tempfile
import unittest

from harness import BUILD, PATIENCE, SIMULATED, Server, run_device

DEVICE = "aa:bb:cc:00:00:07"


class HistoryTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.config = self.directory / "test.yaml"
        self.write_config("history: {file: history.db}\n")

    def write_config(self, history):
        """The simulated model answers by the number of the user's messages that it was told."""
        text = SIMULATED.read_text().replace(
            'replies: [{text: "This answer takes a little while to say."}]',
            'replies: [{text: "I am told of one."}, {text: "I am told of two."}, {text: "I am told of three."}]')
        self.assertIn("told of two", text)
        self.config.write_text(text + history)

    def serve(self):
        server = Server(self.config)
        self.addCleanup(server.directory.cleanup)
        self.addCleanup(server.stop)
        return server

    def talk(self, server, device=DEVICE):
        events, code, error = run_device(server, "--device-id", device, "--say", "hello")
        self.assertEqual(code, 0, error)
        return [reply for turn in events[-1]["turns"] for reply in turn["replies"]]

    def history(self, *arguments, code=0):
        ran = subprocess.run([BUILD / "parley", "history", "--config", self.config, *arguments], text=True,
                             capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout if code == 0 else ran.stderr

    def test_a_conversation_goes_on_after_a_restart(self):
        server = self.serve()
        self.assertEqual(self.talk(server), ["I am told of one."])
        self.assertEqual(self.talk(server), ["I am told of two."])
        self.assertEqual(server.stop(), 0)
        shown = self.history(DEVICE)
        self.assertIn("you     hello", shown)
        self.assertIn("parley  I am told of two.", shown)
        self.assertEqual(stat.S_IMODE((self.directory / "history.db").stat().st_mode), 0o600)

        server = self.serve()
        self.assertEqual(self.talk(server), ["I am told of three."])
        self.assertEqual(self.talk(server, "aa:bb:cc:00:00:08"), ["I am told of one."])
        # While it is running:
        devices = [json.loads(line) for line in self.history("--json").splitlines()]
        self.assertEqual([(entry["device"], entry["turns"]) for entry in devices],
                         [(DEVICE, 3), ("aa:bb:cc:00:00:08", 1)])
        exported = self.directory / "export.jsonl"
        self.history(DEVICE.upper(), "--export", exported, "--delete")
        self.assertEqual(stat.S_IMODE(exported.stat().st_mode), 0o600)
        turns = [json.loads(line) for line in exported.read_text().splitlines()]
        self.assertEqual([turn["user"] for turn in turns], ["hello"] * 3)
        self.assertEqual(turns[2]["reply"], [{"role": "assistant", "text": "I am told of three."}])
        self.assertIn("no conversation of " + DEVICE, self.history(DEVICE, code=2))
        self.assertEqual(self.talk(server), ["I am told of one."], "what was deleted is forgotten")
        self.assertEqual(server.stop(), 0)

    def test_in_memory_it_goes_on_until_the_server_stops(self):
        self.write_config("")
        server = self.serve()
        self.assertEqual(self.talk(server), ["I am told of one."])
        self.assertEqual(self.talk(server), ["I am told of two."])
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.talk(self.serve()), ["I am told of one."])
        self.assertIn("history.file is not set", self.history(code=2))

    def test_off_each_session_begins_from_nothing(self):
        self.write_config("history: {enabled: false, file: history.db}\n")
        server = self.serve()
        self.assertEqual(self.talk(server), ["I am told of one."])
        self.assertEqual(self.talk(server), ["I am told of one."])
        self.assertFalse((self.directory / "history.db").exists())

    def test_mistakes_are_told(self):
        self.assertIn("nothing was kept yet", self.history(DEVICE, code=2))
        server = self.serve()
        self.talk(server)
        self.assertEqual(server.stop(), 0)
        self.assertIn("which device?", self.history("--delete", code=2))
        self.assertIn("did you mean " + DEVICE, self.history(DEVICE[:-1] + "9", code=2))
        exists = self.directory / "there"
        exists.write_text("precious")
        self.assertIn("File exists", self.history(DEVICE, "--export", exists, "--delete", code=2))
        self.assertEqual(exists.read_text(), "precious")
        self.assertIn("1 turn,", self.history(), "nothing was deleted without its export")
        (self.directory / "history.db").write_text("x" * 5000)
        self.assertIn("damaged", self.history(code=2))

    def test_a_file_that_cannot_be_used_is_refused_at_start(self):
        self.write_config("history: {file: nowhere/history.db}\n")
        ran = subprocess.run([BUILD / "parley", "serve", "--config", self.config, "--listen", "127.0.0.1:0"],
                             text=True, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("history.file", ran.stderr)
        self.assertIn("there is no directory", ran.stderr)
        self.assertEqual(len(ran.stderr.strip().splitlines()), 1, ran.stderr)


if __name__ == "__main__":
    unittest.main()
