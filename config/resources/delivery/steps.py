"""What is done around the swap of a set: the check before it, the reload and the proof after it."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from syncret.config.fields import DNS_SUBDOMAIN, Model, Rule, exactly_one
from syncret.config.resources.delivery.texts import (
    Account,
    Arguments,
    FileName,
    PlacePath,
    Signal,
    Span,
    Unit,
)


class DeliveryCheck(Model):
    """A check that has to succeed before a new set goes live.

    Example: {unit: nginx-check.service}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("exec", "unit"),)

    exec: Arguments | None = None
    """A program and its arguments, without a shell; `{staged}` is the path of the new set.
    Example: [/usr/bin/openssl, verify, '{staged}/server.pem']"""
    unit: Unit = ""
    """A oneshot unit that is started; it may bind the staged set over the live one.
    Example: nginx-check.service"""
    view: Literal["staged", "mounted"] = "staged"
    """staged: the program finds the new set beside the old one. mounted: at the live path, which needs the
    root profile.
    Example: mounted"""
    timeout: Span = "10s"
    """How long it may take, 1s to 5m; then the set is refused. Example: 30s"""
    user: Account = ""
    """User that the program runs as; any but the daemon's needs the root profile. Example: nginx"""


class DeliverySignal(Model):
    """A signal, and the process that gets it.

    Example: {signal: SIGHUP, process: /usr/sbin/haproxy}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("pidFile", "process", "container"),)

    signal: Signal
    """The signal. Example: SIGHUP"""
    pid_file: PlacePath = ""
    """File that holds the number of the process. Example: /run/haproxy.pid"""
    process: PlacePath = ""
    """Program of the process, of which the topmost one is meant. Example: /usr/sbin/haproxy"""
    container: PlacePath = ""
    """File that holds the ID of the container whose process is meant. Example: /run/app/container-id"""


class DeliveryRequest(Model):
    """An HTTP request on this host.

    Example: {url: 'http://127.0.0.1:9090/-/reload'}
    """

    url: Annotated[str, Meta(extra={"pattern": "^(https?://|unix:/)"}, max_length=2048)]
    """Address on the loopback, or `unix:` and the path of a socket, which is asked for `/`.
    Example: http://127.0.0.1:9090/-/reload"""
    method: Literal["GET", "HEAD", "POST", "PUT"] = "POST"
    """Method of the request. Example: GET"""
    headers: dict[str, str] = {}
    """Headers of the request; no secret belongs here. Example: {Host: prometheus}"""
    expect: Annotated[str, Meta(extra={"pattern": r"^[1-5][0-9]{2}(-[1-5][0-9]{2})?$"})] = "200-299"
    """Status, or a range of them, that means success. Example: '204'"""


class DeliveryReload(Model):
    """How the program that uses the files is made to read them again.

    Example: {unit: nginx.service}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("unit", "signal", "exec", "http"),)

    unit: Unit = ""
    """Unit that is reloaded or restarted if it runs; one that does not run is never started.
    Example: nginx.service"""
    action: Literal["reload", "restart", "reload-or-restart"] = "reload"
    """What is requested; a program that reads variables or credentials reads them again only at a restart.
    Example: restart"""
    signal: DeliverySignal | None = None
    """A signal to a process."""
    exec: Arguments | None = None
    """A program and its arguments, without a shell. Example: [/usr/sbin/haproxyctl, reload]"""
    http: DeliveryRequest | None = None
    """A request on this host."""
    timeout: Span = "1m30s"
    """How long it may take, 1s to 15m; then it has failed. Example: 30s"""


class ServedCertificate(Model):
    """A TLS server that has to serve the new certificate.

    Example: {address: '127.0.0.1:443', certificate: server.pem}
    """

    address: Annotated[str, Meta(min_length=1, max_length=260)]
    """Address on the loopback with its port, or `unix:` and the path of a socket.
    Example: 127.0.0.1:443"""
    certificate: FileName
    """File of the set whose first certificate must be served. Example: server.pem"""
    server_name: Annotated[str, Meta(extra={"pattern": DNS_SUBDOMAIN}, max_length=253)] = ""
    """Name that is asked for, where the server has several certificates. Example: www.example"""
    start_tls: Literal["none", "postgres"] = msgspec.field(default="none", name="startTLS")
    """How TLS is begun, if the connection does not begin with it. Example: postgres"""


class DeliveryHealth(Model):
    """How it is proven that the new set is in use, and works.

    Example: {unit: nginx.service}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("unit", "exec", "http", "tls"),)

    unit: Unit = ""
    """Unit that must run, without having restarted by itself. Example: nginx.service"""
    exec: Arguments | None = None
    """A program and its arguments, which must end with 0. Example: [/usr/bin/pg_isready]"""
    http: DeliveryRequest | None = None
    """A request on this host, which must succeed."""
    tls: ServedCertificate | None = None
    """The certificate that a server must serve: the only proof that it has read the new one."""
    within: Span = "15s"
    """How long it may take until it holds, 1s to 10m; then the set has failed. Example: 1m"""
    stable_for: Span = "2s"
    """How long it must hold without a break, up to 1m. Example: 10s"""
