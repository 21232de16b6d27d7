"""A server that webhooks are sent to, for tests."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

LOOPBACK = "127.0.0.0/8, ::1/128"


class Receiver:
    """A server that keeps what it is sent, and answers as it is set to."""

    def __init__(self, server: HTTPServer) -> None:
        self.port = server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hook?x=1"
        self.status, self.headers, self.body = 204, {}, b""
        self.came: list[tuple[str, dict[str, str], bytes]] = []
        self.arrived = threading.Event()


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.came.append((self.path, dict(self.headers), body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)
            receiver.arrived.set()

        do_GET = do_HEAD = do_PUT = do_POST

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
