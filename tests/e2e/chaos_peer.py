"""Engines on the network that fail: OpenAI's and ElevenLabs' HTTP interfaces with faults drawn at random.

`Faults` knows nothing of HTTP, so that peers of other protocols can draw from it too."""

import array
import asyncio
import collections
import contextlib
import json
import math
import random

HEARD = "turn on the lamp"
SENTENCES = ("The lamp is on now.", "Enjoy the light!")
TOOL = "self_lamp_turn_on"


class Fault:
    """One failure. `late`: in the middle of the answer, where the kind allows it. `luck`: for its details."""

    def __init__(self, kind, late, luck):
        self.kind, self.late, self.luck = kind, late, luck

    def moment(self, says):
        """Which of at least `says` messages of the answer it strikes; -1: the connection itself."""
        return self.luck.randrange(1, says) if self.late and says > 1 else self.luck.choice((-1, 0))


class Faults:
    """What goes wrong with each request: each kind with probability `rate`, else nothing."""

    KINDS = ("error", "busy", "malformed", "disconnect", "stall")

    def __init__(self, seed, rate=0.1):
        self.random = random.Random(seed)
        self.rate = rate
        self.counts = collections.Counter()

    def draw(self, engine):
        """A Fault, or None: this request is served."""
        at = self.random.random() / self.rate if self.rate else len(self.KINDS)
        fault = None
        if at < len(self.KINDS):
            fault = Fault(self.KINDS[int(at)], self.random.random() < 0.5, random.Random(self.random.random()))
        self.counts[engine, fault.kind if fault else "none"] += 1
        return fault

    def table(self):
        """{engine: {kind: requests}}"""
        out = {}
        for (engine, kind), count in sorted(self.counts.items()):
            out.setdefault(engine, {})[kind] = count
        return out


class Answer:
    """A body in the pieces in which it is sent."""

    def __init__(self, kind, pieces):
        self.kind, self.pieces = kind, [piece.encode() if isinstance(piece, str) else piece for piece in pieces]


def tone(rate, milliseconds):
    samples = (round(8000 * math.sin(i * 440 * 2 * math.pi / rate)) for i in range(rate * milliseconds // 1000))
    return array.array("h", samples).tobytes()


def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}) + "\n\n"


HTML = "<!DOCTYPE html><html><body><h1>Bad gateway</h1>" + "<p>Sorry.</p>" * 500 + "</body></html>"


class ChaosPeer:
    """Serves on a loopback port, in the running event loop."""

    name = "http"

    def __init__(self, faults):
        self.faults = faults
        self.random = random.Random(0)
        self.audio = {rate: tone(rate, 300) for rate in (16000, 24000)}

    async def start(self):
        self.server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def stop(self):
        self.server.close()
        await self.server.wait_closed()

    async def _connection(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await self._request(reader, writer):
                pass
        writer.close()

    async def _request(self, reader, writer):
        """True: the connection may serve another one."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if method == "HEAD":  # a connection that is opened ahead
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return True
        engine, answer, broken = self._serve(target, body)
        fault = self.faults.draw(engine)
        if fault is None:
            return await self._send(writer, answer)
        return await self._fail(reader, writer, answer, broken, fault)

    # --- what the engines say -----------------------------------------------------------------------------

    def _serve(self, target, body):
        """The engine's name, what it says, and what it says when it is out of its mind."""
        if target == "/v1/audio/transcriptions":
            text = json.dumps({"text": HEARD})
            return "transcriptions", Answer("application/json", [text[:12], text[12:]]), [
                Answer("application/json", [text[:-4]]), Answer("text/html", [HTML]),
                Answer("application/json", [b'{"text": "\xff\xfe"}']), Answer("application/json", ['{"text": 5}']),
                Answer("application/json", ["null"]), Answer("application/json", [])]
        if target == "/v1/chat/completions":
            return "chat", *self._chat(json.loads(body))
        if target == "/v1/audio/speech":
            return "speech", *self._speech(24000)
        if target.startswith("/v1/text-to-speech/"):
            return "elevenlabs", *self._speech(16000)
        raise AssertionError(target)

    def _chat(self, asked):
        if asked["messages"][-1]["role"] != "tool" and self.random.random() < 0.4:
            call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": TOOL, "arguments": ""}}
            events = [event({"role": "assistant", "tool_calls": [call]}),
                      event({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
                      event({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}), event({}, "tool_calls")]
        else:
            words = " ".join(SENTENCES)
            events = [event({"role": "assistant", "content": ""})]
            events += [event({"content": words[at:at + 8]}) for at in range(0, len(words), 8)] + [event({}, "stop")]
        events.append("data: [DONE]\n\n")
        kind = "text/event-stream"
        cut = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"The\n\n"
        return Answer(kind, events), [
            Answer(kind, [cut]), Answer(kind, [*events[:3], cut, *events[3:]]), Answer("text/html", [HTML]),
            Answer(kind, ["data: {\"choices\": 7}\n\n", *events]), Answer(kind, ["data: [DONE]\n\n"]), Answer(kind, []),
            Answer(kind, [b"\x00\xff\xfe" * 1000]),
            Answer(kind, [*events[:2], 'data: {"error": {"message": "out of memory", "type": "server_error"}}\n\n'])]

    def _speech(self, rate):
        pcm = self.audio[rate]
        pieces = [pcm[at:at + 4001] for at in range(0, len(pcm), 4001)]  # samples are cut in two
        return Answer("audio/pcm", pieces), [
            Answer("text/html", [HTML]), Answer("application/json", ['{"error": {"message": "no such voice"}}']),
            Answer("audio/pcm", [HTML]), Answer("application/octet-stream", ['{"detail": "no such voice"}']),
            Answer("audio/pcm", []), Answer("audio/pcm", [b"\x01"]), Answer("audio/mpeg", [b"ID3\x04" + bytes(4000)]),
            Answer("audio/pcm", [pcm[:-1]])]

    # --- how they say it, and fail to ---------------------------------------------------------------------

    async def _send(self, writer, answer, status="200 OK", extra="", stop_after=None):
        """With `stop_after`, no more than that share of the body, and no end. True: the connection goes on."""
        whole = b"".join(answer.pieces)
        framing = self.random.choice(("length", "chunked", "chunked", "close"))
        head = {"length": f"Content-Length: {len(whole)}\r\n", "chunked": "Transfer-Encoding: chunked\r\n",
                "close": "Connection: close\r\n"}[framing]
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {answer.kind}\r\n{extra}{head}\r\n".encode())
        left = len(whole) if stop_after is None else int(len(whole) * stop_after)
        for piece in answer.pieces:
            piece = piece[:left]
            left -= len(piece)
            if framing != "chunked":
                writer.write(piece)
            elif piece:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if stop_after is None and framing == "chunked":
            writer.write(b"0\r\n\r\n")
        return stop_after is None and framing != "close"

    async def _fail(self, reader, writer, answer, broken, fault):
        luck = fault.luck
        if fault.kind == "error":
            body = luck.choice((Answer("application/json", ['{"error": {"message": "The engine broke"}}']),
                                Answer("text/html", [HTML]), Answer("text/plain", [])))
            return await self._send(writer, body, "500 Internal Server Error")
        if fault.kind == "busy":
            wait = luck.choice(("", "Retry-After: 1\r\n", "Retry-After: 30\r\n"))
            body = Answer("application/json", ['{"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}'])
            return await self._send(writer, body, "429 Too Many Requests", wait)
        if fault.kind == "malformed":
            return await self._send(writer, luck.choice(broken))
        if fault.late:
            await self._send(writer, answer, stop_after=luck.uniform(0.05, 0.95))
        if fault.kind == "stall":
            await reader.read(1)  # until the other side loses patience
        elif luck.random() < 0.5:
            writer.transport.abort()
        return False
