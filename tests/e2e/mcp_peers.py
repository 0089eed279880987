"""MCP servers for the tests to speak to: real ones, one that misbehaves, and a listener in between."""

import contextlib
import http.server
import json
import pathlib
import socket
import subprocess
import threading
import time

from harness import MCP, PATIENCE, ROOT, node

EVERYTHING = MCP / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
MODERN = ROOT / "tests/e2e/modern_server.mjs"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Lines:
    """What somebody says, line by line, for those who wait for it."""

    def __init__(self):
        self.all = []
        self.grew = threading.Condition()

    def add(self, line):
        with self.grew:
            self.all.append(line)
            self.grew.notify_all()

    def wait_for(self, text, times=1):
        with self.grew:
            if not self.grew.wait_for(lambda: sum(text in line for line in self.all) >= times, PATIENCE):
                raise AssertionError(f"{text!r} never came:\n" + "\n".join(self.all[-30:]))


class Peer:
    """An MCP server that is a process of its own, always on the same port. What it prints is in `said`."""

    def __init__(self, command, ready, path="/mcp"):
        self.port = free_port()
        self.command = [str(part).format(port=self.port) for part in command]
        self.ready = ready
        self.url = f"http://127.0.0.1:{self.port}{path}"
        self.process = None
        self.start()

    def start(self):
        self.said = Lines()
        # Without our environment: one of its tools shows it.
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={"PORT": str(self.port)})
        threading.Thread(target=self._read, args=(self.process.stdout, self.said), daemon=True).start()
        self.said.wait_for(self.ready)

    @staticmethod
    def _read(stream, said):
        with stream:
            for line in stream:
                said.add(line.rstrip())

    def stop(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def restart(self):
        self.stop()
        self.start()


def everything(mode):
    """The reference server in the mode streamableHttp or sse."""
    path = {"streamableHttp": "/mcp", "sse": "/sse"}[mode]
    return Peer([node(), EVERYTHING, mode], "on port", path)


def modern():
    return Peer([node(), MODERN, MCP, "{port}"], '"ready"')


class Tap:
    """Stands between a client and a server, and hears what the client sends."""

    def __init__(self, peer):
        self.peer = peer
        self.heard = Lines()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = peer.url.replace(str(peer.port), str(self.listener.getsockname()[1]))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client:
            try:
                server = socket.create_connection(("127.0.0.1", self.peer.port))
            except OSError:
                return
            with server:
                back = threading.Thread(target=self._pass_on, args=(server, client, lambda _: None), daemon=True)
                back.start()
                self._pass_on(client, server, self.heard.add)
                back.join()

    @staticmethod
    def _pass_on(one, other, hear):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                hear(data.decode(errors="replace"))
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def stop(self):
        # Closing alone does not wake who waits for a connection.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def text_result(words):
    return {"content": [{"type": "text", "text": words}]}


class Misbehaving:
    """An MCP server of 2025-11-25 with a tool for each way to misbehave; `broken`: everything is answered that way."""

    def __init__(self, broken=None):
        self.tools = sorted(name[5:] for name in vars(type(self)) if name.startswith("tool_"))
        self.broken = broken
        self.over = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer(405, b"")

            def do_DELETE(self):
                self.answer(405, b"")

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.broken:
                    getattr(outer, "tool_" + outer.broken)(self, message)
                elif "id" not in message:
                    self.answer(202, b"")
                elif message["method"] == "tools/call":
                    getattr(outer, "tool_" + message["params"]["name"])(self, message)
                else:
                    outer.usual(self, message)

            def answer(self, status, body, kind="application/json"):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def result(self, message, result):
                self.answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

            def stream(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.close_connection = True

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # A client that has had enough closes.

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/mcp"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def usual(self, http_, message):
        if message["method"] == "initialize":
            http_.result(message, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                   "serverInfo": {"name": "misbehaving", "version": "1"}})
        elif message["method"] == "tools/list":
            http_.result(message, {"tools": [{"name": name, "description": "Misbehaves.",
                                              "inputSchema": {"type": "object"}} for name in self.tools]})
        else:
            body = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}
            http_.answer(200, json.dumps(body).encode())

    # --- What can go wrong ------------------------------------------------------------------------------

    def tool_html(self, http_, _):
        http_.answer(200, b"<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", "text/html")

    def tool_half_json(self, http_, message):
        http_.answer(200, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": {}}).encode()[:30])

    def tool_wrong_id(self, http_, _):
        http_.answer(200, json.dumps({"jsonrpc": "2.0", "id": 4711, "result": text_result("Not yours.")}).encode())

    def tool_no_json_rpc(self, http_, _):
        http_.answer(200, b'["hello", 42, null]')

    def tool_error_500(self, http_, _):
        http_.answer(500, b"<h1>Internal Server Error</h1>", "text/html")

    def tool_empty(self, http_, _):
        http_.answer(200, b"")

    def tool_huge(self, http_, message):
        http_.result(message, text_result("x" * (5 << 20)))

    def tool_long_text(self, http_, message):
        http_.result(message, text_result("word " * (1 << 18)))

    def tool_cut_off(self, http_, message):
        http_.send_response(200)
        http_.send_header("Content-Type", "application/json")
        http_.send_header("Content-Length", "4096")
        http_.end_headers()
        http_.wfile.write(b'{"jsonrpc": "2.0", "id": ')
        http_.close_connection = True

    def tool_closed(self, http_, _):
        http_.connection.shutdown(socket.SHUT_RDWR)
        http_.close_connection = True

    def tool_cut_stream(self, http_, _):
        http_.stream()
        http_.wfile.write(b'event: message\ndata: {"jsonrpc": "2.0", "id"')

    def tool_endless_stream(self, http_, _):
        http_.stream()
        while not self.over.wait(0.005):
            http_.wfile.write(b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}\n\n')

    def tool_endless_event(self, http_, _):
        http_.stream()
        http_.wfile.write(b"data: ")
        while not self.over.is_set():
            http_.wfile.write(b"x" * 65536)

    def tool_silent(self, _http, _message):
        self.over.wait(PATIENCE)

    def tool_late(self, http_, message):
        time.sleep(0.7)
        http_.result(message, text_result("Better late than never."))

    def tool_no_content(self, http_, message):
        http_.result(message, {"content": "nothing of the kind", "isError": "maybe"})

    def tool_not_an_object(self, http_, message):
        http_.result(message, [1, 2, 3])

    def tool_deep(self, http_, message):
        body = b'{"jsonrpc": "2.0", "id": %d, "result": ' % message["id"] + b"[" * 100_000 + b"]" * 100_000 + b"}"
        http_.answer(200, body)


def configuration(directory, servers, **more):
    """A YAML file with these MCP servers: a URL, or all its keys."""
    full = {key: {"url": value} if isinstance(value, str) else value for key, value in servers.items()}
    for server in full.values():
        server.setdefault("allow_private_network", True)
    file = pathlib.Path(directory) / "parley.yaml"
    file.write_text(json.dumps({"mcp_servers": full, **more}, indent=1))  # JSON is YAML.
    return file
