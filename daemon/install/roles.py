"""The rights of the daemon: each rule is what it uses, and no more.

A test runs the daemon with these roles alone, and finds each right used and no request denied.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.resources.base import GENERATORS_GROUP, GROUP
from syncret.config.resources.kinds import (
    CLUSTER_EXTERNAL_SECRET,
    CLUSTER_GENERATOR,
    CLUSTER_PUSH_SECRET,
    CLUSTER_SECRET_STORE,
    PUSH_SECRET,
    SECRET_STORE,
    Kind,
    Kinds,
)
from syncret.daemon.install.metadata import (
    ACCOUNT,
    AUTHORIZATION,
    HOLDS_LEASE,
    LEASE,
    LEASE_NAMESPACE,
    OTHERS_NAMESPACE,
    i,
    named,
    processes,
    suffixed,
)
from syncret.daemon.install.outline.nodes import (
    Outline,
    When,
    all_of,
    any_of,
    each,
    merged,
    not_,
    text,
    when,
)

READ: Final = ("get", "list", "watch")
"""`list` is for API servers that do not list by watching: before 1.34."""
_OURS: Final = ("sync", "push", "store", "fan_out")
_CHANGE: Final = ("create", "delete", "deletecollection", "patch", "update")
EXPORTS_ROLE: Final = "exports.syncret.dev/aggregate-to-exports"
"""The label of a ClusterRole whose rules the daemon gets, to follow resources of more groups."""
_AGGREGATE: Final = "rbac.authorization.k8s.io/aggregate-to-"

_HANDLED: Final[dict[str, Outline]] = {
    CLUSTER_SECRET_STORE.kind: processes("clusterStore"),
    SECRET_STORE.kind: processes("secretStore"),
    PUSH_SECRET.kind: processes("pushSecret"),
    CLUSTER_EXTERNAL_SECRET.kind: processes("clusterExternalSecret"),
    CLUSTER_PUSH_SECRET.kind: processes("clusterPushSecret"),
}
"""When a kind is acted on; others always are."""
_READ: Final[dict[str, Outline]] = {
    **_HANDLED,
    SECRET_STORE.kind: True,  # those of another daemon may be used
    CLUSTER_GENERATOR.kind: processes("clusterGenerator"),
}
"""When a kind is read; others always are."""
_ONLY: Final = i.only_namespace


class _Resource(Struct, frozen=True):
    """A resource of a rule, and when it is one."""

    name: str
    test: Outline = True

    @property
    def entry(self) -> Outline:
        return self.name if self.test is True else when(self.test, self.name)


def rule(
    group: Outline, resources: Iterable[str | _Resource], verbs: Sequence[str], names: Sequence[Outline] = ()
) -> Outline:
    """A rule for some resources of one API group; absent if none of the resources is.

    Args:
        group: the API group.
        resources: in the plural; some may depend on values.
        verbs: what may be done.
        names: the only objects that it is about; none: all.
    """
    listed = [_Resource(one) if isinstance(one, str) else one for one in resources]
    document: dict[str, Outline] = {"apiGroups": [group], "resources": [one.entry for one in listed]}
    if names:
        document["resourceNames"] = names
    document["verbs"] = verbs
    if any(one.test is True for one in listed):
        return document
    return when(any_of(*(one.test for one in listed)), document)


EVENTS: Final = rule("", ("events",), ("create", "patch"))


class Rights:
    """The rules of an installation, by where they hold."""

    def __init__(self, catalog: Catalog) -> None:
        known = Kinds(catalog)
        self._kinds = tuple(kind for name in known.names() if (kind := known.find(name)) is not None)

    def _of(self, group: str, *roles: str, scoped: bool | None = None) -> Sequence[Kind]:
        found = (
            kind
            for kind in self._kinds
            if kind.group == group and kind.role in roles and (scoped is None or kind.namespaced != scoped)
        )
        return sorted(found, key=lambda kind: kind.plural)

    def _read(self, group: str, *roles: str, scoped: bool | None = None) -> Outline:
        kinds = self._of(group, *roles, scoped=scoped)
        return rule(group, map(_seen, kinds), READ)

    def work(self, *, whole: bool) -> Iterator[Outline]:
        """The rules for where it works: the cluster, or one namespace."""
        scoped = None if whole else False
        yield self._read(GROUP, *_OURS, scoped=scoped)
        yield from self._reported(*_OURS, scoped=scoped)
        owners = self._of(GROUP, "sync", "fan_out", scoped=scoped)
        owned = rule(GROUP, (_handled(kind, "/finalizers") for kind in owners), ("update",))
        yield when(i.rbac.finalizers, owned)
        if whole:
            yield from _fanned_out()
        yield self._read(GENERATORS_GROUP, "generator", "record", scoped=scoped)
        states = [kind.plural for kind in self._of(GENERATORS_GROUP, "record")]
        yield rule(GENERATORS_GROUP, states, ("create", "update", "patch", "delete"))
        yield rule("", ("secrets",), (*READ, "create", "update", "delete"))
        yield rule("", ("configmaps", "serviceaccounts"), READ)
        yield when(i.rbac.tokens, rule("", ("serviceaccounts/token",), ("create",)))
        yield EVENTS
        yield each(
            i.generic_targets,
            lambda target: {
                "apiGroups": [target.group],
                "resources": target.resources,
                "verbs": (*READ, "create", "update", "delete"),
            },
        )

    def exports(self) -> Iterator[Outline]:
        """What is read of others' resources, each group by its name, and what is written for them."""
        yield each(
            i.exporting_groups,
            lambda group: {"apiGroups": [group], "resources": ["*"], "verbs": READ},
        )
        yield when(i.exporting_groups, rule("", ("configmaps",), ("create", "update", "delete")))

    def _reported(self, *roles: str, scoped: bool | None) -> Iterator[Outline]:
        """Finalizers and status of the kinds that it handles."""
        handled = self._of(GROUP, *roles, scoped=scoped)
        if handled:
            finalized = [_handled(kind) for kind in handled if kind != CLUSTER_PUSH_SECRET]
            yield rule(GROUP, finalized, ("patch",))
            yield rule(GROUP, [_handled(kind, "/status") for kind in handled], ("patch",))

    def cluster_stores(self) -> Iterator[Outline]:
        """What one namespace needs of the cluster: stores and generators that all share."""
        yield self._read(GROUP, "store", scoped=True)
        yield from self._reported("store", scoped=True)
        yield self._read(GENERATORS_GROUP, "generator", scoped=True)

    def users(self, verbs: Sequence[str]) -> Sequence[Outline]:
        """The rules for users: kinds that they write, but no records, which may hold values."""
        handled, generators = self._of(GROUP, *_OURS), self._of(GENERATORS_GROUP, "generator")
        return [
            rule(GROUP, map(_seen, handled), verbs),
            rule(GENERATORS_GROUP, map(_seen, generators), verbs),
        ]


def _handled(kind: Kind, subresource: str = "") -> _Resource:
    return _Resource(f"{kind.plural}{subresource}", _HANDLED.get(kind.kind, True))


def _seen(kind: Kind) -> _Resource:
    return _Resource(kind.plural, _READ.get(kind.kind, True))


def _fanned_out() -> Iterator[Outline]:
    """What is created in the namespaces that a cluster-scoped object selects."""
    children = (
        _Resource(kind.child.plural, _HANDLED[kind.kind])
        for kind in (CLUSTER_EXTERNAL_SECRET, CLUSTER_PUSH_SECRET)
        if kind.child is not None
    )
    yield rule(GROUP, children, ("create", "update", "delete"))
    patched = when(_HANDLED[CLUSTER_EXTERNAL_SECRET.kind], "patch")
    yield {"apiGroups": [""], "resources": ["namespaces"], "verbs": [*READ, patched]}


def election() -> Iterator[Outline]:
    """The rights of the election; a right to create cannot be limited to a name."""
    yield rule("coordination.k8s.io", ("leases",), ("create",))
    yield rule("coordination.k8s.io", ("leases",), ("get", "update"), (LEASE,))


def roles(catalog: Catalog) -> Sequence[Outline]:
    """Roles and their bindings: for the daemon, and of users for our kinds."""
    rights = Rights(catalog)
    whole, only = not_(_ONLY), all_of(_ONLY, processes("clusterStore"))
    return [
        *_granted(whole, suffixed("controller"), rights.work(whole=True), None),
        *_granted(_ONLY, suffixed("controller"), rights.work(whole=False), _ONLY),
        *_granted(only, text(i.name, "-", _ONLY, "-cluster-stores"), rights.cluster_stores(), None),
        # where Events of cluster-scoped objects are
        *_granted(only, text(i.name, "-", _ONLY, "-events"), iter((EVENTS,)), "default"),
        *_for_exports(rights, whole),
        *_granted(HOLDS_LEASE, suffixed("leaderelection"), election(), LEASE_NAMESPACE),
        *_granted(OTHERS_NAMESPACE, suffixed("interlock"), election(), OTHERS_NAMESPACE),
        when(all_of(i.rbac.create, i.rbac.reviews), _binding(suffixed("reviews"), "system:auth-delegator")),
        *_for_users(rights),
    ]


def _for_exports(rights: Rights, whole: Outline) -> Iterator[Outline]:
    """The rights for exports; in the cluster there is also a role that others add to by a label."""
    name, more = suffixed("exports"), suffixed("exports-more")
    yield from _granted(all_of(whole, i.exporting_groups), name, rights.exports(), None)
    yield from _granted(all_of(_ONLY, i.exporting_groups), name, rights.exports(), _ONLY)
    test = all_of(i.rbac.create, whole, i.exporting_groups)
    selected: Outline = {"clusterRoleSelectors": [{"matchLabels": {EXPORTS_ROLE: "true"}}]}
    role = named(AUTHORIZATION, "ClusterRole", more, namespace=None)
    yield when(test, {**role, "aggregationRule": selected})
    yield when(test, _binding(more, more))


def _granted(test: Outline, name: Outline, rules: Iterator[Outline], namespace: Outline) -> Iterator[Outline]:
    """A role with its binding, in a namespace or (None) in the cluster."""
    kind = "ClusterRole" if namespace is None else "Role"
    role: Outline = {**named(AUTHORIZATION, kind, name, namespace=namespace), "rules": list(rules)}
    yield when(all_of(i.rbac.create, test), role)
    yield when(all_of(i.rbac.create, test), _binding(name, name, namespace))


def _binding(name: Outline, role: Outline, namespace: Outline = None) -> Outline:
    kind = "ClusterRole" if namespace is None else "Role"
    return {
        **named(AUTHORIZATION, f"{kind}Binding", name, namespace=namespace),
        "roleRef": {"apiGroup": AUTHORIZATION.partition("/")[0], "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": i.namespace}],
    }


def _for_users(rights: Rights) -> Iterator[Outline]:
    """Who may view, edit or administrate a namespace may do so with our kinds, too."""
    wanted = {"view": i.rbac.view, "edit": i.rbac.edit, "admin": i.rbac.admin}
    for suffix, verbs, extended in (
        ("view", READ, ("view", "edit", "admin")),
        ("edit", _CHANGE, ("edit", "admin")),
    ):
        labels = merged(*(When(wanted[one], {f"{_AGGREGATE}{one}": "true"}, {}) for one in extended))
        role = named(AUTHORIZATION, "ClusterRole", suffixed(suffix), namespace=None, labels=labels)
        test = all_of(not_(_ONLY), any_of(*(wanted[one] for one in extended)))
        yield when(test, {**role, "rules": rights.users(verbs)})
    bindings = named(
        AUTHORIZATION,
        "ClusterRole",
        suffixed("servicebindings"),
        namespace=None,
        labels={"servicebinding.io/controller": "true"},
    )
    read = rule(GROUP, ("externalsecrets", "pushsecrets"), READ)
    yield when(all_of(not_(_ONLY), i.rbac.service_bindings), {**bindings, "rules": [read]})
