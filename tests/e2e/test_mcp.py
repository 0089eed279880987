"""`parley mcp list` and `call` against real MCP servers of all eras, and one that misbehaves."""

import json
import pathlib
import subprocess
import tempfile
import time
import unittest

from harness import BUILD, PATIENCE
from mcp_peers import Misbehaving, Tap, configuration, everything, free_port, modern


class McpTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def configure(self, **servers):
        self.config = configuration(self.directory, servers)

    def peer(self, peer):
        self.addCleanup(peer.stop)
        return peer

    def start(self, *arguments):
        return subprocess.Popen([BUILD / "parley", "mcp", arguments[0], "--config", self.config, *arguments[1:]],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_mcp(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    def listed(self):
        code, out, err = self.run_mcp("list")
        self.assertEqual(code, 0, out + err)
        return out

    def call(self, server, tool, **arguments):
        """The tool's result, and what was said about its progress."""
        code, out, err = self.run_mcp("call", server, tool, json.dumps(arguments))
        self.assertEqual(code, 0, out + err)
        return json.loads(out), err

    def failed(self, server, tool, **arguments):
        """The words of a call that failed, of the server or about it."""
        code, out, err = self.run_mcp("call", server, tool, json.dumps(arguments))
        self.assertEqual(code, 1, out + err)
        if out:
            return json.loads(out)["content"][0]["text"]
        self.assertEqual(len(err.strip().splitlines()), 1, "one sentence: " + err)
        self.assertLess(len(err), 400)
        return err.strip()

    def words(self, server, tool, **arguments):
        return self.call(server, tool, **arguments)[0]["content"][0]["text"]


class EverythingTest(McpTest):
    """The reference server in the current transport of its era."""

    mode = "streamableHttp"
    era = "legacy (2025-11-25)"

    def setUp(self):
        super().setUp()
        self.server = self.peer(everything(self.mode))
        self.tap = self.peer(Tap(self.server))
        self.configure(all=self.tap.url)

    def test_list(self):
        out = self.listed()
        self.assertIn(f"all: {self.era}, mcp-servers/everything", out)
        self.assertIn("all__get-sum", out)

    def test_results(self):
        self.assertEqual(self.words("all", "get-sum", a=2, b=40), "The sum of 2 and 40 is 42.")
        image = self.call("all", "get-tiny-image")[0]["content"][1]
        self.assertEqual((image["type"], image["mimeType"]), ("image", "image/png"))
        weather = self.call("all", "get-structured-content", location="Chicago")[0]
        self.assertEqual(weather["structuredContent"]["temperature"], 36)

    def test_progress_extends_the_deadline(self):
        self.configure(all={"url": self.tap.url, "timeout": "1500ms"})
        result, progress = self.call("all", "trigger-long-running-operation", duration=3, steps=6)
        self.assertIn("Duration: 3 seconds, Steps: 6", result["content"][0]["text"])
        self.assertEqual(progress.count("…"), 6, progress)

    def test_without_progress_it_is_cancelled_at_the_deadline(self):
        self.configure(all={"url": self.tap.url, "timeout": "500ms"})
        began = time.monotonic()
        said = self.failed("all", "trigger-long-running-operation", duration=30, steps=1)
        self.assertIn("did not answer within", said)
        self.assertLess(time.monotonic() - began, 20)
        self.tap.heard.wait_for("notifications/cancelled")

    def test_unknown_tools_and_bad_arguments(self):
        self.assertIn("nothing-of-the-kind", self.failed("all", "nothing-of-the-kind"))
        self.assertIn("expected number", self.failed("all", "get-sum", a="two", b=40))

    def test_what_the_server_asks_of_us(self):
        # It asks only clients that say that they can answer; we can with the defaults of a form.
        self.assertIn("all__trigger-elicitation-request", self.listed())
        result = json.dumps(self.call("all", "trigger-elicitation-request")[0])
        self.assertNotIn("error", result.lower())
        self.assertNotIn("all__trigger-sampling-request", self.listed())

    def test_a_restart_in_the_middle_of_a_call(self):
        process = self.start("call", "all", "trigger-long-running-operation", json.dumps({"duration": 30, "steps": 60}))
        self.assertIn("… 1", process.stderr.readline())
        self.server.restart()
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assertEqual(len([line for line in err.splitlines() if line.startswith("parley: ")]), 1, err)
        self.assertEqual(self.words("all", "get-sum", a=1, b=1), "The sum of 1 and 1 is 2.")


class EverythingSseTest(EverythingTest):
    """The same server behind the deprecated HTTP+SSE."""

    mode = "sse"
    era = "sse (2025-11-25)"


class ModernTest(McpTest):
    """A server of 2026-07-28 that speaks nothing older."""

    def setUp(self):
        super().setUp()
        self.server = self.peer(modern())
        self.configure(new=self.server.url)

    def test_list(self):
        out = self.listed()
        self.assertIn("new: modern (2026-07-28), modern 1.2.3", out)
        self.assertIn("new__drop_safely  The same, harmless.", out)

    def test_results(self):
        self.assertEqual(self.words("new", "add", a=2, b=40), "The sum is 42.")
        self.assertEqual(self.call("new", "picture")[0]["content"][1]["mimeType"], "image/png")
        self.assertEqual(self.call("new", "weather")[0]["structuredContent"], {"celsius": 21})
        self.assertEqual(self.failed("new", "fail"), "The oven is on fire.")
        self.assertEqual(self.words("new", "ask"), 'large, state "1" ✓')

    def test_arguments_as_headers(self):
        self.assertEqual(self.words("new", "where", region="eu-west"), "eu-west and eu-west")
        self.assertEqual(self.words("new", "where", region="Zürich"), "Zürich and =?base64?WsO8cmljaA==?=")

    def test_progress_extends_the_deadline(self):
        self.configure(new={"url": self.server.url, "timeout": "1500ms"})
        result, progress = self.call("new", "slow", steps=6, pause=0.5)
        self.assertEqual(result["content"][0]["text"], "Done in 6 steps.")
        self.assertIn("… 6 step 6", progress)

    def test_without_progress_it_is_cancelled_at_the_deadline(self):
        self.configure(new={"url": self.server.url, "timeout": "500ms"})
        self.assertIn("did not answer within", self.failed("new", "slow", steps=1, pause=30))
        self.server.said.wait_for('"aborted"')

    def test_a_lost_answer(self):
        self.assertIn("broke", self.failed("new", "drop"))
        self.assertEqual(self.words("new", "drop"), "call 2", "it was called once, and once again by us")
        self.assertEqual(self.words("new", "drop_safely"), "call 2", "what is harmless is asked again")

    def test_unknown_tools_and_bad_arguments(self):
        self.assertIn("nope not found", self.failed("new", "nope"))
        self.assertIn("data/a must be number", self.failed("new", "add", a="two", b=40))

    def test_a_restart_in_the_middle_of_a_call(self):
        process = self.start("call", "new", "slow", json.dumps({"steps": 300, "pause": 0.1}))
        self.assertIn("… 1", process.stderr.readline())
        self.server.restart()
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (1, ""), err)
        self.assertFalse([line for line in self.server.said.all if '"begun"' in line], "it was not asked again")


class MisbehavingTest(McpTest):
    def test_each_call_fails_with_a_sentence(self):
        server = self.peer(Misbehaving())
        self.configure(odd={"url": server.url, "timeout": "2s", "connect_timeout": "2s"})
        self.assertIn("odd__half_json", self.listed())
        self.assertIn("Better late", self.words("odd", "late"))
        self.assertEqual(len(self.words("odd", "long_text")), 5 << 18, "here everything is shown")
        self.assertEqual(self.call("odd", "no_content")[0]["content"], "nothing of the kind", "and as it is")
        for tool in server.tools:
            if tool in ("late", "long_text", "no_content"):
                continue
            with self.subTest(tool):
                began = time.monotonic()
                code, out, err = self.run_mcp("call", "odd", tool)
                self.assertEqual(code, 1, out + err)
                self.assertLess(len(err), 400)
                self.assertNotIn("<", err.replace("<!DOCTYPE", ""))
                self.assertLess(time.monotonic() - began, 20)

    def test_a_server_that_is_none(self):
        for broken in ("html", "half_json", "wrong_id", "error_500", "empty", "cut_off", "closed", "silent",
                       "endless_stream", "endless_event", "huge", "deep", "no_json_rpc", "not_an_object"):
            with self.subTest(broken):
                server = Misbehaving(broken)
                self.configure(odd={"url": server.url, "timeout": "500ms", "connect_timeout": "500ms"})
                code, out, err = self.run_mcp("list")
                server.stop()
                self.assertEqual(code, 1, out + err)
                self.assertRegex(out, r"^odd: NOT USABLE: [a-zA-Z]")
                self.assertLess(len(out), 400)

    def test_nobody_there(self):
        self.configure(gone=f"http://127.0.0.1:{free_port()}/mcp", nowhere="http://nowhere.invalid/mcp")
        code, out, _ = self.run_mcp("list")
        self.assertEqual(code, 1)
        self.assertRegex(out, "gone: NOT USABLE: cannot connect to http://127.0.0.1")
        self.assertIn("nowhere: NOT USABLE: cannot connect to http://nowhere.invalid", out)


class PolicyTest(McpTest):
    def setUp(self):
        super().setUp()
        self.server = self.peer(modern())

    def test_allowed_denied_and_asked_for(self):
        self.configure(new={"url": self.server.url, "allow": ["a*", "drop*"], "deny": ["*_safely"], "confirm": ["ad?"]})
        out = self.listed()
        self.assertIn("new__add (asks first)  Adds", out)
        self.assertIn("new__ask  Asks", out)
        self.assertIn("new__drop  Loses", out)
        self.assertNotIn("drop_safely", out)
        self.assertNotIn("picture", out)
        self.assertIn("that the configuration keeps out", out)

    def test_private_addresses_are_refused(self):
        for host in ("127.0.0.1", "localhost"):
            self.configure(new={"url": self.server.url.replace("127.0.0.1", host), "allow_private_network": False})
            code, out, _ = self.run_mcp("list")
            self.assertEqual(code, 1, out)
            self.assertIn("an address that is not public", out)
            self.assertIn("allow_private_network", out)

    def test_what_is_sent_along(self):
        tap = self.peer(Tap(self.server))
        self.configure(new={"url": tap.url, "headers": {"X-Api-Key": "k-12345"}, "token": "t-67890"})
        out = self.listed()
        self.assertNotIn("12345", out)
        tap.heard.wait_for("X-Api-Key: k-12345")
        tap.heard.wait_for("Authorization: Bearer t-67890")

    def test_mistakes_on_the_command_line(self):
        self.configure(web=self.server.url)
        self.assertEqual(self.run_mcp("call", "wep", "add"),
                         (2, "", 'parley: there is no MCP server "wep" (did you mean web?)\n'))
        code, out, err = self.run_mcp("call", "web", "add", "[1]")
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("no JSON object", err)


if __name__ == "__main__":
    unittest.main()
