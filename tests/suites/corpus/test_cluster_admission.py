"""The corpus of admission, on a real API server that holds the exported CRDs.

Nobody registers a webhook there: what only a webhook refuses, by the corpus's own word, the server may take.
"""

import pytest

from syncret.config.meta import GroupKind, is_object
from syncret.config.resources.kinds import Kinds
from syncret.providers.registry import Registry
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import list_in
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on
from tests.suites.corpus.runners.verdicts import Found, Verdict, mismatches
from tests.support.servers.kube.crds import collection, install
from tests.support.servers.kube.running import KubeApi, kube_api

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(lane="kube-apiserver", files=("validation_cases.yaml",)),
]

ASKED = "?dryRun=All&fieldValidation=Warn"
WEBHOOKS = ("webhook", "provider-webhook")
NOT_SAID = {
    "ss-fake-ok": "a warning of the operator's webhook",
    "ss-fake-data-empty": "a warning of the operator's webhook",
    "ss-k8s-no-ca-warns": "a warning of the operator's webhook",
    "es-version-v1beta1-converted": "the CRDs serve v1 alone; manifests in files are converted when read",
}
"""Where a server without a webhook says something else, and why."""


@pytest.fixture(scope="module")
def api() -> KubeApi:
    server = kube_api()
    install(server)
    return server


def judged(case: Case, api: KubeApi) -> Verdict:
    """What the server says of the manifest, without keeping it."""
    manifest = case.body["manifest"]
    version = str(manifest.get("apiVersion", ""))
    kind = Kinds(Registry()).find(GroupKind(version.rpartition("/")[0], str(manifest.get("kind"))))
    if kind is None:
        return Verdict([Found("error", "kind", "the server has no such kind")], None)
    metadata = manifest.get("metadata")
    namespace = metadata.get("namespace") if is_object(metadata) else None
    if kind.namespaced and namespace and api.get(f"/api/v1/namespaces/{namespace}") is None:
        api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    path = collection(kind, namespace or "default").replace(kind.api_version, version)
    answer = api.request("POST", path + ASKED, manifest)
    if answer.status == 201:
        return Verdict([Found("warning", "", warning) for warning in answer.warnings], answer.body)
    if answer.status == 404:
        return Verdict([Found("error", "apiVersion", f"the server has no version {version}")], None)
    assert answer.status in {400, 422}, answer
    causes = [one for one in list_in(answer.body, "details", "causes") if is_object(one)]
    found = [Found("error", cause.get("field", ""), cause["message"]) for cause in causes]
    return Verdict([*found, Found("error", "", answer.body["message"])], None)


def test_cluster_admission(case: Case, api: KubeApi) -> None:
    wait_or_go_on(case)
    verdict = judged(case, api)
    if case.body.get("layer") in WEBHOOKS and verdict.object is not None:
        pytest.xfail(f"accepted, since only a {case.body['layer']} refuses it: {case.body['error_hint']}")
    differing = list(mismatches(case, verdict))
    if case.id in NOT_SAID:
        assert differing, f"{case.id} is as expected now: take it from the list"
    else:
        settle(case, differing)
