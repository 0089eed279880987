"""`parley` itself: what it says and how it ends when it cannot start."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import BUILD, PATIENCE, ROOT, SIMULATED, Server


def parley(*arguments, **environment):
    return subprocess.run([BUILD / "parley", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, **environment}, check=False)


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) if hasattr(
            self, "enterContext") else pathlib.Path(tempfile.mkdtemp())

    def config(self, text):
        file = self.directory / "test.yaml"
        file.write_text(text)
        return file

    def refused(self, *arguments):
        ran = parley(*arguments)
        self.assertEqual(ran.returncode, 2, ran)
        lines = ran.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, "one sentence: " + ran.stderr)
        return lines[0]

    def test_online_every_engine_is_asked(self):
        ran = parley("check", "--online", "--config", str(ROOT / "config/parley.yaml"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn('heard "turn on the lamp"', ran.stdout)
        self.assertRegex(ran.stdout, r"tts  voice \(flite\): \d+ ms, \d+ ms of sound")

    def test_online_an_engine_that_does_not_answer_is_named(self):
        broken = SIMULATED.read_text().replace("type: simulated_tts,", "type: simulated_tts, fail: true,")
        ran = parley("check", "--online", "--config", str(self.config(broken)))
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn("tts  tts (simulated_tts): FAILED", ran.stdout)
        self.assertNotIn("ok:", ran.stdout)

    def test_the_default_configuration_is_valid(self):
        ran = parley("check", "--config", str(ROOT / "config/parley.yaml"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("ok:", ran.stdout)

    def test_every_example_is_valid(self):
        for example in sorted((ROOT / "config/examples").glob("*.yaml")):
            if example.name.endswith("-intents.yaml"):
                continue
            with self.subTest(example.name):
                ran = parley("check", "--config", str(example), OPENAI_API_KEY="sk-test",
                             DASHSCOPE_API_KEY="sk-test", HOME_ASSISTANT_TOKEN="t-1")
                self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_an_example_without_its_key(self):
        environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
        ran = subprocess.run([BUILD / "parley", "check", "--config", ROOT / "config/examples/openai.yaml"],
                             capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("OPENAI_API_KEY", ran.stderr)

    def test_the_engines_that_the_default_configuration_only_describes_are_valid(self):
        text = (ROOT / "config/parley.yaml").read_text()
        described = text[text.index("  # gpt:\n"):text.index("# Which engine does what")]
        # What is indented below a name, and the names themselves; the rest explains.
        block = re.sub(r"^  # (?=  |[a-z]+:$)", "  ", described, flags=re.MULTILINE)
        config = self.config("engines:\n" + block + "roles: {asr: [whisper, live, funasr, wyoming], llm: gpt, "
                             "tts: [nova, rachel, piper]}\n")
        ran = parley("check", "--config", str(config), OPENAI_API_KEY="sk-test", ELEVENLABS_API_KEY="xi-test")
        self.assertEqual(ran.returncode, 0, ran.stderr + block)

    def test_the_mcp_server_that_the_default_configuration_only_describes_is_valid(self):
        text = (ROOT / "config/parley.yaml").read_text()
        described = text[text.index("# mcp_servers:\n"):text.index("mcp_servers: {}")]
        block = re.sub(r"^# ?", "", described, flags=re.MULTILINE)
        ran = parley("check", "--config", str(self.config(block)), WEB_MCP_TOKEN="t-1")
        self.assertEqual(ran.returncode, 0, ran.stderr + block)
        self.assertIn("tools    of the device, and of calendar, web", ran.stdout)
        self.assertIn("WEB_MCP_TOKEN", self.refused("check", "--config", str(self.config(block))))
        for key in re.findall(r"^    (\w+): ", block, flags=re.MULTILINE):
            wrong = self.config(block.replace(f"    {key}: ", f"    x{key}: "))
            ran = parley("check", "--config", str(wrong), WEB_MCP_TOKEN="t-1")
            self.assertEqual(ran.returncode, 2, key)
            self.assertIn(key, ran.stderr)

    def test_a_missing_file(self):
        self.assertIn("nowhere.yaml", self.refused("serve", "--config", str(self.directory / "nowhere.yaml")))

    def test_a_wrong_key_with_its_place_and_the_nearest_one(self):
        said = self.refused("serve", "--config", str(self.config("server:\n  lisen: 127.0.0.1:0\n")))
        self.assertIn("test.yaml:2", said)
        self.assertIn("listen", said)

    def test_a_wrong_key_of_an_engine(self):
        said = self.refused("serve", "--config",
                            str(self.config("engines:\n  ears:\n    type: webrtc_vad\n    agressiveness: 2\n")))
        self.assertIn("aggressiveness", said)

    def test_an_unknown_engine_type(self):
        said = self.refused("serve", "--config", str(self.config("engines:\n  ears:\n    type: webrtc_vat\n")))
        self.assertIn("webrtc_vad", said)

    def test_a_port_in_use(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            said = self.refused("serve", "--config", str(SIMULATED), "--listen", f"127.0.0.1:{port}")
        self.assertIn(str(port), said)
        self.assertIn("in use", said)

    def test_a_word_without_pronunciation(self):
        file = self.config(
            "engines:\n  orders:\n    type: intents\n    builtin: false\n"
            "    intents:\n      odd: {sentences: ['frobnicate the gizmotron'], reply: 'Yes.'}\n"
            "roles: {llm: orders}\n")
        said = self.refused("check", "--config", str(file))
        self.assertIn("gizmotron", said)

    def test_without_a_token_one_is_made_up_and_shown(self):
        server = Server(token=None)
        try:
            self.assertRegex(server.said[0], r"^token [0-9a-f]{32} ")
        finally:
            self.assertEqual(server.stop(), 0)

    def test_no_auth_is_warned_about(self):
        text = SIMULATED.read_text().replace("auth:\n", "auth:\n  type: none\n")
        server = Server(self.config(text), token=None)
        try:
            server.wait_for_log("auth is none")
        finally:
            self.assertEqual(server.stop(), 0)

    def test_a_bad_file_on_reload_keeps_the_old_one(self):
        file = self.config(SIMULATED.read_text())
        server = Server(file)
        try:
            file.write_text("server: {nonsense: 1}\n")
            server.signal(signal.SIGHUP)
            server.wait_for_log("the old one stays in force")
            file.write_text(SIMULATED.read_text())
            server.signal(signal.SIGHUP)
            server.wait_for_log("was read again")
        finally:
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
