"""The client trusts the system's certificates, and those that it is given."""

from __future__ import annotations

import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients import NOBODY

pytestmark = pytest.mark.slow  # makes keys, starts processes

EMPTY = b'{"items":[],"next":null}'
CODE = (
    "import sys; from affinity_bandits_client import Client, NoReply\n"
    "try: print(list(Client(sys.argv[1], sys.argv[2], attempts=1).campaigns()))\n"
    "except NoReply as error: print('no reply', error)\n"
)


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page of campaigns."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_: object) -> None:
        pass


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of a private CA, and that of a server which it signed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed (Debian: apt-get install openssl)")
    folder = tmp_path_factory.mktemp("authority")
    new = ("req", "-newkey", "rsa:2048", "-nodes")
    signs = ("-addext", "keyUsage=critical,keyCertSign")
    openssl(folder, *new, "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA", *signs)
    openssl(folder, *new, "-keyout", "key.pem", "-out", "request", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost\nauthorityKeyIdentifier=keyid\n")
    ca = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    openssl(folder, "x509", "-req", "-in", "request", *ca, "-out", "cert.pem")
    return folder


@pytest.fixture(scope="module")
def url(authority: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "cert.pem", authority / "key.pem")
    with http.server.ThreadingHTTPServer(("localhost", 0), Page) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()


def printed(url: str, **variables: str) -> str:
    command = [sys.executable, "-c", CODE, url, NOBODY]
    environment = os.environ | variables
    return subprocess.check_output(command, env=environment, text=True, timeout=60)


def test_a_private_authority_is_trusted_once_its_certificate_is_named(
    url: str, authority: Path
) -> None:
    assert printed(url, SSL_CERT_FILE=str(authority / "ca.pem")) == "[]\n"


def test_a_certificate_of_an_unknown_authority_is_refused(url: str) -> None:
    refused = printed(url)
    assert refused.startswith("no reply")
    assert "certificate verify failed" in refused
