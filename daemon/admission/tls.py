"""The TLS of the webhook's server: versions and cipher suites as the settings name them."""

import ssl
from typing import Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.settings import Webhook
from syncret.config.spelling import did_you_mean
from syncret.daemon.admission.authority import Pair
from syncret.daemon.ops.certificate_files import server_context

_SUITES: Final = {
    f"TLS_{exchange}_WITH_{cipher}": f"{exchange.replace('_', '-')}-{theirs}"
    for exchange in ("ECDHE_ECDSA", "ECDHE_RSA")
    for cipher, theirs in {
        "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
        "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
        "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
        "CHACHA20_POLY1305": "CHACHA20-POLY1305",
        "AES_128_CBC_SHA256": "AES128-SHA256",
        "AES_128_CBC_SHA": "AES128-SHA",
        "AES_256_CBC_SHA": "AES256-SHA",
    }.items()
}
"""OpenSSL's names of the suites of TLS 1.2 that a server in Go offers with forward secrecy."""

_OF_1_3: Final = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
"""Always on: neither Go nor OpenSSL lets a server choose among them."""

_SECURE: Final = tuple(theirs for name, theirs in _SUITES.items() if "_CBC_" not in name)


def ciphers_of(webhook: Webhook) -> str:
    """The suites of TLS 1.2 in OpenSSL's words. Raises ConfigError for a name that is not known."""
    unknown = [name for name in webhook.tls_ciphers if name not in _SUITES and name not in _OF_1_3]
    if unknown:
        raise ConfigError(
            Problem(
                path="webhook.tlsCiphers",
                message=f"there is no cipher suite {name}",
                hint=did_you_mean(name, list(_SUITES)),
            )
            for name in unknown
        )
    chosen = [_SUITES[name] for name in webhook.tls_ciphers if name in _SUITES]
    return ":".join(chosen or _SECURE)


def webhook_context(webhook: Webhook, leaf: Pair) -> ssl.SSLContext:
    """The context of new connections. Raises Malformed for a certificate that cannot be served."""
    context = server_context(leaf.certificate, leaf.key, whose="the webhook's certificate")
    if webhook.tls_min_version == "1.3":
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_ciphers(ciphers_of(webhook))
    return context
