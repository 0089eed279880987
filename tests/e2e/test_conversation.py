"""Whole conversations of the simulated device with the embedded engines: speech in, tool calls, speech out."""

import unittest

from harness import ROOT, ServerTest, run_device


def calls(events):
    return [(event["text"], event["data"].get("arguments")) for event in events if event.get("event") == "tool_call"]


class EmbeddedTest(ServerTest):
    config = ROOT / "config/parley.yaml"

    def converse(self, *arguments):
        events, code, error = run_device(self.server, *arguments)
        self.assertEqual(code, 0, error + "\n".join(self.server.log[-20:]))
        summary = events[-1]
        self.assertEqual(summary["violations"], 0)
        return events, summary["turns"]

    def test_a_tool_call_in_every_framing_and_mode(self):
        for version, mode in (("1", "auto"), ("2", "manual"), ("3", "realtime")):
            with self.subTest(version=version, mode=mode):
                events, turns = self.converse("--version", version, "--mode", mode, "--say", "turn on the lamp")
                self.assertEqual(calls(events), [("self.lamp.turn_on", {})])
                self.assertTrue(turns[0]["replies"])
                self.assertIsNotNone(turns[0]["first_audio_ms"])

    def test_a_conversation_with_small_pages_and_short_frames(self):
        events, turns = self.converse("--tool-page", "400", "--frame-duration", "20", "--say",
                                      "set the volume to thirty percent", "--say", "turn the volume up")
        made = calls(events)
        self.assertEqual(made[0], ("self.audio_speaker.set_volume", {"volume": 30}))
        self.assertEqual(made[1][0], "self.get_device_status")
        self.assertEqual(made[2], ("self.audio_speaker.set_volume", {"volume": 40}))
        self.assertEqual(len(turns), 2)
        logged = self.server.turns()
        self.assertEqual([turn["outcome"] for turn in logged], ["completed", "completed"])
        for turn in logged:
            self.assertIn("added_ms", turn)
            self.assertNotIn("heard", turn, "texts are private by default")

    def test_an_interrupted_reply_stops(self):
        events, turns = self.converse("--interrupt-after", "300", "--say", "what can you do", "--say",
                                      "turn on the lamp")
        self.assertTrue(turns[0]["interrupted"])
        self.assertEqual(calls(events)[-1][0], "self.lamp.turn_on")
        self.assertEqual(self.server.turns()[0]["outcome"], "interrupted")

    def test_goodbye_closes(self):
        events, code, error = run_device(self.server, "--say", "goodbye")
        self.assertEqual(code, 0, error)
        self.assertTrue(events[-1]["turns"][0]["replies"])

    def test_a_wrong_token_is_a_clear_sentence(self):
        _, code, error = run_device(self.server, "--say", "hello", token="wrong")
        self.assertEqual(code, 2)
        self.assertIn("token", error)


class CoffeeTest(ServerTest):
    config = ROOT / "config/examples/coffee.yaml"

    def test_an_order(self):
        events, code, error = run_device(
            self.server, "--tools", str(ROOT / "config/examples/coffee-tools.json"), "--say",
            "can i have a small dark roast latte with some milk")
        self.assertEqual(code, 0, error)
        self.assertEqual(calls(events), [("self.coffee.order_drink",
                                          {"size": "small", "roast": "dark roast", "coffee_drink": "latte",
                                           "milk_amount": "some milk"})])


if __name__ == "__main__":
    unittest.main()
