"""metrics --listen: what its server answers, whole, through sockets."""

import contextlib
import gzip
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest
from inside import CommandError, metrics_server

TEXT = b"mthreads_gpus 8.0\n" * 50
PAGE_TYPE, TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8", "text/plain; charset=utf-8"
WHERE, NOT_FOUND = b"pymtml: the metrics are at /metrics\n", b"there is only /metrics\n"
SECONDS = 20  # a test does not wait longer for what does not come


class Server(metrics_server.Server):
    """The server, which ends sooner."""

    sockets = ()  # of its connections

    def serve_forever(self, poll_interval=0.01):
        super().serve_forever(poll_interval)

    def process_request(self, request, client_address):
        self.sockets += (request,)
        super().process_request(request, client_address)


@pytest.fixture
def serving():
    """Starts servers of TEXT."""
    with contextlib.ExitStack() as stack:

        def start(host="127.0.0.1", tls=None):
            server = Server(host, 0, tls)
            stack.callback(server.server_close)
            assert not server.serves
            server.page = metrics_server.Page(TEXT, PAGE_TYPE)
            server.start()
            assert server.serves
            stack.callback(server.shutdown)
            return server

        yield start


@contextlib.contextmanager
def connection(server, tls=None):
    """A connection to a server: its socket."""
    with contextlib.closing(socket.create_connection(server.server_address[:2], SECONDS)) as plain:
        if tls is None:
            yield plain
        else:
            with contextlib.closing(tls.wrap_socket(plain, server_hostname="127.0.0.1")) as secured:
                yield secured


def answer(stream):
    """The next answer on a connection: lines of its head, without Date."""
    lines = []
    for line in iter(stream.readline, b"\r\n"):
        assert line.endswith(b"\r\n")
        lines.append(line.decode("ascii").strip())
    assert [line for line in lines if re.match(r"Date: \w+, \d\d \w+ \d{4} [\d:]{8} GMT$", line)]
    return [line for line in lines if not line.startswith("Date: ")]


def head(status, content_type, length, *others):
    lines = ["HTTP/1.1 " + status, "Server: pymtml", "Content-Type: " + content_type, "Content-Length: %d" % length]
    return lines + list(others)


def asked(server, request, tls=None):
    """(head, body) of a request after which the connection ends."""
    with connection(server, tls) as there, there.makefile("rb") as stream:
        there.sendall(request.encode("ascii") + b"\r\n")
        # That it ends is not said in TLS, which some Pythons call an error of it.
        return answer(stream), stream.read() if tls is None else stream.read(len(TEXT))


@pytest.mark.parametrize(
    "path, status, content_type, body",
    [
        ("/metrics", "200 OK", PAGE_TYPE, TEXT),
        ("/metrics?collect=all", "200 OK", PAGE_TYPE, TEXT),
        ("/", "200 OK", TEXT_TYPE, WHERE),
        ("/?x", "200 OK", TEXT_TYPE, WHERE),
        ("/metrics/", "404 Not Found", TEXT_TYPE, NOT_FOUND),
        ("/metricsx", "404 Not Found", TEXT_TYPE, NOT_FOUND),
        ("/favicon.ico", "404 Not Found", TEXT_TYPE, NOT_FOUND),
    ],
)
def test_what_it_answers(serving, path, status, content_type, body):
    server, expected = serving(), head(status, content_type, len(body))
    assert asked(server, "GET %s HTTP/1.1\r\nConnection: close\r\n" % path) == (expected, body)
    assert asked(server, "GET %s HTTP/1.0\r\n" % path) == (expected, body)
    assert asked(server, "HEAD %s HTTP/1.0\r\n" % path) == (expected, b"")


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: %d",
        "Content-Length: 0\r\nContent-Length: %d",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: identity",
    ],
)
def test_a_body_ends_the_connection(serving, headers):
    """It would be the next request, whose answer another client of a proxy would get."""
    body = "GET /nothing HTTP/1.1\r\n"
    request = "GET / HTTP/1.1\r\n%s\r\n\r\n%s" % (headers.replace("%d", str(len(body) + 2)), body)
    assert asked(serving(), request) == (head("200 OK", TEXT_TYPE, len(WHERE), "Connection: close"), WHERE)


@pytest.mark.parametrize("accepted", ["gzip", "deflate, GZip;q=1.0", "gzip ; q=0.5"])
def test_a_client_that_accepts_it_gets_it_compressed(serving, accepted):
    server, request = serving(), "%s /metrics HTTP/1.0\r\nAccept-Encoding: %s\r\n"
    lines, body = asked(server, request % ("GET", accepted))
    expected = head("200 OK", PAGE_TYPE, len(body), "Content-Encoding: gzip")
    assert lines == expected and gzip.decompress(body) == TEXT and len(body) < len(TEXT) / 5
    assert asked(server, request % ("HEAD", accepted)) == (expected, b"")
    plain = head("200 OK", PAGE_TYPE, len(TEXT)), TEXT
    for refused in ("deflate", "notgzip", "gzip;q=0", "gzip; q=0.00, deflate", "xgzip, gzip;x=1;q=0"):
        assert asked(server, request % ("GET", refused)) == plain
    server.page = metrics_server.Page(b"", "text/html")
    assert asked(server, request % ("GET", "")) == (head("200 OK", "text/html", 0), b"")


@pytest.mark.parametrize("request_line, status", [("POST /metrics", "501"), ("DELETE /", "501"), ("GET / /", "400")])
def test_what_it_does_not_do(serving, request_line, status):
    lines, _ = asked(serving(), request_line + " HTTP/1.1\r\n")
    assert lines[0].split()[:2] == ["HTTP/1.1", status] and "Connection: close" in lines


def test_a_connection_lives_on(serving):
    """For the next request; what is sent leaves at once, and its thread keeps no process from ending."""
    before, server = set(threading.enumerate()), serving()
    with connection(server) as there, there.makefile("rb") as stream:
        for _ in range(3):
            there.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            assert answer(stream) == head("200 OK", PAGE_TYPE, len(TEXT)) and stream.read(len(TEXT)) == TEXT
        (request,) = server.sockets
        assert request.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        threads = set(threading.enumerate()) - before
        assert [thread.daemon for thread in threads] == [True, True]
    wait_until(lambda: server._idle.acquire(blocking=False))
    server._idle.release()
    with connection(server) as there:  # by the thread that is there, which costs less than a new one
        there.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert there.recv(8) == b"HTTP/1.1" and set(threading.enumerate()) - before == threads


def test_idle_threads_end(serving, monkeypatch):
    """And are not counted on by the connections that come then."""
    monkeypatch.setattr(metrics_server, "IDLE_SECONDS", 0.1)
    before, server = set(threading.enumerate()), serving()
    for _ in range(2):
        with connection(server) as one, connection(server) as other:
            for there in (one, other):
                there.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert there.recv(8) == b"HTTP/1.1"
        wait_until(lambda: len(set(threading.enumerate()) - before) == 1)


@pytest.mark.parametrize(
    "name, sent", [("IDLE", b""), ("REQUEST", b"GET /metrics HT"), ("REQUEST", b"GET / HTTP/1.1\r\n")]
)
def test_a_client_that_says_too_little_is_left(serving, monkeypatch, capsys, name, sent):
    monkeypatch.setattr(metrics_server, "IDLE_SECONDS", 300)
    monkeypatch.setattr(metrics_server, "REQUEST_SECONDS", 300)
    monkeypatch.setattr(metrics_server, name + "_SECONDS", 0.05)
    with connection(serving()) as there:
        there.sendall(sent)
        assert there.recv(100) == b""
    assert capsys.readouterr().err == ""


def test_a_request_has_its_time_however_often_a_byte_of_it_comes(serving, monkeypatch):
    monkeypatch.setattr(metrics_server, "REQUEST_SECONDS", 0.1)
    with connection(serving()) as there, contextlib.suppress(ConnectionError):
        for _ in range(1000):
            there.sendall(b"x")
            time.sleep(0.01)
        pytest.fail("a request without an end goes on")


def test_too_many_connections(serving, monkeypatch, capsys):
    """The one goes that was idle longest, then the one whose request has been under way longest; it is said once."""
    monkeypatch.setattr(metrics_server, "MOST_CONNECTIONS", 5)
    server = serving()
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(connection(server)) for _ in range(5)]
        streams = [stack.enter_context(there.makefile("rb")) for there in held]
        for number in (0, 3, 1):
            held[number].sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert answer(streams[number])[0] == "HTTP/1.1 200 OK" and streams[number].read(len(WHERE)) == WHERE
            # A connection counts as busy, and not as idle, until its thread waits for the next request.
            wait_until(lambda: len(server._due) == 5 and not busy(server))
        for asking, number in enumerate((0, 2, 4), 1):
            held[number].sendall(b"GET / HTTP/1.1\r\n")
            wait_until(lambda: busy(server) == asking)
        for number, others in ((3, 3), (1, 4), (0, 4)):
            held.append(stack.enter_context(connection(server)))
            assert held[number].recv(100) == b""
            wait_until(lambda: len(server._due) == 5 and busy(server) == others)
            held[-1].sendall(b"GET / HTTP/1.1\r\n")
            wait_until(lambda: busy(server) == others + 1)
        for number in (2, 4, 5, 6, 7):
            held[number].sendall(b"Connection: close\r\n\r\n")
            with held[number].makefile("rb") as stream:
                assert answer(stream)[0] == "HTTP/1.1 200 OK" and stream.read() == WHERE
    wait_until(lambda: not server._due)
    assert capsys.readouterr().err == "pymtml: more than 5 connections: the one that was idle longest is closed\n"


def busy(server):
    return sum(is_request for is_request, _ in list(server._due.values()))


def wait_until(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_few_descriptors(serving, monkeypatch, capsys):
    """Fewer connections than descriptors; without a free one the idlest ends, and nothing is tried in a loop."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for files, most in ((24, 8), (17, 1), (3, 1), (80, 64), (1024, 64), (-1, 64)):
        monkeypatch.setattr(resource, "getrlimit", lambda which: (files, hard))
        assert metrics_server.most_connections() == most
    monkeypatch.undo()
    server, tries, accept = serving(), [], socket.socket.accept

    def full(self):
        tries.append(self)
        if len(tries) < 3:
            raise OSError(24, "Too many open files")
        return accept(self)

    with connection(server) as idle:
        wait_until(lambda: len(server._due) == 1)
        monkeypatch.setattr(socket.socket, "accept", full)
        monkeypatch.setattr(metrics_server, "PAUSE", 0)
        assert asked(server, "GET / HTTP/1.0\r\n")[1] == WHERE
        assert idle.recv(100) == b""
    assert capsys.readouterr().err == "pymtml: no descriptor is free: the connection that was idle longest is closed\n"


def test_a_thread_that_cannot_start_takes_no_place(serving, monkeypatch, capsys):
    monkeypatch.setattr(metrics_server, "MOST_CONNECTIONS", 1)
    server = serving()

    def fail(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as failing:
        failing.setattr(threading.Thread, "start", fail)
        for _ in range(2):
            with connection(server) as there:
                assert there.recv(100) == b""
    assert asked(server, "GET / HTTP/1.0\r\n")[1] == WHERE
    assert capsys.readouterr().err == 'pymtml: a request failed: RuntimeError("can\'t start new thread")\n'


def test_what_fails_is_said_in_a_line(serving, capsys):
    server = serving()
    for error in (ConnectionResetError(104, "x"), socket.timeout("x"), ssl.SSLError(1, "x")):  # the client's doing
        try:
            raise error
        except OSError:
            server.handle_error(None, None)
    assert capsys.readouterr().err == ""
    server.page = metrics_server.Page("no bytes \x1b", PAGE_TYPE)
    with connection(server) as there:
        there.sendall(b"GET /metrics HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n")
        assert there.recv(100) == b""
    said = capsys.readouterr().err
    assert re.match(r"pymtml: a request failed: TypeError\(.*\)\n$", said) and said.count("\n") == 1


def test_urls(serving):
    server = serving()
    assert server.url == "http://127.0.0.1:%d/metrics" % server.socket.getsockname()[1]
    assert serving("0.0.0.0").url.startswith("http://0.0.0.0:")


def test_ipv6(serving):
    try:
        server = serving("::1")
    except CommandError:
        pytest.skip("this machine has no IPv6")
    assert server.url == "http://[::1]:%d/metrics" % server.socket.getsockname()[1]
    assert asked(server, "GET /metrics HTTP/1.0\r\n")[1] == TEXT


@pytest.mark.parametrize(
    "text, found",
    [
        ("9406", ("127.0.0.1", 9406)),
        ("0", ("127.0.0.1", 0)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),
        ("[::]:2", ("::", 2)),
        ("host:65535", ("host", 65535)),
    ],
)
def test_addresses(text, found):
    assert metrics_server.address(text) == found


# ---- TLS ----


def certificate(folder, name, *options):
    """(certificate, key) of a host that it is an authority for itself: new files in a folder."""
    cert, key = str(folder / (name + ".pem")), str(folder / (name + ".key"))
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-keyout", key, "-out", cert, "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command + list(options or ["-nodes"]), check=True, stderr=subprocess.DEVNULL)
    return cert, key


needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make certificates")


@needs_openssl
def test_tls(serving, tmp_path, monkeypatch):
    cert, key = certificate(tmp_path, "host")
    server = serving(tls=metrics_server.tls_context(cert, key, None))
    assert server.url == "https://127.0.0.1:%d/metrics" % server.server_port
    client = ssl.create_default_context(cafile=cert)
    assert asked(server, "GET /metrics HTTP/1.0\r\n", client)[1] == TEXT
    monkeypatch.setattr(metrics_server, "REQUEST_SECONDS", 0.05)
    with connection(server) as there:  # which does not even begin to speak TLS
        assert there.recv(100) == b""


@needs_openssl
def test_clients_with_certificates(serving, tmp_path, capsys):
    """Only those of the authorities that were named."""
    cert, key = certificate(tmp_path, "host")
    server = serving(tls=metrics_server.tls_context(cert, key, cert))
    client, stranger, nobody = [ssl.create_default_context(cafile=cert) for _ in range(3)]
    client.load_cert_chain(cert, key)
    stranger.load_cert_chain(*certificate(tmp_path, "stranger"))
    for refused in (stranger, nobody):
        with pytest.raises(OSError):
            assert asked(server, "GET /metrics HTTP/1.0\r\n", refused) == "an answer"
    assert asked(server, "GET /metrics HTTP/1.0\r\n", client)[1] == TEXT
    assert capsys.readouterr().err == ""


@needs_openssl
def test_certificates_that_cannot_be_used(tmp_path):
    cert, key = certificate(tmp_path, "locked", "-passout", "pass:secret")
    good, none = certificate(tmp_path, "host"), str(tmp_path / "none")
    for files, text in (
        ((cert, key, None), "%s with the key %s for TLS: the key has a password" % (cert, key)),
        ((good[0], none, None), "%s with the key %s for TLS: No such file or directory" % (good[0], none)),
        ((none, None, None), "%s for TLS: No such file or directory" % none),
        (good + (none,), "%s for TLS: No such file or directory" % none),
    ):
        with pytest.raises(CommandError) as refused:
            metrics_server.tls_context(*files)
        assert (refused.value.text, refused.value.status) == ("cannot use " + text, 255)
