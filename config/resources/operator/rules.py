"""The rules of the operator's kinds beyond types and bounds, in Python and as an API server states them."""

import re
from collections.abc import Callable
from typing import Any, Final

from syncret.config.fields import Rule, Transition
from syncret.config.meta import Document, member

_LONGEST_DOMAIN: Final = 253
_LONGEST_NAME: Final = 63
_DOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_ANNOTATION: Final = rf"^({_DOMAIN}/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
_RESERVED: Final = r"^(([^/]*\.)?(kubernetes\.io|k8s\.io|openshift\.io)|cert-manager\.io)/"
_RESERVED_VARIABLES: Final = ("HOSTNAME", "KUBERNETES_", "EXTERNAL_SECRETS_")
_ISSUERS: Final = frozenset({"issuer", "clusterissuer"})
_ISSUER_GROUP: Final = "cert-manager.io"
_KIND_IS_KNOWN: Final = "self.kind.lowerAscii() in ['issuer', 'clusterissuer']"
_GROUP_IS_KNOWN: Final = f"self.group.lowerAscii() == '{_ISSUER_GROUP}'"
_ASCII_LOWER: Final = str.maketrans({chr(each): chr(each + 32) for each in range(ord("A"), ord("Z") + 1)})


def _cel(text: str) -> str:
    """A text as a literal of CEL."""
    return "'" + text.replace("\\", "\\\\") + "'"


def named_cluster(kind: str) -> Rule:
    """There is one object of the kind, and this is its name."""

    def holds(document: Document) -> bool:
        return member(document, "metadata").get("name") == "cluster"

    return Rule(
        f"there is one {kind} in a cluster: metadata.name must be 'cluster'",
        "self.metadata.name == 'cluster'",
        holds,
        "metadata",
    )


def fixed(name: str) -> Transition:
    """A field that may not change while it is there, before and after."""

    def holds(document: Document, previous: Document) -> bool:
        return name not in document or name not in previous or document[name] == previous[name]

    there = f"!has(self.{name}) || !has(oldSelf.{name})"
    return Transition(
        f"{name} is immutable once it is set", f"{there} || self.{name} == oldSelf.{name}", holds, name
    )


def needs(name: str, value: str, other: str, *, at: str = "") -> Rule:
    """A field of that value needs another one to be there."""

    def holds(document: Document) -> bool:
        return document.get(name) != value or other in document

    return Rule(
        f"{other} is required where {name} is '{value}'",
        f"!has(self.{name}) || self.{name} != '{value}' || has(self.{other})",
        holds,
        at or other,
    )


def only_where(name: str, switch: str, on: str) -> Rule:
    """A field may be 'true' only where another has that value."""

    def holds(document: Document) -> bool:
        return document.get(name, "false") == "false" or document.get(switch) == on

    return Rule(
        f"{name} may be 'true' only where {switch} is '{on}'",
        f"!has(self.{name}) || self.{name} == 'false' || (has(self.{switch}) && self.{switch} == '{on}')",
        holds,
        name,
    )


def _is_one_of(value: Any, words: frozenset[str], *, required: bool) -> bool:  # noqa: ANN401  # any JSON value
    return value.translate(_ASCII_LOWER) in words if isinstance(value, str) else not required


def issuer(*, required: bool) -> tuple[Rule, Rule]:
    """An issuer of cert-manager, in any case of letters; `required`: a missing kind or group is none."""

    def group(document: Document) -> bool:
        return _is_one_of(document.get("group"), frozenset({_ISSUER_GROUP}), required=required)

    def kind(document: Document) -> bool:
        return _is_one_of(document.get("kind"), _ISSUERS, required=required)

    return (
        Rule(
            "kind must be Issuer or ClusterIssuer",
            f"has(self.kind) && {_KIND_IS_KNOWN}" if required else f"!has(self.kind) || {_KIND_IS_KNOWN}",
            kind,
            "kind",
        ),
        Rule(
            f"group must be {_ISSUER_GROUP}",
            f"has(self.group) && {_GROUP_IS_KNOWN}" if required else f"!has(self.group) || {_GROUP_IS_KNOWN}",
            group,
            "group",
        ),
    )


def _of_annotations(message: str, cel: str, holds: Callable[[str], bool]) -> Rule:
    """A rule on each key of `annotations`; `cel` is about `key`."""

    def all_hold(document: Document) -> bool:
        return all(holds(key) for key in document.get("annotations", ()))

    return Rule(
        message, f"!has(self.annotations) || self.annotations.all(key, {cel})", all_hold, "annotations"
    )


def _name_of(key: str) -> str:
    return key.split("/")[1] if "/" in key else key


ANNOTATION_RULES: Final = (
    _of_annotations(
        "the key of an annotation is a name of letters, digits, '-', '_' and '.', with a letter or digit at "
        "both ends, after a DNS domain in lower case and '/' if it has one",
        f"key.matches({_cel(_ANNOTATION)})",
        lambda key: re.search(_ANNOTATION, key) is not None,
    ),
    _of_annotations(
        f"the domain of an annotation must have at most {_LONGEST_DOMAIN} characters",
        f"!key.contains('/') || key.split('/')[0].size() <= {_LONGEST_DOMAIN}",
        lambda key: "/" not in key or len(key.split("/")[0]) <= _LONGEST_DOMAIN,
    ),
    _of_annotations(
        f"the name of an annotation must have at most {_LONGEST_NAME} characters",
        f"(key.contains('/') ? key.split('/')[1] : key).size() <= {_LONGEST_NAME}",
        lambda key: len(_name_of(key)) <= _LONGEST_NAME,
    ),
    _of_annotations(
        "annotations of kubernetes.io, k8s.io, openshift.io and their subdomains, and of cert-manager.io, "
        "are reserved",
        f"!key.matches({_cel(_RESERVED)})",
        lambda key: re.search(_RESERVED, key) is None,
    ),
)


def _variables_are_free(document: Document) -> bool:
    return not any(each["name"].startswith(_RESERVED_VARIABLES) for each in document.get("overrideEnv", ()))


VARIABLE_RULE: Final = Rule(
    f"variables that begin with {', '.join(_RESERVED_VARIABLES)} are reserved",
    "!has(self.overrideEnv) || self.overrideEnv.all(each, "
    f"!{[*_RESERVED_VARIABLES]}.exists(start, each.name.startsWith(start)))",
    _variables_are_free,
    "overrideEnv",
)


def _namespace_stays(document: Document, previous: Document) -> bool:
    return document.get("namespace") == previous.get("namespace")


NAMESPACE_STAYS: Final = Transition(
    "namespace is immutable: it is chosen when the object is created",
    "has(self.__namespace__) ? has(oldSelf.__namespace__) && self.__namespace__ == oldSelf.__namespace__ : "
    "!has(oldSelf.__namespace__)",  # a reserved word of CEL
    _namespace_stays,
    "namespace",
)


def _earlier_policies_stay(document: Document, previous: Document) -> bool:
    if "networkPolicies" not in document:
        return True
    pairs = {(each["name"], each["componentName"]) for each in document["networkPolicies"]}
    return all((each["name"], each["componentName"]) in pairs for each in previous.get("networkPolicies", ()))


POLICIES_STAY: Final = Transition(
    "the name and componentName of each policy are immutable: every earlier pair must stay",
    "!has(self.networkPolicies) || !has(oldSelf.networkPolicies) || oldSelf.networkPolicies.all(old, "
    "self.networkPolicies.exists(each, each.name == old.name && each.componentName == old.componentName))",
    _earlier_policies_stay,
    "networkPolicies",
)

_PLUGIN: Final = "bitwardenSecretManagerProvider"
_PROVIDER_MODE: Final = "self.controllerConfig.certProvider.certManager"


def _plugin_has_certificate(spec: Document) -> bool:
    plugin = member(spec, "plugins", _PLUGIN)
    managed = member(spec, "controllerConfig", "certProvider", "certManager").get("mode") == "Enabled"
    return plugin.get("mode") != "Enabled" or "secretRef" in plugin or managed


def _cert_manager_once(spec: Document) -> bool:
    earlier = "certManagerConfig" in member(spec, "appConfig")
    return not (earlier and "certManager" in member(spec, "controllerConfig", "certProvider"))


def _plugin_once(spec: Document) -> bool:
    return not (_PLUGIN in member(spec, "appConfig") and _PLUGIN in member(spec, "plugins"))


CONFIG_RULES: Final = (
    Rule(
        "plugins.bitwardenSecretManagerProvider is Enabled: it needs a secretRef, or "
        "controllerConfig.certProvider.certManager to be Enabled",
        f"!has(self.plugins) || !has(self.plugins.{_PLUGIN}) || !has(self.plugins.{_PLUGIN}.mode) || "
        f"self.plugins.{_PLUGIN}.mode != 'Enabled' || has(self.plugins.{_PLUGIN}.secretRef) || "
        "(has(self.controllerConfig) && has(self.controllerConfig.certProvider) && "
        f"has({_PROVIDER_MODE}) && {_PROVIDER_MODE}.mode == 'Enabled')",
        _plugin_has_certificate,
        "plugins",
    ),
    Rule(
        "cert-manager has two places, of which one may be used: appConfig.certManagerConfig or "
        "controllerConfig.certProvider.certManager",
        "!has(self.appConfig) || !has(self.appConfig.certManagerConfig) || !has(self.controllerConfig) || "
        f"!has(self.controllerConfig.certProvider) || !has({_PROVIDER_MODE})",
        _cert_manager_once,
        "controllerConfig.certProvider",
    ),
    Rule(
        "the Bitwarden server has two places, of which one may be used: "
        "appConfig.bitwardenSecretManagerProvider or plugins.bitwardenSecretManagerProvider",
        f"!has(self.appConfig) || !has(self.appConfig.{_PLUGIN}) || !has(self.plugins) || "
        f"!has(self.plugins.{_PLUGIN})",
        _plugin_once,
        f"plugins.{_PLUGIN}",
    ),
)
