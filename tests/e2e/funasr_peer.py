"""A FunASR server as its protocol describes it, that hears what it is told: for tests of the client."""

import asyncio
import json
import threading

import websockets

PACKET = 1920


class FunAsrPeer:
    """Runs in a thread, on a loopback port.

    `runtime`: "cpp" marks the last result with is_final and always sends one; "python" says with it whether somebody
    still speaks, and has no word about nothing. `increments` are said one by one, each after ten packets of audio; then
    `segment` replaces them.
    """

    def __init__(self, runtime="cpp", increments=("turn on", " the lamp"), segment="Turn on the lamp.", tls=None):
        self.runtime, self.increments, self.segment, self.tls = runtime, increments, segment, tls
        self.complaints = []
        self.configurations = []
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)

        async def listen():
            self.server = await websockets.serve(self._serve, "127.0.0.1", 0, subprotocols=["binary"], ssl=self.tls,
                                                 ping_interval=None)
            self.port = self.server.sockets[0].getsockname()[1]
            self.url = f"{'wss' if self.tls else 'ws'}://127.0.0.1:{self.port}"
            ready.set()

        self.loop.run_until_complete(listen())
        self.loop.run_forever()
        self.loop.close()

    def stop(self):
        async def close():
            self.server.close()
            await self.server.wait_closed()
            self.loop.stop()

        if self.thread.is_alive():
            asyncio.run_coroutine_threadsafe(close(), self.loop)
            self.thread.join()

    async def _serve(self, socket, _path=None):
        try:
            await self._listen(socket)
        except websockets.ConnectionClosed:
            pass
        except Exception as failure:
            self.complaints.append(repr(failure))
            raise

    async def _listen(self, socket):
        configuration = json.loads(await socket.recv())
        self.configurations.append(configuration)
        mode = configuration["mode"]
        if configuration["is_speaking"] is not True or configuration["wav_format"] != "pcm":
            self.complaints.append(f"wrong first message {configuration}")
        left = list(self.increments)
        packets = 0

        async def say(pass_, text, speaking):
            is_final = speaking if self.runtime == "python" else not speaking
            name = pass_ if mode != "2pass" else "2pass-" + pass_
            await socket.send(json.dumps({"mode": name, "text": text, "wav_name": configuration["wav_name"],
                                          "is_final": is_final}))

        async for message in socket:
            if isinstance(message, str):
                if json.loads(message) != {"is_speaking": False}:
                    self.complaints.append(f"unexpected {message}")
                if mode != "online":
                    await say("offline", self.segment, False)
                elif self.runtime == "cpp":
                    await say("online", "".join(left), False)
                left = []
                continue
            packets += 1
            if len(message) != PACKET:
                self.complaints.append(f"a packet of {len(message)} bytes")
            if mode != "offline" and packets % configuration["chunk_interval"] == 0 and left:
                await say("online", left.pop(0), True)
