"""Finds the Pods of syncret's controller, and the command that asks the active one."""

from typing import Final

from syncret.config.meta import Document, GroupKind, ObjectRef, member
from syncret.config.settings import Settings
from syncret.daemon.cli.daemon_client import Answer
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import NotAllowed, UserCluster

LABELS: Final = "app.kubernetes.io/name in (syncret, external-secrets)"
"""Labels of Pods of `syncret export manifests`, the chart, or a takeover from ESO."""

_POD: Final = GroupKind("", "Pod")
_LEASE: Final = GroupKind("coordination.k8s.io", "Lease")
_PARTS: Final = ("webhook", "certificates")
"""Arguments of Pods that run no controller."""


async def command_for(cluster: UserCluster, settings: Settings, ref: ObjectRef) -> Answer:
    """The command that asks the daemon about an object, and what is not certain about it."""
    names = f"{ref.kind}/{ref.name}" + (f" -n {ref.namespace}" if ref.namespace else "")
    where, note = await _place(cluster, settings)
    context = f" --context {cluster.context}" if cluster.context else ""
    return {"command": f"kubectl{context} exec {where} -- syncret explain {names}", "note": note}


async def _place(cluster: UserCluster, settings: Settings) -> tuple[str, str]:
    found = [pod for pod in await cluster.list(_POD, labels=LABELS) or () if _container(pod.document)]
    if not found:
        return "-n syncret deploy/syncret", "if it is installed there: no Pod of it was found"
    chosen, note = found[0], ""
    if len(found) > 1:
        active = await _active(cluster, settings, chosen.ref.namespace)
        ours = [pod for pod in found if active.startswith(f"{pod.ref.name}_")]
        chosen, note = (ours[0], "") if ours else (chosen, "of several replicas only the active one knows")
    return f"-n {chosen.ref.namespace} {chosen.ref.name}{_flag(chosen)}", note


def _container(pod: Document) -> str:
    """The container of a running Pod that runs syncret's controller; empty if none does."""
    if member(pod, "status").get("phase") != "Running":
        return ""
    for container in member(pod, "spec").get("containers") or ():
        arguments = [*(container.get("command") or ()), *(container.get("args") or ())]
        if "--kubernetes" in arguments and not any(part in arguments for part in _PARTS):
            return str(container["name"])
    return ""


def _flag(pod: StoredObject) -> str:
    """The flag that names the container, where kubectl would choose another one."""
    name, containers = _container(pod.document), member(pod.document, "spec")["containers"]
    return "" if containers[0]["name"] == name else f" -c {name}"


async def _active(cluster: UserCluster, settings: Settings, namespace: str) -> str:
    """The holder of the Lease of the replicas; empty if it is not known."""
    lease = ObjectRef(*_LEASE, namespace, settings.lease_name)
    try:
        stored = await cluster.get(lease)
    except NotAllowed as error:
        cluster.note(error)
        return ""
    holder = None if stored is None else member(stored.document, "spec").get("holderIdentity")
    return str(holder or "")
