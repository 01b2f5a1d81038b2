"""The certificate of our own server, from files that are replaced before it expires."""

import ssl
from pathlib import Path

import structlog

from syncret.config.settings import MetricsTls
from syncret.providers.errors import SyncError
from syncret.providers.kit.http.tls import identify

log = structlog.get_logger()


def server_context(certificate: bytes, key: bytes, *, whose: str) -> ssl.SSLContext:
    """The TLS context of a server, from PEM. Raises Malformed with `whose`, as in `the webhook's`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    identify(context, certificate, key, whose=whose)
    return context


class CertificateFiles:
    """Gives the TLS context of new connections. If the files cannot be used, the last one stays in use."""

    def __init__(self, settings: MetricsTls) -> None:
        folder = Path(settings.cert_dir)
        self._certificate = folder / settings.cert_name
        self._key = folder / settings.key_name
        self._seen: object = None
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext | None:
        """The context; None while there has been no certificate. Looks at the files, which is quick."""
        seen: object
        try:
            seen = tuple((each.stat().st_ino, each.stat().st_mtime_ns) for each in self._files)
        except OSError as error:
            seen = f"{error.filename}: {error.strerror}"
        if seen != self._seen:
            self._seen = seen
            self._load()
        return self._context

    @property
    def _files(self) -> tuple[Path, Path]:
        return self._certificate, self._key

    def _load(self) -> None:
        try:
            certificate, key = (each.read_bytes() for each in self._files)
            self._context = server_context(certificate, key, whose="the certificate of the metrics")
        except OSError as error:
            log.warning(
                "the certificate of the metrics cannot be read",
                reason=f"{error.filename}: {error.strerror}",
                hint="metricsTls.certDir names its folder",
            )
        except SyncError as error:
            log.warning("the certificate of the metrics cannot be used", reason=str(error), hint=error.hint)
