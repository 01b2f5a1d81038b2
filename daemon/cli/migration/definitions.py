"""What in a cluster belongs to ESO's installation, and has to be seen to before that goes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.meta import Document, member

KEEP: Final = "helm.sh/resource-policy"
_RELEASE: Final = ("meta.helm.sh/release-namespace", "meta.helm.sh/release-name")
OLD: Final = "v1beta1"
_STRUCK: Final = '\'{"status":{"storedVersions":["v1"]}}\''
WEBHOOKS: Final = ("secretstore-validate", "externalsecret-validate")
"""The names of ESO's configurations of its webhook."""


class Findings(Struct, frozen=True, kw_only=True):
    """What was found: names of CRDs and configurations, each with what is to be done."""

    stored_before: Sequence[str] = ()
    """CRDs of which objects may still be stored in the older version."""
    goes_with: Mapping[str, Sequence[str]] = {}
    """CRDs that `helm uninstall` deletes, with every object of theirs, by the release as NAMESPACE/NAME."""
    refusing: Sequence[str] = ()
    """Configurations that refuse every write once ESO's webhook is gone."""


def findings_of(definitions: Sequence[Document], configurations: Sequence[Document]) -> Findings:
    """What these CRDs and configurations of webhooks ask for."""
    released: dict[str, list[str]] = {}
    stored: list[str] = []
    for each in definitions:
        name = str(each["metadata"]["name"])
        if OLD in (member(each, "status").get("storedVersions") or ()):
            stored.append(name)
        annotations = member(each, "metadata", "annotations")
        namespace, release = (annotations.get(key) for key in _RELEASE)
        if release and annotations.get(KEEP) != "keep":
            released.setdefault(f"{namespace}/{release}", []).append(name)
    return Findings(
        stored_before=stored,
        goes_with=released,
        refusing=[
            str(each["metadata"]["name"])
            for each in configurations
            if any(hook.get("failurePolicy") != "Ignore" for hook in each.get("webhooks") or ())
        ],
    )


def advice(found: Findings) -> Iterator[tuple[str, Sequence[str]]]:
    """Each thing to see to, with the commands that do it."""
    for release, names in found.goes_with.items():
        namespace, _, name = release.partition("/")
        what = (
            f"`helm uninstall {name}` would delete {len(names)} CRDs, and with them every object of these "
            "kinds in all namespaces. Helm keeps them if its release says so"
        )
        keep = "--set-string 'crds.annotations.helm\\.sh/resource-policy=keep'"
        yield what, [f"helm upgrade {name} CHART --namespace {namespace} --reuse-values {keep}"]
    for name in found.stored_before:
        what = f"{name}: objects may still be stored as {OLD}. Write each again, then strike the version"
        yield (
            what,
            [
                f"kubectl get {name} -A -o json | kubectl replace -f -",
                f"kubectl patch crd {name} --subresource=status --type=merge -p {_STRUCK}",
            ],
        )
    if found.refusing:
        what = "once ESO's webhook is gone, the API server refuses new and changed stores and ExternalSecrets"
        yield what, [f"kubectl delete validatingwebhookconfiguration {' '.join(found.refusing)}"]
