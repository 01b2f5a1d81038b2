"""Checks of choices beyond their schema. If one fails, nothing is installed or changed.

What the API server validates itself (labels, tolerations, resources) is left to a dry run.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from syncret.config.durations import DurationError, parse_nanoseconds
from syncret.config.errors import Problem
from syncret.config.fields import DNS_LABEL
from syncret.daemon.install.operator.choices import Bitwarden, CertManager, Choices, Environment

_LABEL: Final = re.compile(DNS_LABEL.removeprefix("^").removesuffix("$"))
_LONGEST: Final = 63
_SCHEMES: Final = frozenset({"http", "https", "socks5", "socks5h"})
_PLACE: Final = "spec.controllerConfig.namespace"


class Installed(NamedTuple):
    """What was chosen when the first object was written, and cannot change any more."""

    namespace: str
    cert_manager: bool


def problems(chosen: Choices, environment: Environment, installed: Installed | None) -> Iterator[Problem]:
    """Why the installation cannot be as it is wanted; no text quotes a proxy, which may have a password."""
    if not environment.image:
        hint = "set operandImage of the operator, or RELATED_IMAGE_EXTERNAL_SECRETS in its environment"
        yield Problem(path="", message="the image of the daemon is not known", hint=hint)
    yield from _bad_namespace(_PLACE, chosen.namespace)
    if chosen.only_namespace:
        yield from _bad_namespace("spec.appConfig.operatingNamespace", chosen.only_namespace)
    if installed is not None:
        yield from _moved(chosen, installed)
    if chosen.check_interval:
        yield from _bad_duration(
            "spec.appConfig.webhookConfig.certificateCheckInterval", chosen.check_interval
        )
    for name, address in (("httpProxy", chosen.proxy.http), ("httpsProxy", chosen.proxy.https)):
        if address and not _is_proxy(address):
            hint = "write http://HOST:PORT"
            yield Problem(path=f"proxy.{name}", message="is not the address of a proxy", hint=hint)
    if chosen.cert_manager is not None:
        yield from _bad_certificate(chosen.cert_manager)
    if chosen.bitwarden is not None:
        yield from _bad_bitwarden(chosen, chosen.bitwarden, environment)


def _bad_namespace(path: str, name: str) -> Iterator[Problem]:
    if not _LABEL.fullmatch(name) or len(name) > _LONGEST:
        hint = "write lower case letters, digits and hyphens, with a letter or digit at both ends"
        yield Problem(path=path, message=f"{name!r} cannot be the name of a namespace", hint=hint)


def _moved(chosen: Choices, installed: Installed) -> Iterator[Problem]:
    """The ways around what the schema calls immutable: an object that is dropped and given again."""
    if chosen.namespace != installed.namespace:
        hint = f"write {installed.namespace} again; to move, delete the object and what it installed first"
        message = f"is {chosen.namespace} now, and everything is installed in {installed.namespace}"
        yield Problem(path=_PLACE, message=message, hint=hint)
    if installed.cert_manager and chosen.cert_manager is None:
        hint = "write it again as it was"
        message = "cert-manager issues the certificates, and cannot be switched off"
        yield Problem(path="spec", message=message, hint=hint)


def _bad_duration(path: str, text: str) -> Iterator[Problem]:
    try:
        positive = parse_nanoseconds(text) > 0
    except DurationError as error:
        yield Problem(path=path, message=str(error), hint="write 5m, for example")
        return
    if not positive:
        yield Problem(path=path, message="must be longer than nothing", hint="write 5m, for example")


def _is_proxy(address: str) -> bool:
    """As Go reads it: without a scheme it is HTTP."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        return parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _bad_certificate(chosen: CertManager) -> Iterator[Problem]:
    path = "certificateDuration"
    found = [
        *_bad_duration(path, chosen.duration),
        *_bad_duration("certificateRenewBefore", chosen.renew_before),
    ]
    yield from found
    if not found and parse_nanoseconds(chosen.renew_before) >= parse_nanoseconds(chosen.duration):
        hint = f"write less than {chosen.duration}"
        message = f"is {chosen.renew_before}: the certificate would be renewed for ever"
        yield Problem(path="certificateRenewBefore", message=message, hint=hint)


def _bad_bitwarden(chosen: Choices, server: Bitwarden, environment: Environment) -> Iterator[Problem]:
    if not environment.bitwarden_image:
        hint = "set bitwardenImage of the operator, or RELATED_IMAGE_BITWARDEN_SDK_SERVER in its environment"
        yield Problem(path="", message="the image of the Bitwarden server is not known", hint=hint)
    if not server.secret and chosen.cert_manager is None:
        hint = "name a Secret with tls.crt, tls.key and ca.crt as secretRef, or switch cert-manager on"
        yield Problem(path="secretRef", message="the Bitwarden server has no certificate", hint=hint)
