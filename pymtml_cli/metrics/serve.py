"""Serves the last page of `pymtml metrics` over HTTP. Collecting is separate, so no scrape waits for the driver."""

import contextlib
import errno
import gzip
import http.server
import queue
import socket
import socketserver
import sys
import threading
import time

from pymtml_cli.common.errors import BAD_ARGUMENT, OTHER, CommandError, reason
from pymtml_cli.common.numeric import number
from pymtml_cli.common.text import safe

PATH = "/metrics"
LOCALHOST = "127.0.0.1"
LAST_PORT = 65535
REQUEST_SECONDS = 10  # time for a whole request to come in and its answer to go out
IDLE_SECONDS = 120  # time for the next request on a connection: longer than the interval of a Prometheus server
MOST_CONNECTIONS = 64
OTHER_FILES = 16  # that this process may have open beside its connections, such as the pipes of the collecting child
FASTEST = 1  # of gzip's levels
PAUSE = 0.1  # seconds until a descriptor may be free


def address(text):
    """(host, port) of an argument [HOST:]PORT; an IPv6 address is in brackets. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError("an IPv6 address is written in brackets: [::1]:9406")
    if colon and not host:
        raise ValueError("no host before the colon: 0.0.0.0:PORT means all addresses")
    found = number(port, 0, LAST_PORT)
    if found is None:
        raise ValueError("not a port from 0 to %d" % LAST_PORT)
    return host or LOCALHOST, found


def tls_context(certfile, keyfile, client_cafile):
    """The SSLContext; with a file of authorities, clients need a certificate from one. Raises CommandError."""
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    name = certfile if keyfile is None else "%s with the key %s" % (certfile, keyfile)
    try:
        context.load_cert_chain(certfile, keyfile, password=_no_password)
        if client_cafile:
            name = client_cafile
            context.load_verify_locations(client_cafile)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError, SystemError) as error:
        error = error.__cause__ or error  # Python 3.7 raises SystemError from what _no_password raises
        raise CommandError("cannot use %s for TLS: %s" % (name, reason(error)), OTHER)
    return context


def _no_password():
    raise ValueError("the key has a password")


class Page:
    """The text that is served now, plain and compressed."""

    def __init__(self, text, content_type):
        self.text, self.content_type = text, content_type
        self._compressed = None

    def encoded(self, accepted):
        """(bytes, headers) of the page in an encoding that the client accepts."""
        if not _accepts_gzip(accepted):
            return self.text, ()
        if self._compressed is None:
            self._compressed = gzip.compress(self.text, FASTEST)
        return self._compressed, (("Content-Encoding", "gzip"),)


def _accepts_gzip(accepted):
    """Whether an Accept-Encoding has gzip, and not with a weight of 0."""
    for part in accepted.lower().replace(" ", "").split(","):
        coding, *parameters = part.split(";")
        if coding == "gzip":
            return not any(one.rstrip("0") in ("q=", "q=0.") for one in parameters)
    return False


def most_connections():
    """How many connections may be open at once: fewer where the process may open few files."""
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # not a Unix
        return MOST_CONNECTIONS
    files = getrlimit(RLIMIT_NOFILE)[0]
    return max(1, min(MOST_CONNECTIONS, files - OTHER_FILES)) if files >= 0 else MOST_CONNECTIONS


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Listens at once, and serves ``page`` from ``start`` on.

    A connection has REQUEST_SECONDS for a whole request and its answer, however slow the client is, and IDLE_SECONDS
    from one to the next. Raises CommandError if it cannot listen.
    """

    request_queue_size = 64

    def __init__(self, host, port, tls=None):
        self.page, self._tls, self._thread, self._said = None, tls, None, set()
        self._due = {}  # {socket of a connection: (whether a request is under way, deadline)}
        self._idle, self._accepted = threading.Semaphore(0), queue.SimpleQueue()  # threads, and what they are to answer
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            self.address_family, where = found[0][0], found[0][4]
            http.server.HTTPServer.__init__(self, where, _Handler)
        except (OSError, UnicodeError) as error:
            text = "cannot listen on %s, port %d: %s" % (host, port, reason(error))
            raise CommandError(text, BAD_ARGUMENT if isinstance(error, UnicodeError) else OTHER)

    def server_bind(self):
        """Bind, without asking the name service for the name of this host."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    @property
    def url(self):
        host = "[%s]" % self.server_name if ":" in self.server_name else self.server_name
        return "%s://%s:%d%s" % ("http" if self._tls is None else "https", host, self.server_port, PATH)

    @property
    def serves(self):
        """Whether the thread that takes connections runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self):
        """Serve, in other threads; raises RuntimeError if none can be started."""
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    def expect(self, connection, is_request):
        """Set the deadline of a connection: of a request, or for the next one to begin."""
        self._due[connection] = is_request, time.monotonic() + (REQUEST_SECONDS if is_request else IDLE_SECONDS)

    def _end(self, connection):
        """End a connection, and thereby its thread."""
        self._due.pop(connection, None)
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)  # the SSLSocket's own would disturb its thread

    def service_actions(self):
        """End the connections whose time is over."""
        for connection, (_, due) in list(self._due.items()):
            if due < time.monotonic():
                self._end(connection)

    def _end_idlest(self):
        """End the connection that was idle longest, if there is one."""
        due = list(self._due.items())
        if due:
            self._end(min(due, key=lambda one: one[1])[0])

    def get_request(self):
        """Accept a connection. Without a free descriptor one is made free: otherwise this would be tried in a loop."""
        try:
            return http.server.HTTPServer.get_request(self)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._say_once("no descriptor is free: the connection that was idle longest is closed")
                self._end_idlest()
                time.sleep(PAUSE)
            raise

    def process_request(self, request, client_address):
        """Answer a connection in a thread: one that is done with another connection, or a new one, which costs more.

        If there are too many connections, the one that was idle longest ends.
        """
        most = most_connections()
        if len(self._due) >= most:
            self._end_idlest()
            self._say_once("more than %d connections: the one that was idle longest is closed" % most)
        self.expect(request, True)
        if self._idle.acquire(blocking=False):
            self._accepted.put((request, client_address))
        else:
            threading.Thread(target=self._answer, args=(request, client_address), daemon=True).start()

    def _answer(self, *connection):
        while connection:
            self.process_request_thread(*connection)
            self._idle.release()
            connection = self._next()

    def _next(self):
        """The next connection for an idle thread, or None if there was none for IDLE_SECONDS: then the thread ends."""
        while True:
            try:
                return self._accepted.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                if self._idle.acquire(blocking=False):  # otherwise a connection is on its way to this thread
                    return None

    def shutdown_request(self, request):
        """Let go of a connection, whatever its state."""
        self._due.pop(request, None)
        http.server.HTTPServer.shutdown_request(self, request)

    def finish_request(self, request, client_address):
        """Answer the requests of a connection. A slow TLS handshake delays no other connection here."""
        if self._tls is None:
            _Handler(request, client_address, self)
            return
        with self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as secured:
            try:
                self.expect(secured, True)
                self._due.pop(request, None)
                secured.do_handshake()
                _Handler(secured, client_address, self)
            finally:
                self._due.pop(secured, None)

    def handle_error(self, request, client_address):
        """Print a line about the error, unless it is one of the connection."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self._say_once("a request failed: %r" % error)

    def _say_once(self, text):
        if text not in self._said:
            self._said.add(text)
            sys.stderr.write("pymtml: %s\n" % safe(text))
            sys.stderr.flush()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "pymtml", ""
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body are sent together

    def handle_one_request(self):
        self.server.expect(self.connection, False)
        self.rfile.peek()  # waits for a request
        self.server.expect(self.connection, True)
        http.server.BaseHTTPRequestHandler.handle_one_request(self)

    def do_GET(self):
        path = self.path.partition("?")[0]
        status, content_type, headers = 200, "text/plain; charset=utf-8", ()
        if path == PATH:
            page = self.server.page
            content_type = page.content_type
            body, headers = page.encoded(self.headers.get("Accept-Encoding", ""))
        elif path == "/":
            body = b"pymtml: the metrics are at /metrics\n"
        else:
            status, body = 404, b"there is only /metrics\n"
        self.send_response(status)
        for name, value in (("Content-Type", content_type), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        has_body = any(length.strip("0 ") for length in self.headers.get_all("Content-Length", ()))
        if has_body or "Transfer-Encoding" in self.headers:
            self.send_header("Connection", "close")  # a body is not read: it would be taken for the next request
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, format, *arguments):
        pass
