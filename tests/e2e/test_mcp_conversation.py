"""Spoken commands through the simulated device that call tools of MCP servers, real and misbehaving, and its own."""

import concurrent.futures
import json
import os
import pathlib
import tempfile
import unittest

from aimock import Aimock
from harness import Server, run_device
from mcp_peers import Misbehaving, Tap, configuration, everything, free_port, modern

DEVICE = "02:00:00:00:00:01"
LAMP = {"name": "self_lamp_turn_on", "arguments": {}}
ANSWER = "Here is your answer."


def tool(name, **arguments):
    return {"name": name, "arguments": arguments}


def calls(words, *tools):
    return {"match": {"userMessage": words}, "response": {"toolCalls": list(tools)}}


class ConversationTest(unittest.TestCase):
    """A model that calls the tools that a fixture says when it is told certain words, and then gives its answer."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        os.environ["no_proxy"] = "127.0.0.1"

    def peer(self, peer):
        self.addCleanup(peer.stop)
        return peer

    def begin(self, servers, fixtures, heard, devices=None, **session):
        """`heard`: what the recogniser hears, turn by turn; of a device: its own."""
        answer = {"match": {"endpoint": "chat", "hasToolResult": True}, "response": {"content": ANSWER}}
        self.model = Aimock([answer, *fixtures])
        self.addCleanup(self.model.stop)
        recogniser = {"type": "simulated_asr", "delay": "20ms"}
        devices = devices or {}
        config = configuration(
            self.directory, servers,
            auth={"tokens": [{"name": "test", "secret": "${PARLEY_TOKEN:-}"}]}, log={"level": "trace"},
            detector={"end_silence": "300ms"}, server={"io_threads": 1},
            session={"slow_tool_after": "0s", "tool_timeout": "3s", **session},
            engines={"asr": {**recogniser, "texts": heard}, "tts": {"type": "simulated_tts", "delay": "5ms"},
                     "gpt": {"type": "openai", "base_url": self.model.url + "/v1", "model": "gpt-4.1-mini"},
                     **{f"asr_{words[0]}": {**recogniser, "texts": words[1]} for words in devices.values()}},
            roles={"asr": "asr", "llm": "gpt", "tts": "tts"},
            devices={device: {"roles": {"asr": f"asr_{words[0]}"}} for device, words in devices.items()})
        self.server = Server(config)
        self.addCleanup(self._stop)
        for key in servers:
            if key not in ("gone", "private"):
                self.connected(key)

    def _stop(self):
        code = self.server.stop()
        self.server.directory.cleanup()
        self.assertEqual(code, 0, "\n".join(self.server.log[-40:]))

    def connected(self, key, after=0):
        """Waits until its tools were listed."""
        self.server.wait_for_log(f"tools were listed server={key}", after)

    def converse(self, turns=1, *arguments, device=DEVICE):
        said = ["--say", "here we go"] * turns
        events, code, error = run_device(self.server, "--device-id", device, *said, *arguments)
        self.assertEqual(code, 0, error + "\n".join(self.server.log[-20:]))
        self.assertEqual(events[-1]["violations"], 0)
        names = [event.get("event") for event in events]
        self.assertEqual(names.count("tts_start"), names.count("tts_stop"))
        self.assertEqual(len(events[-1]["turns"]), turns)
        return events[-1]["turns"]

    def logged(self, device=DEVICE):
        return [turn for turn in self.server.turns() if turn["device"].lower() == device.lower()]

    def chats(self, words):
        """The requests to the model about a turn in which this was said."""
        return [chat["body"] for chat in self.model.asked("/v1/chat/completions")
                if [said for said in chat["body"]["messages"] if said["role"] == "user"][-1]["content"] == words]

    def offered(self, words):
        return {tool["function"]["name"] for tool in self.chats(words)[0].get("tools", [])}

    def told(self, words):
        """What the model was told of the results of its calls in that turn."""
        messages = self.chats(words)[-1]["messages"]
        last = max(i for i, message in enumerate(messages) if message["role"] == "user")
        return [message["content"] for message in messages[last:] if message["role"] == "tool"]


class EverythingTest(ConversationTest):
    mode = "streamableHttp"

    def setUp(self):
        super().setUp()
        self.everything = self.peer(everything(self.mode))
        self.tap = self.peer(Tap(self.everything))

    def test_tools_of_a_server_of_the_device_and_of_both(self):
        add = tool("all__get-sum", a=2, b=40)
        self.begin({"all": self.tap.url},
                   [calls("add them", add), calls("light please", LAMP), calls("do both", add, LAMP),
                    calls("a picture", tool("all__get-tiny-image")),
                    calls("wrong", tool("all__get-sum", a="x"), tool("all__no_such_tool"))],
                   ["add them", "light please", "do both", "a picture", "wrong"])
        turns = self.converse(5)
        for turn in turns:
            self.assertEqual(" ".join(turn["replies"]), ANSWER)
        self.assertEqual([[call["name"] for call in turn["tool_calls"]] for turn in turns],
                         [[], ["self.lamp.turn_on"], ["self.lamp.turn_on"], [], []])
        logged = self.logged()
        self.assertEqual({turn["outcome"] for turn in logged}, {"completed"})
        self.assertEqual([[(call["where"], call["ok"]) for call in turn["tools"]] for turn in logged[:4]],
                         [[("all", True)], [("device", True)], [("all", True), ("device", True)], [("all", True)]])
        self.assertEqual([call["ok"] for call in logged[4]["tools"]], [False, False])
        self.assertEqual(self.told("add them"), ["The sum of 2 and 40 is 42."])
        self.assertEqual(self.told("do both"), ["The sum of 2 and 40 is 42.", "true"])
        self.assertIn("[an image, image/png]", self.told("a picture")[0])
        self.assertLess(len(self.told("a picture")[0]), 500, "not the image itself")
        self.assertIn("no tool named all__no_such_tool", self.told("wrong")[1])

    def test_a_server_that_goes_and_comes_back(self):
        add = tool("all__get-sum", a=1, b=2)
        self.begin({"all": self.everything.url},
                   [calls("first", add), calls("second", add, LAMP), calls("third", add), calls("fourth", add)],
                   ["first", "second", "third", "fourth"])
        self.converse()
        self.assertIn("all__get-sum", self.offered("first"))
        self.everything.stop()
        self.server.wait_for_log("an MCP server is lost server=all")
        self.converse()
        self.assertNotIn("all__get-sum", self.offered("second"), "tools of a server that is not there")
        self.assertIn("self_lamp_turn_on", self.offered("second"))
        self.assertEqual(self.told("second"), ["There is no tool named all__get-sum.", "true"])
        before = len(self.server.log)
        self.everything.start()
        self.connected("all", before)
        self.converse()
        self.assertEqual(self.told("third"), ["The sum of 1 and 2 is 3."])
        # It forgets its sessions and is there again at once.
        before = len(self.server.log)
        self.everything.restart()
        self.connected("all", before)
        self.converse()
        self.assertEqual(self.told("fourth"), ["The sum of 1 and 2 is 3."])
        self.assertEqual([turn["outcome"] for turn in self.logged()], ["completed"] * 4)

    def test_an_interruption_cancels_the_call(self):
        slow = tool("all__trigger-long-running-operation", duration=60, steps=2)
        self.begin({"all": {"url": self.tap.url, "timeout": "60s"}}, [calls("wait", slow), calls("go on", LAMP)],
                   ["wait", "go on"], tool_timeout="60s", slow_tool_after="200ms")
        turns = self.converse(2, "--interrupt-after", "100")
        self.assertTrue(turns[0]["interrupted"])
        self.assertEqual(" ".join(turns[1]["replies"]), ANSWER)
        self.tap.heard.wait_for("notifications/cancelled")
        self.assertEqual([turn["outcome"] for turn in self.logged()], ["interrupted", "completed"])


class EverythingSseTest(EverythingTest):
    mode = "sse"


class ModernTest(ConversationTest):
    def setUp(self):
        super().setUp()
        self.modern = self.peer(modern())

    def test_results(self):
        self.begin({"new": self.modern.url},
                   [calls("data", tool("new__weather")), calls("trouble", tool("new__fail"), LAMP),
                    calls("progress", tool("new__slow", steps=3, pause=0.1)), calls("size", tool("new__ask"))],
                   ["data", "trouble", "progress", "size"])
        self.converse(4)
        self.assertIn("21", self.told("data")[0])
        self.assertEqual(self.told("trouble"), ["The oven is on fire.", "true"])
        self.assertEqual(self.told("progress"), ["Done in 3 steps."])
        self.assertEqual(self.told("size"), ['large, state "1" ✓'])
        self.assertEqual([[call["ok"] for call in turn["tools"]] for turn in self.logged()],
                         [[True], [False, True], [True], [True]])

    def test_a_list_that_changes(self):
        self.begin({"new": self.modern.url}, [calls("grow", tool("new__grow")), calls("use it", tool("new__grown"))],
                   ["grow", "use it"])
        self.converse()
        self.assertNotIn("new__grown", self.offered("grow"))
        self.server.wait_for_log("tools were listed server=new tools=11")
        self.converse()
        self.assertEqual(self.told("use it"), ["Here I am."])

    def test_an_interruption_cancels_the_call(self):
        self.begin({"new": {"url": self.modern.url, "timeout": "60s"}},
                   [calls("wait", tool("new__slow", steps=1, pause=60)), calls("go on", LAMP)], ["wait", "go on"],
                   tool_timeout="60s", slow_tool_after="200ms")
        self.assertTrue(self.converse(2, "--interrupt-after", "100")[0]["interrupted"])
        self.modern.said.wait_for('"aborted"')

    def test_who_may_use_it_and_what_the_log_shows(self):
        tap = self.peer(Tap(self.modern))
        self.begin({"new": {"url": tap.url, "headers": {"X-Api-Key": "k-12345"}, "token": "t-67890", "deny": ["fail"],
                            "devices": ["AA:BB:*"]},
                    "private": {"url": self.modern.url, "allow_private_network": False}},
                   [calls("hello", LAMP), calls("hi", tool("new__add", a=1, b=1)), calls("hey", tool("new__fail"))],
                   ["hello"], devices={"aa:bb:cc:dd:ee:ff": ("known", ["hi", "hey"])})
        self.converse()
        self.assertFalse([name for name in self.offered("hello") if name.startswith("new__")])
        self.converse(2, device="aa:bb:cc:dd:ee:ff")
        self.assertIn("new__add", self.offered("hi"))
        self.assertNotIn("new__fail", self.offered("hi"))
        self.assertEqual(self.told("hi"), ["The sum is 2."])
        self.assertIn("no tool named new__fail", self.told("hey")[0])
        tap.heard.wait_for("t-67890")
        self.server.wait_for_log("allow_private_network")
        log = "\n".join(self.server.log)
        self.assertNotIn("12345", log)
        self.assertNotIn("67890", log)


class TroubleTest(ConversationTest):
    def test_every_way_to_misbehave(self):
        odd = self.peer(Misbehaving())
        devices = {f"02:00:00:00:01:{i:02x}": (name, [f"use {name}", "light please"])
                   for i, name in enumerate(odd.tools)}
        orders = [calls(f"use {name}", tool(f"odd__{name}"), LAMP) for name in odd.tools]
        self.begin({"odd": {"url": odd.url, "timeout": "2s"}, "gone": f"http://127.0.0.1:{free_port()}/mcp"},
                   [*orders, calls("light please", LAMP)], ["nothing"], devices=devices)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            talks = {device: pool.submit(self.converse, 2, device=device) for device in devices}
        for device, (name, _) in devices.items():
            with self.subTest(name):
                turns = talks[device].result()
                self.assertEqual([" ".join(turn["replies"]) for turn in turns], [ANSWER, ANSWER])
                self.assertEqual([[call["name"] for call in turn["tool_calls"]] for turn in turns],
                                 [["self.lamp.turn_on"]] * 2, "the device's own tools go on working")
                first, second = self.logged(device)
                self.assertEqual((first["outcome"], second["outcome"]), ("completed", "completed"))
                good = name in ("late", "long_text", "no_content")
                self.assertEqual([(call["where"], call["ok"]) for call in first["tools"]],
                                 [("odd", good), ("device", True)])
                said = self.told(f"use {name}")[0]
                self.assertLess(len(said), 17000 if good else 400)
                self.assertNotIn("<html", said)


if __name__ == "__main__":
    unittest.main()
