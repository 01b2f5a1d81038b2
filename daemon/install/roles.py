"""The rights of the daemon: each rule is what it uses, and no more.

A test runs the daemon with these roles alone, and finds each right used and no request denied.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.config.resources.base import GENERATORS_GROUP, GROUP
from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_PUSH_SECRET,
    Kinds,
    not_watched,
    switched_off,
)
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.metadata import AUTHORIZATION, named

READ: Final = ("get", "list", "watch")
"""`list` is for API servers that do not list by watching: before 1.34."""
_OURS: Final = ("sync", "push", "store", "fan_out")
_CHANGE: Final = ("create", "delete", "deletecollection", "patch", "update")
_AGGREGATE: Final = "rbac.authorization.k8s.io/aggregate-to-"


class Rule(Struct, frozen=True):
    """What may be done with some resources of one API group."""

    group: str
    resources: Sequence[str]
    verbs: Sequence[str]
    names: Sequence[str] = ()
    """The only objects that it is about; none: all."""

    @property
    def document(self) -> Document:
        """As a role has it."""
        names = {"resourceNames": list(self.names)} if self.names else {}
        return {
            "apiGroups": [self.group],
            "resources": list(self.resources),
            **names,
            "verbs": list(self.verbs),
        }


EVENTS: Final = Rule("", ("events",), ("create", "patch"))


class Rights:
    """The rules of an installation, by where they hold."""

    def __init__(self, installation: Installation, catalog: Catalog) -> None:
        self._installation = installation
        self._process = installation.daemon.process
        known = Kinds(catalog)
        self._kinds = tuple(kind for name in known.names() if (kind := known.find(name)) is not None)
        self._unread = not_watched(installation.daemon)
        self._untouched = switched_off(self._process)

    def _plurals(self, group: str, *roles: str, scoped: bool | None = None) -> Sequence[str]:
        return sorted(
            kind.plural
            for kind in self._kinds
            if kind.group == group and kind.role in roles and (scoped is None or kind.namespaced != scoped)
            if kind.kind not in self._unread
        )

    def _written(self, *roles: str, scoped: bool | None = None) -> Sequence[str]:
        off = {f"{kind.lower()}s" for kind in self._untouched}
        return [each for each in self._plurals(GROUP, *roles, scoped=scoped) if each not in off]

    def work(self) -> Iterator[Rule]:
        """The rules for where it works: the cluster, or one namespace."""
        whole = not self._installation.only_namespace
        scoped = None if whole else False
        yield Rule(GROUP, self._plurals(GROUP, *_OURS, scoped=scoped), READ)
        yield from self._reported(*_OURS, scoped=scoped)
        owners = self._written("sync", "fan_out", scoped=scoped)
        yield Rule(GROUP, [f"{each}/finalizers" for each in owners], ("update",))
        if whole:
            yield from self._fanned_out()
        yield Rule(
            GENERATORS_GROUP, self._plurals(GENERATORS_GROUP, "generator", "record", scoped=scoped), READ
        )
        states = self._plurals(GENERATORS_GROUP, "record")
        yield Rule(GENERATORS_GROUP, states, ("create", "update", "patch", "delete"))
        yield Rule("", ("secrets",), (*READ, "create", "update", "delete"))
        yield Rule("", ("configmaps", "serviceaccounts"), READ)
        if self._installation.rbac.tokens:
            yield Rule("", ("serviceaccounts/token",), ("create",))
        yield EVENTS
        for each in self._installation.generic_targets:
            yield Rule(each.group, each.resources, (*READ, "create", "update", "delete"))

    def _reported(self, *roles: str, scoped: bool | None) -> Iterator[Rule]:
        """Finalizers and status of what it handles."""
        handled = self._written(*roles, scoped=scoped)
        if handled:
            finalized = [each for each in handled if each != CLUSTER_PUSH_SECRET.plural]
            yield Rule(GROUP, finalized, ("patch",))
            yield Rule(GROUP, [f"{each}/status" for each in handled], ("patch",))

    def _fanned_out(self) -> Iterator[Rule]:
        """What is created in the namespaces that a cluster-scoped object selects."""
        on = {CLUSTER_EXTERNAL_SECRET: self._process.cluster_external_secret}
        on[CLUSTER_PUSH_SECRET] = self._process.cluster_push_secret
        children = [kind.child.plural for kind, is_on in on.items() if is_on and kind.child is not None]
        if children:
            yield Rule(GROUP, children, ("create", "update", "delete"))
        yield Rule("", ("namespaces",), (*READ, "patch") if on[CLUSTER_EXTERNAL_SECRET] else READ)

    def cluster_stores(self) -> Iterator[Rule]:
        """What one namespace needs of the cluster: stores and generators that all share."""
        stores = self._plurals(GROUP, "store", scoped=True)
        if stores:
            yield Rule(GROUP, stores, READ)
            yield from self._reported("store", scoped=True)
        generators = self._plurals(GENERATORS_GROUP, "generator", scoped=True)
        if generators:
            yield Rule(GENERATORS_GROUP, generators, READ)

    def election(self) -> Iterator[Rule]:
        """What the election needs beside the Lease. What may be created cannot be bound by name."""
        yield Rule("coordination.k8s.io", ("leases",), ("create",))
        yield Rule(
            "coordination.k8s.io", ("leases",), ("get", "update"), (self._installation.daemon.lease_name,)
        )

    def users(self) -> tuple[Sequence[str], Sequence[str]]:
        """What people handle, by group; no records, which may hold values."""
        return self._plurals(GROUP, *_OURS), self._plurals(GENERATORS_GROUP, "generator")


def roles(installation: Installation, catalog: Catalog) -> Iterator[Document]:
    """Roles and their bindings: for the daemon, and of users for our kinds."""
    rights = Rights(installation, catalog)
    only = installation.only_namespace
    if installation.rbac.create:
        yield from _granted(installation, "controller", rights.work(), only)
        if only and installation.daemon.process.cluster_store:
            yield from _granted(installation, f"{only}-cluster-stores", rights.cluster_stores(), "")
            # where Events of cluster-scoped objects are
            yield from _granted(installation, f"{only}-events", iter((EVENTS,)), "default")
        if installation.elects:
            within = installation.daemon.leader_election.namespace or installation.namespace
            yield from _granted(installation, "election", rights.election(), within)
    if installation.rbac.aggregate and not only:
        yield from _for_users(installation, *rights.users())


def _granted(
    installation: Installation, suffix: str, rules: Iterator[Rule], namespace: str
) -> Iterator[Document]:
    """A role with its binding, in a namespace or (empty) in the cluster."""
    kind = "Role" if namespace else "ClusterRole"
    name = f"{installation.name}-{suffix}"
    role = named(installation, AUTHORIZATION, kind, name, namespace=namespace)
    yield {**role, "rules": [rule.document for rule in rules]}
    yield {
        **named(installation, AUTHORIZATION, f"{kind}Binding", name, namespace=namespace),
        "roleRef": {"apiGroup": AUTHORIZATION.partition("/")[0], "kind": kind, "name": name},
        "subjects": [
            {"kind": "ServiceAccount", "name": installation.account, "namespace": installation.namespace}
        ],
    }


def _for_users(
    installation: Installation, handled: Sequence[str], generators: Sequence[str]
) -> Iterator[Document]:
    """Who may view, edit or administrate a namespace may do so with our kinds, too."""
    for suffix, verbs, roles_ in (
        ("view", READ, ("view", "edit", "admin")),
        ("edit", _CHANGE, ("edit", "admin")),
    ):
        labels = {f"{_AGGREGATE}{each}": "true" for each in roles_}
        rules = (Rule(GROUP, handled, verbs), Rule(GENERATORS_GROUP, generators, verbs))
        role = named(
            installation, AUTHORIZATION, "ClusterRole", f"{installation.name}-{suffix}", labels=labels
        )
        yield {**role, "rules": [rule.document for rule in rules]}
    binding = named(
        installation,
        AUTHORIZATION,
        "ClusterRole",
        f"{installation.name}-servicebindings",
        labels={"servicebinding.io/controller": "true"},
    )
    yield {**binding, "rules": [Rule(GROUP, ("externalsecrets", "pushsecrets"), READ).document]}
