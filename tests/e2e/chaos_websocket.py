"""Engines behind a WebSocket that fail: FunASR and OpenAI's realtime transcription.

A fault is drawn for each connection: it serves one utterance."""

import contextlib
import functools
import http
import json
import logging

import websockets

from chaos_peer import HEARD, HTML

FIRST, SECOND = HEARD[:7], HEARD[7:]
# What the library has to say of broken connections is no news here.
logging.getLogger("websockets").setLevel(logging.CRITICAL)
NO_FRAMES = [b"\x81\x02\xff\xfe",  # no UTF-8
             b"\xf1\x02{}",        # reserved bits
             b"\x80\x02{}",        # goes on with nothing
             b"\x81\x82abcd{}",    # masked by a server
             b"\x81\x7f\x80" + bytes(7)]
NO_UPGRADES = [b"220 mail.example.org ESMTP\r\n", b"\x15\x03\x01\x00\x02\x02\x46", b"\x00\xff\xfe" * 1000,
               b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               b"Sec-WebSocket-Accept: AAAA\r\n\r\n"]


class FunAsr:
    """2pass as the runtime in C++ does it, or offline as the server in Python does."""

    broken = ["{", "null", "[]", "{}", '{"text": 5, "mode": "2pass-offline"}', '{"text": "yes", "mode": "karaoke"}',
              '{"text": null, "is_final": true}', HTML, b"\x00\x01"]

    def __init__(self, name, mode):
        self.name, self.mode = name, mode
        self.says = 3 if mode == "2pass" else 1

    async def answer(self, link):
        packets = 0
        left = [FIRST, SECOND]
        async for message in link:
            packets += isinstance(message, bytes)
            if self.mode == "2pass" and packets % 4 == 3 and isinstance(message, bytes) and left:
                yield json.dumps({"mode": "2pass-online", "text": left.pop(0), "wav_name": "parley", "is_final": False})
            if isinstance(message, str) and not json.loads(message)["is_speaking"]:
                name = "2pass-offline" if self.mode == "2pass" else "offline"
                yield json.dumps({"mode": name, "text": HEARD, "wav_name": "parley", "is_final": self.mode == "2pass"})

    async def complain(self, link, kind):
        await link.close(*((1013, "Try again later") if kind == "busy" else (1011, "The engine broke")))


class Realtime:
    KIND = "conversation.item.input_audio_transcription."
    name = "realtime"
    says = 6
    broken = ["{", "null", "[]", "{}", '{"type": 7}', json.dumps({"type": KIND + "completed", "item_id": "item_1"}),
              json.dumps({"type": KIND + "completed", "transcript": 5}),
              '{"type": "error"}', '{"type": "error", "error": 7}', HTML, b"\x00\x01"]

    async def answer(self, link):
        yield self._event("session.created")
        heard = False
        async for message in link:
            kind = json.loads(message)["type"]
            if kind == "session.update":
                yield self._event("session.updated")
            elif kind == "input_audio_buffer.append" and not heard:
                heard = True
                yield self._event(self.KIND + "delta", item_id="item_1", delta=FIRST)
            elif kind == "input_audio_buffer.commit":
                yield self._event("input_audio_buffer.committed", item_id="item_1")
                yield self._event(self.KIND + "delta", item_id="item_1", delta=SECOND)
                yield self._event(self.KIND + "completed", item_id="item_1", transcript=HEARD)

    @staticmethod
    def _event(kind, **more):
        return json.dumps({"type": kind, "event_id": "event_1", **more})

    async def complain(self, link, kind):
        error = {"type": "server_error", "code": None, "message": "The engine broke"}
        if kind == "busy":
            error = {"type": "tokens", "code": "rate_limit_exceeded", "message": "Slow down"}
        await link.send(self._event("error", error=error))


class Link(websockets.WebSocketServerProtocol):
    """One connection, with what goes wrong with it."""

    def __init__(self, peer, *arguments, **options):
        super().__init__(*arguments, **options)
        self.peer = peer

    async def process_request(self, path, request_headers):
        self.engine = self.peer.engines[path.split("?")[0]]
        self.fault = self.peer.faults.draw(self.engine.name)
        self.strikes = self.fault.moment(self.engine.says) if self.fault else None
        return await self._refuse(self.fault) if self.strikes == -1 else None

    async def pong(self, data=b""):
        """Who has stalled has no word for a ping."""
        if not self.fault or self.fault.kind != "stall":
            await super().pong(data)

    async def _refuse(self, fault):
        luck = fault.luck
        body = luck.choice((b'{"error": {"message": "No"}}', HTML.encode(), b""))
        if fault.kind == "error":
            return http.HTTPStatus.INTERNAL_SERVER_ERROR, [], body
        if fault.kind == "busy":
            wait = luck.choice(([], [("Retry-After", "1")], [("Retry-After", "30")]))
            return http.HTTPStatus.TOO_MANY_REQUESTS, wait, body
        if fault.kind == "malformed":
            if luck.random() < 0.3:
                return http.HTTPStatus.OK, [], body
            self.transport.write(luck.choice(NO_UPGRADES))
            await self.reader.read(1)  # until the other side has had enough
        if fault.kind == "stall":
            await self.reader.read(1)
        if fault.kind == "disconnect" and luck.random() < 0.5:
            self.transport.abort()
        raise ConnectionResetError

    async def converse(self):
        said = 0
        with contextlib.suppress(websockets.ConnectionClosed):
            async with contextlib.aclosing(self.engine.answer(self)) as messages:
                async for message in messages:
                    if said == self.strikes and not await self._fail(message, self.fault):
                        return
                    await self.send(message)
                    said += 1

    async def _fail(self, message, fault):
        """Before `message`. True: the connection goes on."""
        luck = fault.luck
        if fault.kind in ("error", "busy"):
            await self.engine.complain(self, fault.kind)
        elif fault.kind == "malformed" and luck.random() < 0.3:
            self.transport.write(luck.choice(NO_FRAMES))
        elif fault.kind == "malformed":
            await self.send(luck.choice(self.engine.broken))
        elif fault.kind == "stall":
            async for _ in self:
                pass
        else:
            await self._break_off(message.encode(), luck)
        return fault.kind == "malformed"

    async def _break_off(self, message, luck):
        how = luck.choice(("abort", "end", "frame", "close"))
        if how == "close":
            await self.close(luck.choice((1000, 1001, 1011)))
        if how == "frame":
            self.transport.write(b"\x81\x7e" + len(message).to_bytes(2, "big") + message[:luck.randrange(len(message))])
        if how == "abort":
            self.transport.abort()
        self.transport.close()


class WebSocketPeer:
    """Serves its engines by their paths on a loopback port, in the running event loop."""

    name = "websockets"

    def __init__(self, faults):
        self.faults = faults
        self.engines = {"/v1/realtime": Realtime(), "/2pass": FunAsr("paraformer", "2pass"),
                        "/offline": FunAsr("sensevoice", "offline")}

    async def start(self):
        self.server = await websockets.serve(
            lambda link: link.converse(), "127.0.0.1", 0, create_protocol=functools.partial(Link, self),
            subprotocols=["binary"], ping_interval=None, close_timeout=1)
        self.url = f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def stop(self):
        self.server.close()
        await self.server.wait_closed()
