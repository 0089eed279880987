"""Engines behind the Wyoming protocol that fail: a recogniser and a voice.

An event is a line of JSON with the lengths of what follows, data as JSON and a payload. A fault is drawn for each
connection: it serves one utterance or one text."""

import asyncio
import contextlib
import json
import random
import socket

from chaos_peer import HEARD, tone

GONE = 0.05  # seconds in which nobody listens
FIRST, SECOND = HEARD[:7], HEARD[7:]


def event(kind, data=None, payload=b"", **header):
    text = json.dumps(data).encode() if data else b""
    header = {"type": kind, "version": "1.5.2", "data_length": len(text), "payload_length": len(payload), **header}
    return json.dumps(header).encode() + b"\n" + text + payload


async def read_event(reader):
    header = json.loads(await reader.readuntil(b"\n"))
    data = await reader.readexactly(header.get("data_length", 0))
    await reader.readexactly(header.get("payload_length", 0))
    return header["type"], json.loads(data or b"{}")


NO_EVENTS = [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\xff\xfe" * 1000 + b"\n", b"null\n", b"{}\n", b'{"type": 7}\n',
             b'{"type": "transcript", "data": []}\n', event("error", data_length=-1), event("error", data_length="7"),
             event("error", payload_length=1 << 40), b'{"type": "error", "data_length": 5}\nhello']


class WyomingPeer:
    """Serves one role on a loopback port, in the running event loop."""

    def __init__(self, faults):
        self.faults = faults
        self.random = random.Random(0)
        self.goes = False  # with the next connection that it took
        self.connections = set()

    async def start(self):
        # Holds the port while nobody listens, so that connections are refused then.
        self.holder = self._bound(0)
        self.port = self.holder.getsockname()[1]
        self.url = f"tcp://127.0.0.1:{self.port}"
        self.listening = asyncio.create_task(self._listen())

    @staticmethod
    def _bound(port):
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind(("127.0.0.1", port))
        return bound

    async def _listen(self):
        """asyncio's own server does not bear to be closed while somebody comes."""
        while True:
            self.goes = False
            with self._bound(self.port) as listener:
                listener.listen(100)
                listener.setblocking(False)
                while not self.goes:
                    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
                    task = asyncio.create_task(self._connection(connection))
                    self.connections.add(task)
                    task.add_done_callback(self.connections.discard)
            await asyncio.sleep(GONE)

    async def stop(self):
        self.listening.cancel()
        await asyncio.wait([self.listening, *self.connections])
        self.holder.close()

    async def _connection(self, connection):
        reader, writer = await asyncio.open_connection(sock=connection)
        fault = self.faults.draw(self.name)
        strikes = fault.moment(self.says) if fault else None
        if fault and fault.kind == "busy":  # there is no word for it
            strikes = -1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if strikes != -1 or await self._fail(reader, writer, b"", fault):
                await self._converse(reader, writer, fault, strikes)
        writer.close()

    async def _converse(self, reader, writer, fault, strikes):
        said = 0
        async with contextlib.aclosing(self.answer(reader, fault)) as messages:
            async for message in messages:
                if said == strikes and not await self._fail(reader, writer, message, fault):
                    return
                writer.write(message)
                await writer.drain()
                said += 1

    async def _fail(self, reader, writer, message, fault):
        """Before `message`. True: the connection goes on."""
        luck = fault.luck
        if fault.kind == "malformed":
            writer.write(luck.choice(NO_EVENTS + self.broken))
            return True
        if fault.kind == "error":
            said = luck.choice(({"text": "The engine broke", "code": "engine"}, {"text": 7}, None))
            writer.write(event("error", said))
            return False
        if message and luck.random() < 0.8:
            writer.write(message[:luck.randrange(len(message))])
        if fault.kind == "stall":
            await reader.read()  # until the other side loses patience
        elif luck.random() < 0.5:
            writer.transport.abort()
        if fault.kind == "busy" and fault.late:
            self.goes = True
        return False


class Recogniser(WyomingPeer):
    """Some stream what they hear, some do not."""

    name = "rhasspy"
    says = 4
    broken = [event("transcript"), event("transcript", {"text": 5}), event("transcript", {"text": None}),
              event("transcript-chunk", {"txt": HEARD}), b'{"type": "transcript", "data": {"text": "\xff\xfe"}}\n']

    async def answer(self, reader, fault):
        streams = fault is not None or self.random.random() < 0.5
        heard = False
        while (kind := (await read_event(reader))[0]) != "audio-stop":
            if kind == "audio-chunk" and streams and not heard:
                heard = True
                yield event("transcript-start", {"language": "en"})
                yield event("transcript-chunk", {"text": FIRST})
        if streams:
            yield event("transcript-chunk", {"text": SECOND})
        yield event("transcript", {"text": HEARD, "language": "en"})
        if streams:
            yield event("transcript-stop")


class Voice(WyomingPeer):
    """Takes texts in both ways."""

    name = "piper"
    says = 6
    rate = 22050
    format = {"rate": rate, "width": 2, "channels": 1}
    broken = [event("audio-chunk", None, bytes(2048)), event("audio-chunk", {**format, "rate": 7}, bytes(2048)),
              event("audio-chunk", {**format, "rate": "fast"}, bytes(2048)), event("audio-chunk", format),
              event("audio-chunk", {**format, "width": 4}, bytes(2048)), event("audio-start", {"rate": rate}),
              event("audio-start", {**format, "rate": 16000}), event("audio-chunk", format, b"\x01")]

    def __init__(self, faults):
        super().__init__(faults)
        self.audio = tone(self.rate, 300)

    async def answer(self, reader, _fault):
        streams = False
        while True:
            kind, _ = await read_event(reader)
            if kind == "describe":
                yield event("info", {"tts": [{"name": "hum", "supports_synthesize_streaming": True,
                                              "voices": [{"name": "hum", "languages": ["en"]}]}]})
            streams = streams or kind == "synthesize-start"
            if kind == "synthesize-stop" or (kind == "synthesize" and not streams):
                yield event("audio-start", self.format)
                for at in range(0, len(self.audio), 2048):
                    yield event("audio-chunk", self.format, self.audio[at:at + 2048])
                yield event("audio-stop")
            if kind == "synthesize-stop":
                yield event("synthesize-stopped")
                streams = False
