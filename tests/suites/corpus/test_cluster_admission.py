"""The corpus of admission, on a real API server that holds the exported CRDs and asks the webhook."""

from collections.abc import Generator

import pytest

from syncret.config.meta import GroupKind, is_object
from syncret.config.resources.kinds import Kinds
from syncret.providers.registry import Registry
from tests.real.e2e.process import daemon, free_port
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import list_in
from tests.suites.corpus.runners.outcome import settle, wait_or_go_on
from tests.suites.corpus.runners.verdicts import Found, Verdict, mismatches
from tests.support.servers.kube.crds import collection, install
from tests.support.servers.kube.running import KubeApi, kube_api
from tests.support.servers.kube.webhooks import refuses, registered

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance(lane="kube-apiserver", files=("validation_cases.yaml",)),
]

ASKED = "?dryRun=All&fieldValidation=Warn"
NOT_SAID = {
    "es-version-v1beta1-converted": "the CRDs serve v1 alone; manifests in files are converted when read",
}
"""Where a server says something else, and why."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Generator[KubeApi]:
    """The API server of this run; while the module runs, it asks a process that is the webhook alone."""
    server = kube_api()
    install(server)
    folder, port = tmp_path_factory.mktemp("webhook"), free_port()
    pair = server.authority.pair("127.0.0.1")
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)
    flags = ("--kubernetes", "--only=webhook", f"--port={port}", f"--cert-dir={folder}", "--healthz-addr=0")
    with daemon(folder, None, *flags, ready=False) as process, registered(server, port, server.ca):
        process.until(lambda: refuses(server), "asked by the API server")
        yield server


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
    assert answer.status in {400, 403, 422}, answer
    causes = [one for one in list_in(answer.body, "details", "causes") if is_object(one)]
    found = [Found("error", cause.get("field", ""), cause["message"]) for cause in causes]
    return Verdict([*found, Found("error", "", answer.body["message"])], None)


def test_cluster_admission(case: Case, api: KubeApi) -> None:
    wait_or_go_on(case)
    verdict = judged(case, api)
    differing = list(mismatches(case, verdict))
    if case.id in NOT_SAID:
        assert differing, f"{case.id} is as expected now: take it from the list"
    else:
        settle(case, differing)
