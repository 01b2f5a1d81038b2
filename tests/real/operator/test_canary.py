"""A password of a proxy and the values of Secrets: shown by no log, no event and no status."""

import json

import pytest

from syncret.config.meta import Document
from tests.real.operator.operating import CONFIG, MANAGER, OPERAND, operating
from tests.support.canary import CANARY, leaks
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

SECRETS = f"/api/v1/namespaces/{OPERAND}/secrets"
PROXY = f"http://user:{CANARY.rstrip('?')}@proxy.example.com:3128"
BAD: dict[str, Document] = {
    "a proxy without a host": {"proxy": {"httpProxy": f"http://user:{CANARY}@:0"}},
    "a proxy of another scheme": {"proxy": {"httpsProxy": f"ftp://user:{CANARY.rstrip('?')}@proxy"}},
    "what a pod refuses": {
        "proxy": {"httpProxy": PROXY},
        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    },
    "a server without a certificate": {
        "proxy": {"httpsProxy": PROXY},
        "bitwardenSecretManagerProvider": {"enabled": "true"},
    },
}


async def test_what_is_secret_is_told_nowhere(
    api: KubeApi, namespace: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Through a good installation, drift of what has the password, and configurations that fail."""
    core = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/external-secrets"
    planted = {"stringData": {"tls.crt": CANARY, "tls.key": CANARY, "ca.crt": CANARY}}
    async with operating(api, namespace) as operated:
        await operated.install(appConfig={"proxy": {"httpProxy": PROXY, "httpsProxy": PROXY}})
        assert not leaks("the daemon's own", capfd.readouterr().out)
        assert api.request("PATCH", f"{SECRETS}/external-secrets-webhook", planted).status == 200
        api.request("DELETE", f"{SECRETS}/bitwarden-tls")  # another test's
        api.create(SECRETS, {"metadata": {"name": "bitwarden-tls"}, **planted})
        try:
            api.request("PATCH", core, {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
            chosen = {"enabled": "true", "secretRef": {"name": "bitwarden-tls"}}
            await operated.configure(
                appConfig={"proxy": {"httpProxy": PROXY}, "bitwardenSecretManagerProvider": chosen}
            )
            await operated.until_ready("False", "waits for Deployment bitwarden-sdk-server")
            shown = statuses(api)
            for bad in BAD.values():
                await operated.configure(appConfig=bad)
                await operated.until(
                    lambda: operated.condition("Degraded").get("status") == "True", "it fails"
                )
                await operated.until_ready("False")
                shown += statuses(api)
        finally:
            api.request("DELETE", f"{SECRETS}/bitwarden-tls")
    shown.append(json.dumps(api.request("GET", "/api/v1/namespaces/default/events").body))
    told = capfd.readouterr()
    for place, text in (("log", told.out), ("stderr", told.err), *(("shown", each) for each in shown)):
        assert not leaks(place, text)
    live = api.get(core)
    assert live is not None
    assert leaks("what the daemon is given", json.dumps(live["spec"]))


def statuses(api: KubeApi) -> list[str]:
    """What the status of each of the two objects says."""
    return [json.dumps((api.get(path) or {})["status"]) for path in (CONFIG, MANAGER)]
