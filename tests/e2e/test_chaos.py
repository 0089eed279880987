"""Conversations with engines that fail: of what they are asked, a tenth each ends in a 500, a 429, nonsense, a broken
connection and silence, or in what that is without HTTP. Prints the figures.

PARLEY_CHAOS_TURNS: how many turns each of the runs has. PARLEY_CHAOS_SEED: another course of events."""

import asyncio
import collections
import json
import os
import pathlib
import re
import tempfile
import unittest
import urllib.request

import websockets

import opus
from chaos_peer import SENTENCES, ChaosPeer, Faults
from chaos_websocket import WebSocketPeer
from chaos_wyoming import Recogniser, Voice
from harness import BUILD, HELLO, Server, device_headers

TURNS = int(os.environ.get("PARLEY_CHAOS_TURNS", 250))
SEED = int(os.environ.get("PARLEY_CHAOS_SEED", 1))
DEVICES = min(40, max(2, TURNS // 5))
IO_THREADS = 2
APOLOGY = "Sorry, something went wrong."
SLOW_TOOL = "One moment, please."
INTENTS = ("The lamp is on.",)  # the answer of the embedded engine

# In seconds. What HTTP may take in all is what bounds a stream that has begun.
LIMIT = {"asr": 1.5, "llm": 1.5, "tts": 1.5}
TOTAL = 2.0
TOOL = 2.0
MARGIN = 1.0  # of config::patience_with
ROUNDS = 2
SPOKEN = 3    # sentences of an answer that breaks, and the apology
PLAYED = 4.0  # what they last
# Sanitizers keep freed memory; the leak check at the end is theirs.
BINARY = (BUILD / "parley").read_bytes()
SANITIZED = b"__asan_init" in BINARY or b"__tsan_init" in BINARY
# What the allocator keeps settles at the busiest moment of each thread, which may come late: 1 to 2 MB were seen, the same
# after 1,000 turns as after 5,000. A leak of 5 KB a turn is more than this in 1,000.
TOLERANCE_KB = 4096


def longest_turn(config):
    """From the end of the utterance to `tts stop` when everything takes as long as it may."""
    choices = [config["roles"], *(device["roles"] for device in config["devices"].values())]
    patience = {role: max(len(roles.get(role, ())) for roles in choices) * limit + MARGIN
                for role, limit in LIMIT.items()}
    return (patience["asr"] + ROUNDS * (patience["llm"] + TOTAL) + (ROUNDS - 1) * (TOOL + 0.5)
            + SPOKEN * (patience["tts"] + TOTAL) + PLAYED)


def device_id(index):
    return f"02:c0:00:00:00:{index:02x}"


TIMEOUTS = {"connect_timeout": "1s", "first_byte_timeout": "500ms", "idle_timeout": "500ms",
            "total_timeout": f"{round(TOTAL * 1000)}ms"}


def configuration(peer, with_fallback):
    http = {**TIMEOUTS, "retries": 1}
    openai = {"type": "openai", "base_url": peer.url + "/v1", "api_key": "sk-test", "model": "m", **http}

    def role(name, stand_in):
        return [name, stand_in] if with_fallback else [name]

    return {
        "server": {"io_threads": IO_THREADS, "max_connections_per_address": 200, "connections_per_second": 200},
        "auth": {"tokens": [{"name": "test", "secret": "${PARLEY_TOKEN:-}"}]},
        # In a long run the texts that are kept would look like a leak.
        "history": {"max_turns_per_device": 4},
        "session": {**{f"{role}_timeout": f"{round(limit * 1000)}ms" for role, limit in LIMIT.items()},
                    "tool_timeout": f"{round(TOOL * 1000)}ms", "apology": APOLOGY, "slow_tool_phrase": SLOW_TOOL},
        "engines": {
            "whisper": openai, "gpt": openai, "nova": {**openai, "voice": "nova"},
            "rachel": {"type": "elevenlabs", "base_url": peer.url, "api_key": "xi-test", "voice": "rachel",
                       "sample_rate": 16000, **http},
            "ear": {"type": "simulated_asr", "text": "turn on the lamp", "delay": "10ms"},
        },
        "roles": {"asr": role("whisper", "ear"), "llm": role("gpt", "commands"), "tts": role("nova", "voice")},
        "devices": {device_id(i): {"roles": {"tts": role("rachel", "voice")}} for i in range(0, DEVICES, 2)},
    }


def streaming_configuration(peer, recogniser, voice, sockets, with_fallback):
    """The same model, the other recognisers and voices, by turns."""
    config = configuration(peer, with_fallback)
    wyoming = {"type": "wyoming", **TIMEOUTS, "retries": 1}
    funasr = {"type": "funasr", "settle": "100ms", **TIMEOUTS}
    config["engines"].update({
        "rhasspy": {**wyoming, "uri": recogniser.url},
        "paraformer": {**funasr, "url": sockets.url + "/2pass", "mode": "2pass"},
        "sensevoice": {**funasr, "url": sockets.url + "/offline", "mode": "offline"},
        "realtime": {"type": "openai_realtime", "url": sockets.url + "/v1/realtime?intent=transcription",
                     "api_key": "sk-test", "model": "m", **TIMEOUTS},
        "piper": {**wyoming, "uri": voice.url, "voice": "hum"},
        "kokoro": {**wyoming, "uri": voice.url, "voice": "hum", "streaming": "on"},
    })
    lists = (["rhasspy"], ["paraformer", "realtime"], ["realtime", "sensevoice"], ["sensevoice", "rhasspy"])
    config["devices"] = {
        device_id(i): {"roles": {"asr": [*lists[i % 4], "ear"] if with_fallback else lists[i % 4][:1],
                                 "tts": [("piper", "kokoro")[i // 4 % 2], *["voice"] * with_fallback]}}
        for i in range(DEVICES)}
    return config


class Turn:
    """What a device saw of one."""

    def __init__(self):
        self.starts = self.stops = self.frames = 0
        self.sentences = []
        self.samples = collections.deque()
        self.took = None
        self.wrong = []

    def heard(self):
        """An answer may have broken off; a clip is the apology of a voice that failed before its first sound."""
        if APOLOGY in self.sentences:
            return "apology"
        return "answer" if self.sentences else "clip"


class Device:
    TOOLS = [{"name": "self.lamp.turn_on", "description": "Turns the lamp on",
              "inputSchema": {"type": "object", "properties": {}}}]

    def __init__(self, server, index, patience, utterance):
        self.server, self.index, self.patience, self.utterance = server, index, patience, utterance
        self.turns = []
        self.ended = None  # why, before its time
        self.calls = 0

    async def connect(self):
        self.socket = await websockets.connect(self.server.url, extra_headers=device_headers(device_id(self.index)),
                                               max_size=None, open_timeout=60)
        await self.socket.send(json.dumps({**HELLO, "features": {"mcp": True}}))
        hello = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
        self.decoder = opus.Decoder(hello["audio_params"]["sample_rate"])

    async def close(self):
        await self.socket.close()

    async def talk(self, budget):
        """Turns until the budget is used up."""
        try:
            for _ in budget:
                self.turns.append(Turn())
                await self._turn(self.turns[-1])
        except websockets.ConnectionClosed as closed:
            self.ended = str(closed)
        except TimeoutError:
            self.ended = f"no tts stop within {self.patience} s"

    async def _turn(self, turn):
        await self._say({"type": "listen", "state": "start", "mode": "manual"})
        for packet in self.utterance:
            await self.socket.send(packet)
        await self._say({"type": "listen", "state": "stop"})
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(self.patience):
            while not turn.stops:
                await self._take(await self.socket.recv(), turn)
        turn.took = asyncio.get_running_loop().time() - began

    async def _take(self, message, turn):
        if isinstance(message, bytes):
            turn.frames += 1
            turn.samples.extend(self.decoder.decode(message)[::16])
            if not turn.starts:
                turn.wrong.append("audio outside of a reply")
            return
        message = json.loads(message)
        if message["type"] == "mcp":
            await self._answer(message["payload"])
        elif message["type"] == "tts" and message["state"] == "start":
            turn.starts += 1
        elif message["type"] == "tts" and message["state"] == "stop":
            turn.stops += 1
        elif message["type"] == "tts" and message["state"] == "sentence_start":
            turn.sentences.append(message["text"])

    async def _answer(self, asked):
        results = {"initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "lamp", "version": "1"}},
                   "tools/list": {"tools": self.TOOLS},
                   "tools/call": {"content": [{"type": "text", "text": "true"}], "isError": False}}
        if asked["method"] == "tools/call":
            self.calls += 1
        if "id" in asked:
            await self._say({"type": "mcp", "payload": {"jsonrpc": "2.0", "id": asked["id"],
                                                        "result": results[asked["method"]]}})

    async def _say(self, message):
        await self.socket.send(json.dumps({"session_id": "", **message}))


def status(server, key):
    """A number of /proc/PID/status; VmRSS is in KB."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"^{key}:\s*(\d+)", text, re.M).group(1))


def descriptors(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def metrics(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer:
        return answer.read().decode()


def plain(why, peers):
    """What failed, without what is another number each time."""
    for peer in peers:
        why = why.replace(peer.url.split("//")[1], peer.name)
    return re.sub(r"\d+ bytes", "N bytes", why)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else None


class ChaosTest(unittest.TestCase):
    with_fallback = True
    engines = ("whisper", "gpt", "nova", "rachel")
    peers = (ChaosPeer,)
    threads = 0  # that are made when an engine is first asked, and kept

    def configuration(self, *peers):
        return configuration(*peers, self.with_fallback)

    def test_every_turn_ends_and_nothing_is_left(self):
        os.environ["no_proxy"] = "127.0.0.1"
        with tempfile.TemporaryDirectory() as directory:
            self.config = pathlib.Path(directory) / "chaos.yaml"
            asyncio.run(self.run_chaos())

    async def run_chaos(self):
        faults = Faults(SEED)
        peers = [peer(faults) for peer in self.peers]
        for peer in peers:
            await peer.start()
        config = self.configuration(*peers)
        self.config.write_text(json.dumps(config))
        server = await asyncio.to_thread(Server, self.config)
        report = {"run": type(self).__name__, "fallback": self.with_fallback, "devices": DEVICES,
                  "patience_s": longest_turn(config)}
        try:
            report["rss_kb"] = {"start": status(server, "VmRSS")}
            descriptors_before, threads_before = descriptors(server), status(server, "Threads")
            utterance = opus.encode(opus.vowels(0.6))
            devices = [Device(server, i, report["patience_s"], utterance) for i in range(DEVICES)]
            await asyncio.gather(*(device.connect() for device in devices))
            for name, turns in (("warm", TURNS // 5), ("end", TURNS - TURNS // 5)):
                budget = iter(range(turns))
                await asyncio.gather(*(device.talk(budget) for device in devices))
                report["rss_kb"][name] = status(server, "VmRSS")
            report["metrics"] = await asyncio.to_thread(metrics, server)
            await asyncio.gather(*(device.close() for device in devices))
            await asyncio.to_thread(self.wait_for_the_last_to_leave, server)
            report["rss_kb"]["left"] = status(server, "VmRSS")
            report["descriptors"] = [descriptors_before, descriptors(server)]
            report["threads"] = [threads_before, status(server, "Threads")]
            report["log"] = server.turns()
        finally:
            code = await asyncio.to_thread(server.stop)
            for peer in peers:
                await peer.stop()
        self.server = server
        self.judge(report, devices, peers, code)

    @staticmethod
    def wait_for_the_last_to_leave(server):
        with server.log_grew:
            left = server.log_grew.wait_for(
                lambda: sum("session ended" in line for line in server.log) >= DEVICES, 60)
        assert left, "a session did not end with its device"

    def judge(self, report, devices, peers, code):
        turns = [turn for device in devices for turn in device.turns]
        took = [turn.took for turn in turns if turn.took is not None]
        log = report.pop("log")
        text = report.pop("metrics")
        report["turns"] = len(turns)
        report["heard"] = collections.Counter(turn.heard() for turn in turns)
        report["sentences"] = collections.Counter(text for turn in turns for text in turn.sentences)
        report["logged"] = collections.Counter(line["outcome"] for line in log)
        report["why"] = collections.Counter(plain(line.get("why", ""), peers) for line in log)
        report["to_tts_stop_s"] = {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99), "max": max(took)}
        report["requests"] = peers[0].faults.table()
        report["engine_errors"] = re.findall(r"^parley_engine_errors_total\{(.*)\} (\d+)", text, re.M)
        report["tool_calls"] = sum(device.calls for device in devices)
        print(json.dumps(report, indent=1))
        with self.subTest("the server"):
            self.assertEqual(code, 0, "\n".join(self.server.log[-40:]))
        with self.subTest("sessions live"):
            self.assertEqual([device.ended for device in devices if device.ended], [])
            self.assertIn(f"parley_sessions {DEVICES}\n", text)
        self.assertEqual(len(turns), TURNS)
        with self.subTest("every turn"):
            for turn in turns:
                said = f"{turn.sentences} {turn.frames} frames, {turn.wrong}"
                self.assertEqual((turn.starts, turn.stops, turn.wrong), (1, 1, []), said)
                self.assertGreater(turn.frames, 0, said)
                self.assertGreater(opus.loudness(turn.samples), 100, said)
                self.assertLessEqual(turn.took, report["patience_s"], said)
                self.assertLessEqual(set(turn.sentences), {*SENTENCES, *INTENTS, APOLOGY, SLOW_TOOL})
        with self.subTest("the turn log"):
            self.assertEqual(len(log), TURNS)
            self.assertLessEqual(set(report["logged"]), {"completed", "failed"})
            for line in log:
                self.assertEqual(line["outcome"] == "failed", bool(line.get("why")), line)
                self.assertTrue("tts_stop_ms" in line or self.was_early(line), line)
        with self.subTest("the metrics"):
            for engine in self.engines:
                self.assertIn(f'engine="{engine}"', text)
            self.assertIn(f'parley_turns_total{{outcome="completed"}} {report["logged"]["completed"]}', text)
        with self.subTest("what is left"):
            self.assertLessEqual(report["threads"][1], report["threads"][0] + self.threads)
            self.assertLessEqual(report["descriptors"][1], report["descriptors"][0] + DEVICES,
                                 "connections to the peer are kept, but not more than were used at once")
            if not SANITIZED:
                self.assertLessEqual(report["rss_kb"]["end"], report["rss_kb"]["warm"] + TOLERANCE_KB)
                self.assertLessEqual(report["rss_kb"]["left"], report["rss_kb"]["warm"] + TOLERANCE_KB)
        self.judge_failures(report)

    @staticmethod
    def was_early(_line):
        """Whether the turn failed before the utterance was over, from where its times count."""
        return False

    def judge_failures(self, report):
        """The next engine answers, unless something was delivered already: only what breaks in the middle is a failure."""
        for why in report["why"]:
            self.assertRegex(why, "^$|stopped in the middle|broke: transfer closed|broke in the middle|did not complete|"
                                  "not what a chat completion looks like|out of memory")


class WithoutFallbackTest(ChaosTest):
    with_fallback = False

    def judge_failures(self, report):
        self.assertGreater(report["heard"]["apology"], 0)
        self.assertGreater(report["heard"]["clip"], 0)


class Streaming:
    """Wyoming, FunASR and OpenAI's realtime transcription."""

    engines = ("rhasspy", "paraformer", "realtime", "sensevoice", "gpt", "piper", "kokoro")
    peers = (ChaosPeer, Recogniser, Voice, WebSocketPeer)
    threads = IO_THREADS  # the resolvers'

    def configuration(self, *peers):
        return streaming_configuration(*peers, self.with_fallback)

    @staticmethod
    def was_early(line):
        """A recogniser that listens while somebody speaks may fail then."""
        return line["outcome"] == "failed" and not any(key.endswith("_ms") for key in line)


class StreamingTest(Streaming, ChaosTest):
    def judge_failures(self, report):
        """No recogniser is ever to blame: what is still unsure goes to the next one."""
        voice = "tcp://piper "
        super().judge_failures({"why": [why for why in report["why"] if not why.startswith(voice)]})
        for why in report["why"]:
            self.assertNotRegex(why, f"{voice}(cannot be reached|did not answer in time|sent no audio)")


class StreamingWithoutFallbackTest(Streaming, WithoutFallbackTest):
    pass



if __name__ == "__main__":
    unittest.main()
