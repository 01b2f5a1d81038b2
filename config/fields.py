"""The building blocks of every model: the base class, rules between fields, names, selectors, durations."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar, dataclass_transform

import msgspec
from msgspec import Meta

from syncret.config.meta import Document

Json: TypeAlias = Any
"""Any JSON value (`x-kubernetes-preserve-unknown-fields`)."""


class Rule(NamedTuple):
    """A rule between the fields of one object, as a CRD would state it.

    `holds` checks the (pruned, defaulted) JSON object; `cel` is the same rule for a Kubernetes API server.
    `field`, below the object, is the one to blame; empty: the object.
    """

    message: str
    cel: str
    holds: Callable[[Document], bool]
    field: str = ""


class Transition(NamedTuple):
    """A rule between an object and the version that it replaces, as a CRD would state it with `oldSelf`.

    It counts only where the object was there before, too. `holds` gets the new JSON object and the old one.
    """

    message: str
    cel: str
    holds: Callable[[Document, Document], bool]
    field: str = ""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class _ModelMeta(msgspec.StructMeta):
    """Makes every subclass of Model frozen and keyword-only, in a way that type checkers understand."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Json) -> Json:
        options = {"frozen": True, "kw_only": True, **options}
        return super().__new__(mcls, name, bases, namespace, **options)


class Model(
    msgspec.Struct, metaclass=_ModelMeta, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """Base of all models of manifests: frozen, camelCase on the wire, absent fields omitted.

    What Python types cannot express is in class variables that `syncret.config.schema.shape` reads: RULES
    between fields, TRANSITIONS between two versions of the object, how many PROPERTIES (min, max) an object
    may have once unknown fields are gone, and whether it is ATOMIC: replaced as a whole by a server-side
    apply. A list of objects may name its `list_keys`.

    A default that is true in Python ("Owner", 24, True) is the CRD's own: it is filled into the stored
    document where the field is absent, unless the type is `Assumed[...]`. One that is false (None, "", 0,
    False, (), {}) only spares readers a test and is not filled in, unless the type is `Defaulted[...]`. An
    object is filled in where the field has `default_factory=<its model>`; an instance is for readers alone.

    The docstring below a field is its documentation (`syncret.config.schema.docstrings`).
    """

    RULES: ClassVar[tuple[Rule, ...]] = ()
    TRANSITIONS: ClassVar[tuple[Transition, ...]] = ()
    PROPERTIES: ClassVar[tuple[int, int | None]] = (0, None)
    ATOMIC: ClassVar[bool] = False


def _counts(names: tuple[str, ...], allowed: set[int], document: Document) -> bool:
    return sum(name in document for name in names) in allowed


def exactly_one(*names: str, message: str = "") -> Rule:
    """Exactly one of the named fields is set."""
    tests = ",".join(f"has(self.{name})" for name in names)
    return Rule(
        message or f"exactly one of the fields in [{' '.join(names)}] must be set",
        f"[{tests}].filter(x,x==true).size() == 1",
        partial(_counts, names, {1}),
    )


def at_most_one(*names: str, message: str = "") -> Rule:
    """No two of the named fields are set together."""
    tests = ",".join(f"has(self.{name})" for name in names)
    return Rule(
        message or f"at most one of the fields in [{' '.join(names)}] may be set",
        f"[{tests}].filter(x,x==true).size() <= 1",
        partial(_counts, names, {0, 1}),
    )


def at_least_one(*names: str, message: str = "") -> Rule:
    """One of the named fields is set, or several are."""
    return Rule(
        message or f"either {' or '.join(names)} must be set",
        " || ".join(f"has(self.{name})" for name in names),
        partial(_counts, names, {*range(1, len(names) + 1)}),
    )


def either(first: str, second: str) -> Rule:
    """`exactly_one` of two fields, in the words of CRDs that compare the two."""
    return Rule(
        f"exactly one of {first} or {second} must be set",
        f"has(self.{first}) != has(self.{second})",
        partial(_counts, (first, second), {1}),
    )


def either_alone(first: str, second: str, *, message: str = "") -> Rule:
    """`exactly_one` of two fields, in the words of CRDs that write out both cases."""
    one, other = f"has(self.{first})", f"has(self.{second})"
    return Rule(
        message or f"Exactly one of '{first}' or '{second}' must be specified",
        f"({one} && !{other}) || (!{one} && {other})",
        partial(_counts, (first, second), {1}),
    )


DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
SECRET_KEY = r"^[-._a-zA-Z0-9]+$"

T = TypeVar("T")

Defaulted = Annotated[T, Meta(extra={"defaulted": True})]
"""`noUpper: Defaulted[bool] = False`: the CRD fills this default in, though it is false or empty."""

Assumed = Annotated[T, Meta(extra={"defaulted": False})]
"""`kind: Assumed[str] = "SecretStore"`: the model's default; the stored document lacks the field."""

Nullable = Annotated[T | None, Meta(extra={"nullable": True})]
"""A field that may be null; everywhere else an explicit null is the same as an absent field."""

Int32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
"""An integer like any other to the API server; only the operator needs it to fit into 32 bits."""

Int64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

# Patterns that admission matches, and no reader of an admitted object again.
Name = Annotated[str, Meta(extra={"pattern": DNS_SUBDOMAIN}, min_length=1, max_length=253)]
Namespace = Annotated[str, Meta(extra={"pattern": DNS_LABEL}, min_length=1, max_length=63)]
SecretKey = Annotated[str, Meta(extra={"pattern": SECRET_KEY}, min_length=1, max_length=253)]
Base64 = Annotated[str, Meta(extra_json_schema={"format": "byte"})]
"""Bytes in base64, as a CRD takes them: not empty, on one line; kept as text in the model."""

Bytes = Annotated[str, Meta(extra={"format": "go-bytes"})]
"""Bytes in base64, as Kubernetes' own kinds take them: empty and with line ends too."""

StoreChoice = Annotated[dict[str, Any], Meta(extra={"catalog": "stores"})]
"""`spec.provider` of a store: one key, the provider's name; validated by that provider's model."""

GeneratorChoice = Annotated[dict[str, Any], Meta(extra={"catalog": "generators"})]
"""`spec.generator` of a ClusterGenerator: one key `<kind>Spec`, validated by that generator's model."""

Duration = Annotated[str, Meta(extra={"duration": True})]
"""A Go duration (`1h30m`), kept as written; `syncret.config.durations` turns it into seconds."""


class SecretKeySelector(Model):
    """One key of one Secret. A namespace counts only if the store is cluster-scoped.

    Example: {name: vault-login, key: token}
    """

    name: Name = ""
    """Name of the Secret that holds the value; it must exist before the store can be opened.
    Example: vault-login"""
    key: SecretKey = ""
    """Key of the Secret whose value is used; empty only where the method has a default key. Example: token"""
    namespace: Namespace | None = None
    """Namespace of the Secret, in a cluster-scoped store; a namespaced store reads in its own namespace only.
    Example: vault"""


class ServiceAccountSelector(Model):
    """One ServiceAccount, and the audiences of its token.

    Example: {name: app, audiences: [vault]}
    """

    name: Name
    """Name of the ServiceAccount that a token is issued for; only an API server can issue one.
    Example: app"""
    namespace: Namespace | None = None
    """Namespace of the ServiceAccount, in a cluster-scoped store; a namespaced store uses its own namespace
    only.
    Example: apps"""
    audiences: tuple[str, ...] = ()
    """For whom the token is issued; a server that checks the audience refuses a token for others.
    Example: [vault]"""


class CAProvider(Model):
    """The source of a CA bundle: a key of a Secret or ConfigMap.

    Example: {type: ConfigMap, name: company-ca, key: ca.crt}
    """

    type: Literal["Secret", "ConfigMap"]
    """Kind of the object that holds the certificates. Example: ConfigMap"""
    name: Name
    """Name of that object. Example: company-ca"""
    key: SecretKey = ""
    """Key whose value is one or more certificates in PEM. Example: ca.crt"""
    namespace: Namespace | None = None
    """Namespace of that object: required in a cluster-scoped store, and forbidden in a namespaced one.
    Example: kube-public"""


class LabelRequirement(Model):
    """One expression of a label selector."""

    key: str
    """Label that is compared. Example: team"""
    operator: str
    """How it is compared: In, NotIn, Exists or DoesNotExist; any other word is an error. Example: In"""
    values: tuple[str, ...] = ()
    """Values for In and NotIn, of which one must (not) be equal; empty for the other two.
    Example: [payments, shop]"""


class LabelSelector(Model):
    """Labels that an object must have: all labels and expressions match; an empty selector matches all.

    Example: {matchLabels: {team: payments}}
    """

    ATOMIC: ClassVar[bool] = True

    match_labels: dict[str, str] = {}
    """Labels with exactly these values. Example: {team: payments}"""
    match_expressions: tuple[LabelRequirement, ...] = ()
    """Conditions on labels, all of which must hold."""
