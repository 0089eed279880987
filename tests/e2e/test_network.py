"""Whole conversations with engines on the network: aimock, an independent imitation of OpenAI and ElevenLabs."""

import array
import base64
import math
import os
import subprocess
import unittest

from aimock import Aimock
from harness import BUILD, PATIENCE, ROOT, Server, run_device

ANSWER = "The lamp is on now. Enjoy the light!"


def tone(rate, seconds):
    """Base64 of 16-bit samples."""
    samples = array.array("h", (round(8000 * math.sin(i * 440 * 2 * math.pi / rate)) for i in range(rate * seconds)))
    return base64.b64encode(samples.tobytes()).decode()


FIXTURES = [
    {"match": {"endpoint": "transcription"}, "response": {"transcription": {"text": "Please turn on the lamp."}}},
    {"match": {"endpoint": "realtime-transcription"}, "response": {"transcription": {"text": "Please turn on the lamp."}}},
    {"match": {"endpoint": "speech"}, "response": {"audio": tone(24000, 1), "format": "pcm"}},
    {"match": {"endpoint": "elevenlabs-tts"}, "response": {"audio": tone(16000, 1), "format": "pcm"}},
    {"match": {"endpoint": "chat", "hasToolResult": True}, "response": {"content": ANSWER}},
    {"match": {"userMessage": "turn on the lamp"},
     "response": {"toolCalls": [{"name": "self_lamp_turn_on", "arguments": {}}]}},
]


class NetworkTest(unittest.TestCase):
    ears = "whisper"
    voice = "nova"

    def setUp(self):
        self.aimock = Aimock(FIXTURES)
        self.addCleanup(self.aimock.stop)
        os.environ["AIMOCK_URL"] = self.aimock.url
        os.environ["AIMOCK_WEBSOCKET"] = self.aimock.url.replace("http://", "ws://")
        os.environ["TEST_ASR"] = self.ears
        os.environ["TEST_VOICE"] = self.voice
        os.environ["no_proxy"] = "127.0.0.1"
        self.server = Server(ROOT / "tests/e2e/network.yaml")
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
        return called, events[-1]["turns"]

    def test_a_conversation_with_a_tool_round(self):
        called, turns = self.converse("--say", "turn on the lamp", "--say", "turn on the lamp")
        self.assertEqual(called, ["self.lamp.turn_on"] * 2)
        self.assertEqual(len(turns), 2)
        for turn in turns:
            self.assertEqual(" ".join(turn["replies"]), ANSWER)
            self.assertIsNotNone(turn["first_audio_ms"])
        for turn in self.server.turns():
            self.assertEqual(turn["outcome"], "completed", turn)
        chats = self.aimock.asked("/v1/chat/completions")
        self.assertEqual(len(chats), 4, "a round for the tool, and one for the answer, in both turns")
        self.assertTrue(chats[0]["body"]["stream"])
        self.assertIn("self_lamp_turn_on", [tool["function"]["name"] for tool in chats[0]["body"]["tools"]])
        roles = [message["role"] for message in chats[3]["body"]["messages"]]
        self.assertEqual(roles, ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool"])
        self.recognition_was_asked_for()
        self.speech_was_asked_for()
        self.assertFalse([line for line in self.server.log if "sk-test" in line or "xi-test" in line])

    def recognition_was_asked_for(self):
        self.assertEqual(len(self.aimock.asked("/v1/audio/transcriptions")), 2)

    def speech_was_asked_for(self):
        spoken = [entry["body"]["messages"][0]["content"] for entry in self.aimock.asked("/v1/audio/speech")]
        self.assertEqual(" ".join(spoken), f"{ANSWER} {ANSWER}")

    def test_the_embedded_engines_stand_in_when_the_service_is_gone(self):
        self.aimock.stop()
        called, turns = self.converse("--say", "turn on the lamp")
        self.assertEqual(called, ["self.lamp.turn_on"])
        self.assertTrue(turns[0]["replies"])
        self.assertIsNotNone(turns[0]["first_audio_ms"])
        self.assertEqual(self.server.turns()[0]["outcome"], "completed")


class ElevenLabsTest(NetworkTest):
    voice = "rachel"

    def speech_was_asked_for(self):
        spoken = self.aimock.asked("/v1/text-to-speech/rachel")
        self.assertEqual(" ".join(entry["body"]["messages"][0]["content"] for entry in spoken), f"{ANSWER} {ANSWER}")
        self.assertIn("output_format=pcm_16000", spoken[0]["path"])


class RealtimeTest(NetworkTest):
    ears = "live"

    def recognition_was_asked_for(self):
        asked = [entry for entry in self.aimock.asked("/v1/realtime") if entry["response"]["status"] == 200]
        self.assertEqual([entry["body"]["model"] for entry in asked], ["gpt-live-transcribe"] * 2)

    def test_it_can_be_checked(self):
        ran = subprocess.run([BUILD / "parley", "check", "--online", "--config", ROOT / "tests/e2e/network.yaml"],
                             capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertRegex(ran.stdout, r'asr  live \(openai_realtime\): \d+ ms, heard "Please turn on the lamp\."')


if __name__ == "__main__":
    unittest.main()
