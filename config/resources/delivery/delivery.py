"""Delivery: which Secrets go where on a host, what is checked before they go live, and what is reloaded."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from syncret.config.fields import Json, LabelSelector, Model, Name, Rule, exactly_one
from syncret.config.resources.base import Resource
from syncret.config.resources.delivery.status import DeliveryStatus
from syncret.config.resources.delivery.steps import DeliveryCheck, DeliveryHealth, DeliveryReload
from syncret.config.resources.delivery.targets import DeliveryTarget
from syncret.config.resources.delivery.texts import Span


class DeliverySource(Model):
    """A Secret or ConfigMap of the same namespace, or every Secret whose labels match.

    Example: {secret: tls, keys: {tls.crt: server.pem, tls.key: server.key}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("secret", "configMap", "selector"),)

    secret: Name = ""
    """Name of a Secret; until it exists, nothing is delivered. Example: tls"""
    config_map: Name = ""
    """Name of a ConfigMap; until it exists, nothing is delivered. Example: company-ca"""
    selector: LabelSelector | None = None
    """Labels of the Secrets whose keys are delivered, in order of their names; at most 256 may match."""
    keys: Json = None
    """The keys that are delivered: a list, or a map of each to the name of its file; by default all.
    Example: {tls.crt: server.pem, tls.key: server.key}"""
    prefix: Annotated[str, Meta(extra={"pattern": r"^[-._a-zA-Z0-9]*$"}, max_length=64)] = ""
    """What is put before each name of a file, which keeps the keys of several sources apart. Example: db-"""
    optional: bool = False
    """Whether the source may be missing; it then has no keys."""


class Debounce(Model):
    """How long changes are collected before they are delivered together.

    Example: {quiet: 5s}
    """

    quiet: Span = "2s"
    """How long nothing may have changed, up to 5m. Example: 5s"""
    at_most: Span = "30s"
    """How long the first change waits at most, up to 1h. Example: 2m"""


class DeliverySpec(Model):
    """Which values go where, what is checked before they go live, and what is reloaded then.

    Example: {sources: [{secret: tls}], to: [{directory: {path: /srv/syncret/tls}}]}
    """

    sources: Annotated[tuple[DeliverySource, ...], Meta(min_length=1, max_length=64)]
    """The Secrets and ConfigMaps whose keys make up the set. Example: [{secret: tls}]"""
    to: Annotated[tuple[DeliveryTarget, ...], Meta(min_length=1, max_length=16)]
    """The places that the set goes to, in this order. Example: [{directory: {path: /srv/syncret/tls}}]"""
    check: DeliveryCheck | None = None
    """The check that has to succeed before a new set goes live; absent: there is none."""
    reload: DeliveryReload | None = None
    """How the program that uses the files is made to read them again; absent: it is not."""
    healthy: DeliveryHealth | None = None
    """How it is proven that the new set works; absent: a reload that did not fail is enough."""
    on_failure: Literal["rollback", "keep"] = "rollback"
    """rollback brings the old set back when reload or health fail; keep leaves the new one, as for a password
    whose predecessor is revoked.
    Example: keep"""
    debounce: Debounce = msgspec.field(default_factory=Debounce)
    """How long changes are collected before they are delivered together."""
    min_interval: Span = "10s"
    """How long after a reload the next one waits, up to 24h; a rollback does not. Example: 1m"""
    keep_old: Span = "10s"
    """How long the previous set stays for programs that have opened it, 1s to 10m. Example: 1m"""
    max_stale: Span = ""
    """Age from which values of the offline cache are withdrawn; by default never. Example: 24h"""
    suspend: bool = False
    """Whether nothing is delivered for now; what is live stays."""
    deletion_policy: Literal["Retain", "Delete"] = "Retain"
    """Retain leaves what is live when this object goes; Delete removes it. Example: Delete"""


class Delivery(Resource):
    """Delivers Secrets to files, env files and credentials of this host: checked, as one set, with reload."""

    spec: DeliverySpec = DeliverySpec(sources=(), to=())
    """Which values go where, what is checked before they go live, and what is reloaded then."""
    status: DeliveryStatus = DeliveryStatus()
    """What is live, what comes next, and how the last attempt went; ignored in a manifest."""
