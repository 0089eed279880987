"""Whole conversations with a recogniser behind a WebSocket: FunASR, as its protocol describes it."""

import os
import pathlib
import ssl
import subprocess
import tempfile
import unittest

from funasr_peer import FunAsrPeer
from harness import BUILD, PATIENCE, ROOT, Server, run_device

CONFIG = ROOT / "tests/e2e/streaming.yaml"


class Peers(unittest.TestCase):
    def environment(self, **values):
        for name in ("FUNASR_URL", "FUNASR_MODE", "FUNASR_CA", "FUNASR_VERIFY", "DRAFT_AFTER", "TEST_LLM"):
            os.environ.pop(name, None)
        os.environ.update(values)

    def peer(self, **options):
        peer = FunAsrPeer(**options)
        self.addCleanup(peer.stop)
        return peer


class ConversationTest(Peers):
    def converse(self, peer, *says, config=CONFIG, **environment):
        """The turns as they were logged."""
        self.environment(FUNASR_URL=peer.url, **environment)
        server = Server(config)
        try:
            events, code, error = run_device(server, *(word for say in says for word in ("--say", say)))
            self.assertEqual(code, 0, error + "\n".join(server.log[-20:]))
            self.assertEqual(events[-1]["violations"], 0)
            called = [event["text"] for event in events if event.get("event") == "tool_call"]
            self.assertEqual(called, ["self.lamp.turn_on"] * len(says))
            for turn in events[-1]["turns"]:
                self.assertEqual(turn["replies"], ["The lamp is on."])
            self.assertEqual(peer.complaints, [])
            turns = server.turns()
            self.assertEqual([turn["outcome"] for turn in turns], ["completed"] * len(says), turns)
            return events, turns, server.log
        finally:
            self.assertEqual(server.stop(), 0, "\n".join(server.log[-40:]))
            server.directory.cleanup()

    def heard(self, events):
        return [event["text"] for event in events if event.get("event") == "stt"]

    def test_every_mode_and_runtime(self):
        for runtime in ("cpp", "python"):
            for mode in ("2pass", "online", "offline"):
                with self.subTest(runtime=runtime, mode=mode):
                    peer = self.peer(runtime=runtime)
                    events, _, _ = self.converse(peer, "turn on the lamp", "turn on the lamp", FUNASR_MODE=mode)
                    said = "turn on the lamp" if mode == "online" else "Turn on the lamp."
                    self.assertEqual(self.heard(events), [said] * 2)
                    self.assertEqual(peer.configurations[0]["mode"], mode)
                    self.assertEqual(peer.configurations[0]["chunk_size"], [5, 10, 5])
                    self.assertEqual(peer.configurations[0]["hotwords"], '{"lamp":20}')
                    self.assertEqual(peer.configurations[0]["hotword"], "lamp")

    def test_the_model_is_asked_ahead_on_what_was_heard_so_far(self):
        _, without, _ = self.converse(self.peer(), "turn on the lamp")
        self.assertNotIn("draft_saved_ms", without[0])
        _, drafted, _ = self.converse(self.peer(), "turn on the lamp", DRAFT_AFTER="100ms")
        self.assertGreater(drafted[0]["draft_saved_ms"], 0, drafted)

    def test_the_next_engine_takes_over_when_it_is_gone(self):
        peer = self.peer()
        peer.stop()
        with tempfile.TemporaryDirectory() as directory:
            config = pathlib.Path(directory) / "fallback.yaml"
            config.write_text(CONFIG.read_text().replace('asr: funasr, llm: "${TEST_LLM:-llm}"',
                                                         "asr: [funasr, sphinx], llm: [commands, llm]"))
            _, _, log = self.converse(peer, "turn on the lamp", config=config)
        self.assertTrue([line for line in log if "an engine failed" in line])


class CheckTest(Peers):
    """`parley check --online`, and certificates."""

    def check(self, **environment):
        self.environment(TEST_LLM="greeter", **environment)
        ran = subprocess.run([BUILD / "parley", "check", "--online", "--config", CONFIG], capture_output=True,
                             text=True, timeout=PATIENCE, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def certificate(self, directory, name):
        """A certificate that nobody has signed but itself, and a context that serves it."""
        key, certificate = directory / "key.pem", directory / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=test", "-addext",
                        f"subjectAltName=IP:{name}"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return certificate, context

    def test_the_engine_is_asked(self):
        code, said = self.check(FUNASR_URL=self.peer().url)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r'asr  funasr \(funasr\): \d+ ms, heard "Turn on the lamp\."')

    def test_certificates(self):
        with tempfile.TemporaryDirectory() as directory:
            certificate, tls = self.certificate(pathlib.Path(directory), "127.0.0.1")
            peer = self.peer(tls=tls)
            code, said = self.check(FUNASR_URL=peer.url)
            self.assertEqual(code, 1, said)
            self.assertRegex(said, r"the certificate of wss://127\.0\.0\.1:\d+ is not trusted: self-signed certificate")
            code, said = self.check(FUNASR_URL=peer.url, FUNASR_CA=str(certificate))
            self.assertEqual(code, 0, said)
            self.assertNotIn("not verified", said)
            code, said = self.check(FUNASR_URL=peer.url, FUNASR_VERIFY="false")
            self.assertEqual(code, 0, said)
            self.assertIn("not verified", said)

    def test_a_certificate_of_another_host(self):
        with tempfile.TemporaryDirectory() as directory:
            certificate, tls = self.certificate(pathlib.Path(directory), "127.0.0.9")
            code, said = self.check(FUNASR_URL=self.peer(tls=tls).url, FUNASR_CA=str(certificate))
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"is not trusted: .*mismatch")

    def test_a_server_without_tls(self):
        peer = self.peer()
        code, said = self.check(FUNASR_URL=peer.url.replace("ws://", "wss://"))
        self.assertEqual(code, 1, said)
        self.assertIn("no TLS with", said)


if __name__ == "__main__":
    unittest.main()
