"""The server on real sockets: pages, refusals, and devices that break every rule at once."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import unittest

import websockets

from harness import PATIENCE, ServerTest, device, device_headers, receive, run_device, until_closed


class PagesTest(ServerTest):
    def get(self, path, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def test_pages(self):
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(self.get("/readyz")[0], 200)
        status, body = self.get("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("parley_sessions 0", body)
        status, body = self.get("/", headers={"Host": "<script>"})
        self.assertIn("Parley", body)
        self.assertNotIn("<script>", body)
        self.assertEqual(self.get("/nothing")[0], 404)
        self.assertEqual(self.get("/xiaozhi/v1/")[0], 426)
        self.assertEqual(self.get("/healthz", "POST")[0], 405)
        self.assertEqual(self.get("/healthz", "HEAD"), (200, ""))

    def test_malformed_http(self):
        for request in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 20000,
                        b"GET / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"\r\n" * 5000):
            with self.subTest(request[:20]), socket.create_connection(("127.0.0.1", self.server.port)) as peer:
                peer.settimeout(PATIENCE)
                # What the server refuses it need not read: the connection may be reset while we still send.
                with contextlib.suppress(OSError):
                    peer.sendall(request)
                    peer.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    while peer.recv(65536):
                        pass
        self.assertEqual(self.get("/healthz")[0], 200)

    def test_a_connection_that_says_nothing_is_closed(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as peer:
            peer.settimeout(PATIENCE)
            self.assertEqual(peer.recv(1), b"")

    def test_refused_upgrades(self):
        async def status(path="/xiaozhi/v1/", **headers):
            try:
                async with websockets.connect(f"ws://127.0.0.1:{self.server.port}{path}",
                                              extra_headers=device_headers(**headers)):
                    return 101
            except websockets.InvalidStatusCode as refused:
                return refused.status_code

        self.assertEqual(asyncio.run(status()), 101)
        self.assertEqual(asyncio.run(status(path="/xiaozhi/v1")), 101)
        self.assertEqual(asyncio.run(status(path="/elsewhere")), 404)
        self.assertEqual(asyncio.run(status(token="wrong")), 401)
        self.assertEqual(asyncio.run(status(token="")), 401)


class DevicesTest(ServerTest):
    def test_a_second_connection_takes_the_place_of_the_first(self):
        async def go():
            async with device(self.server) as first, device(self.server, device="AA:BB:CC:00:00:01") as second:
                self.assertEqual(await until_closed(first), 1000)
                await second.send(json.dumps({"type": "listen", "state": "detect", "text": "hey"}))
                self.assertEqual((await receive(second))["text"], "hey")
        asyncio.run(go())

    def test_too_many_devices(self):
        async def go():
            sockets = []
            for number in range(8):
                context = device(self.server, device=f"aa:{number:02x}")
                sockets.append((context, await context.__aenter__()))
            with self.assertRaises(websockets.InvalidStatusCode) as refused:
                async with device(self.server, device="aa:ff"):
                    pass
            self.assertEqual(refused.exception.status_code, 503)
            for context, _ in sockets:
                await context.__aexit__(None, None, None)
        asyncio.run(go())

    def test_ten_megabytes_close_one_session_and_no_other(self):
        async def go():
            async with device(self.server, device="aa:01") as good, device(self.server, device="aa:02") as bad:
                for data in ("x" * 10_000_000, ):
                    try:
                        await bad.send(data)
                    except websockets.ConnectionClosed:
                        pass
                self.assertEqual(await until_closed(bad), 1009)
                await good.send(json.dumps({"type": "listen", "state": "detect", "text": "still here"}))
                self.assertEqual((await receive(good))["text"], "still here")
        asyncio.run(go())

    def test_a_flood_closes_one_session_and_no_other(self):
        async def go():
            async with device(self.server, device="aa:01") as good, device(self.server, device="aa:02") as bad:
                try:
                    for _ in range(500):
                        await bad.send(os.urandom(40))
                        await bad.send("{junk")
                except websockets.ConnectionClosed:
                    pass
                self.assertEqual(await until_closed(bad), 1008)
                await good.send(json.dumps({"type": "listen", "state": "detect", "text": "still here"}))
                self.assertEqual((await receive(good))["text"], "still here")
        asyncio.run(go())

    def test_no_hello(self):
        async def go():
            async with device(self.server, hello=None) as silent:
                self.assertEqual(await until_closed(silent), 1002)
        asyncio.run(go())

    def test_an_unknown_version(self):
        async def go():
            async with device(self.server, hello=None) as odd:
                await odd.send(json.dumps({"type": "hello", "version": 7}))
                self.assertEqual(await until_closed(odd), 1002)
                self.assertIn("7", odd.close_reason)
        asyncio.run(go())

    def test_devices_that_vanish_do_not_stay(self):
        async def go():
            for number in range(20):
                socket_ = await websockets.connect(self.server.url,
                                                   extra_headers=device_headers(device=f"aa:{number:02x}"))
                await socket_.send(json.dumps({"type": "hello", "version": 1, "features": {"mcp": True}}))
                await socket_.send(json.dumps({"type": "listen", "state": "start", "mode": "auto"}))
                socket_.transport.abort()
        asyncio.run(go())
        events, code, error = run_device(self.server, "--say", "hello there")
        self.assertEqual(code, 0, error)
        self.assertEqual(events[-1]["turns"][0]["heard"], "hello")

    def test_shutdown_lets_a_reply_end_and_refuses_new_devices(self):
        async def go():
            async with device(self.server) as speaking:
                frames = 0
                await speaking.send(json.dumps({"type": "listen", "state": "detect", "text": "hey"}))
                while (await receive(speaking)).get("state") != "sentence_start":
                    pass
                self.server.signal(signal.SIGTERM)
                self.server.wait_for_log("stopping")
                with self.assertRaises(websockets.InvalidStatusCode) as refused:
                    async with device(self.server, device="aa:ff"):
                        pass
                self.assertEqual(refused.exception.status_code, 503)
                states = []
                try:
                    while True:
                        message = await asyncio.wait_for(speaking.recv(), PATIENCE)
                        if isinstance(message, bytes):
                            frames += 1
                        else:
                            states.append(json.loads(message).get("state"))
                except websockets.ConnectionClosed:
                    pass
                self.assertIn("stop", states, "the reply was played to its end")
                self.assertGreater(frames, 20)
                self.assertEqual(speaking.close_code, 1001)
        asyncio.run(go())


if __name__ == "__main__":
    unittest.main()
