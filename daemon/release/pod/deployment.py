"""The Deployment of a release: its containers, wired, and the volumes that they mount."""

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from syncret.daemon.release.checks import Checked
from syncret.daemon.release.documents import spec_of
from syncret.daemon.release.findings import Place
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.pod.references import References
from syncret.daemon.release.pod.volumes import Volumes
from syncret.daemon.release.pod.wiring import Wiring, fields_by_label
from syncret.daemon.release.schema import has_sensitive


def deployment(parsed: Parsed, checked: Checked) -> Document:
    """The Deployment, without labels of the release on itself; problems are reported."""
    documents, findings = parsed.documents, parsed.findings
    spec = spec_of(documents.module)
    top = Place(documents.module if documents.module is not None else documents.values_at().given, "spec")
    references = References(parsed.tree, findings)
    fields = fields_by_label(parsed.fields)
    written: Json = spec.get("volumes")
    if has_sensitive(written):
        findings.error(top.at("volumes"), "holds a sensitive field", "mount it with volumeMounts.NAME.from")
    volumes = Volumes(written, top.at("volumes"), references, fields, checked.groups, findings)
    wiring = Wiring(references, fields, checked.groups, volumes, findings)
    pod: Document = {}
    for kind in ("initContainers", "containers"):
        made = _containers(kind, spec, top, wiring, parsed)
        if made:
            pod[kind] = made
    if volumes.all():
        pod["volumes"] = volumes.all()
    selector = {
        "app.kubernetes.io/name": documents.name,
        "app.kubernetes.io/instance": documents.instance,
    }
    made_spec: Document = {
        "selector": {"matchLabels": selector},
        "template": {
            "metadata": {"labels": {**selector, "app.kubernetes.io/managed-by": "syncret"}},
            "spec": pod,
        },
    }
    replicas: Json = spec.get("replicas")
    if replicas is not None:
        if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
            findings.error(top.at("replicas"), "must be a number of pods", "write replicas: 2")
        made_spec = {"replicas": replicas, **made_spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": documents.instance},
        "spec": made_spec,
    }


def _containers(kind: str, spec: Document, top: Place, wiring: Wiring, parsed: Parsed) -> list[Document]:
    findings = parsed.findings
    written: Json = spec.get(kind)
    if kind == "containers" and "container" in spec:
        if written is not None:
            findings.error(top.at("container"), "stands beside containers", "write container or containers")
        return [wiring.container(parsed.documents.name, spec["container"], top.at("container"))]
    if written is None:
        if kind == "containers":
            findings.error(top.at(kind), "is missing: a pod has at least one", "write {NAME: {image: ...}}")
        return []
    if not is_object(written) or (kind == "containers" and not written):
        findings.error(top.at(kind), "must be a mapping by name", "write {NAME: {image: ...}}")
        return []
    return [wiring.container(name, item, top.at(kind, name)) for name, item in written.items()]
