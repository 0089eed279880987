"""Timers and reminders: spoken when they are due, or when the device comes back, once."""

import asyncio
import contextlib
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from harness import BUILD, PATIENCE, SIMULATED, Server, device, receive, run_device

DEVICE = "aa:bb:cc:00:00:09"
EMBEDDED = "auth:\n  tokens:\n    - {name: test, secret: \"${PARLEY_TOKEN:-}\"}\n"


class RemindersTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.config = self.directory / "test.yaml"
        self.file = self.directory / "reminders.db"
        self.call("parley__set_timer", "{seconds: 1}")

    def call(self, tool, arguments):
        """The simulated model calls it whatever is said."""
        text = SIMULATED.read_text().replace(
            'replies: [{text: "This answer takes a little while to say."}]',
            f'replies: [{{text: "Done.", tool_calls: [{{name: {tool}, arguments: {arguments}}}]}}]')
        self.assertIn(tool, text)
        self.config.write_text(text + "reminders: {file: reminders.db}\n")

    def serve(self):
        server = Server(self.config)
        self.addCleanup(server.directory.cleanup)
        self.addCleanup(server.stop)
        return server

    def talk(self, server, *arguments):
        events, code, error = run_device(server, "--device-id", DEVICE, *arguments)
        self.assertEqual(code, 0, error)
        return [reply for turn in events[-1]["turns"] for reply in turn["replies"]]

    def stored(self):
        with contextlib.closing(sqlite3.connect(self.file)) as database:
            return database.execute("SELECT count(*) FROM reminders").fetchone()[0]

    async def hear_one(self, server):
        """What the server says by itself, to its end."""
        async with device(server, device=DEVICE) as socket:
            said = ""
            while True:
                message = await receive(socket)
                if message["type"] == "tts" and message["state"] == "sentence_start":
                    said = message["text"]
                if message["type"] == "tts" and message["state"] == "stop":
                    return said

    def test_a_timer_speaks_on_the_device_that_set_it(self):
        server = self.serve()
        self.assertEqual(self.talk(server, "--say", "hello", "--stay", "60"), ["Done.", "Your timer is up."])
        self.assertEqual(server.stop(), 0)
        self.assertEqual([turn.get("kind") for turn in server.turns()], [None, "announcement"])
        self.assertEqual(self.stored(), 0)

    def test_one_of_a_device_that_is_away_is_said_when_it_comes_back(self):
        server = self.serve()
        self.assertEqual(self.talk(server, "--say", "hello"), ["Done."])
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.stored(), 1)
        server = self.serve()
        self.assertEqual(asyncio.run(self.hear_one(server)), "Your timer is up.")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.stored(), 0)

    def test_a_server_that_was_killed_says_it_after_its_restart(self):
        server = self.serve()
        self.talk(server, "--say", "hello")
        server.signal(signal.SIGKILL)
        server.process.wait(PATIENCE)
        self.assertEqual(asyncio.run(self.hear_one(self.serve())), "Your timer is up.")

    def test_a_mistake_of_the_models_sets_nothing(self):
        self.call("parley__set_reminder", "{text: call, at: \"2001-01-01T10:00\"}")
        server = self.serve()
        self.assertEqual(self.talk(server, "--say", "hello"), ["Done."])
        self.assertEqual(server.stop(), 0)
        self.assertFalse(server.turns()[0]["tools"][0]["ok"])
        self.assertEqual(self.stored(), 0)

    def test_the_conversation_ends_when_a_tool_ends_it(self):
        self.call("parley__end_conversation", "{}")
        server = self.serve()
        self.talk(server, "--say", "hello")
        server.wait_for_log("the conversation is over")

    def test_a_disabled_tool_does_nothing(self):
        self.config.write_text(self.config.read_text() + "tools: {disabled: [set_timer]}\n")
        server = self.serve()
        self.talk(server, "--say", "hello")
        self.assertFalse(server.turns()[0]["tools"][0]["ok"])
        self.assertEqual(self.stored(), 0)

    def test_the_embedded_engines_set_timers_by_voice(self):
        self.config.write_text(EMBEDDED)
        server = self.serve()
        replies = " ".join(self.talk(server, "--say", "set a pasta timer for two seconds", "--stay", "60"))
        self.assertEqual(replies, "The pasta timer is set for 2 seconds. Your pasta timer is up.")

    def test_a_file_that_cannot_be_used_is_refused_at_start(self):
        self.file.write_text("x" * 5000)
        ran = subprocess.run([BUILD / "parley", "serve", "--config", self.config, "--listen", "127.0.0.1:0"],
                             text=True, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("reminders.file", ran.stderr)
        self.assertIn("damaged", ran.stderr)
        self.assertEqual(len(ran.stderr.strip().splitlines()), 1, ran.stderr)


if __name__ == "__main__":
    unittest.main()
