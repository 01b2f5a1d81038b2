"""Generators: each makes what a manifest asks for, and may be asked often."""

from typing import Any, Final

from tests.faults.hostile.manifests import (
    GENERATORS,
    LIMITS,
    Document,
    End,
    Hostile,
    external,
    generated,
    generator,
    same,
    secret,
)

MADE: Final = f"{LIMITS}|too (long|many|large)|at most|larger"


def _asked(
    name: str,
    tried: str,
    kind: str,
    spec: dict[str, Any],
    *more: Document,
    times: int = 1,
    says: str = MADE,
    end: End = "not ready",  # an End
    quick: bool = False,
) -> Hostile:
    """One generator that is asked so many times."""
    manifest = same(generator(kind, spec), *more, external(data_from=[generated(kind)] * times))
    return Hostile(name=name, tried=tried, manifest=manifest, says=says, end=end, quick=quick)


CLUSTER: Final[Document] = {
    "apiVersion": GENERATORS,
    "kind": "ClusterGenerator",
    "metadata": {"name": "evil"},
    "spec": {
        "kind": "Password",
        "generator": {
            "passwordSpec": {
                "length": 65_536,
                "allowRepeat": True,
                "secretKeys": [f"k{n}" for n in range(500)],
            }
        },
    },
}

CASES: Final = (
    _asked(
        "password-keys",
        "passwords of 65,536 characters for 2,000 keys",
        "Password",
        {"length": 65_536, "allowRepeat": True, "secretKeys": [f"k{n}" for n in range(2000)]},
        quick=True,
    ),
    _asked(
        "password-asked",
        "one of 65,536 characters, asked 1,000 times",
        "Password",
        {"length": 65_536, "allowRepeat": True},
        times=1000,
    ),
    _asked(
        "password-symbols",
        "a choice of a million symbols, without repeats",
        "Password",
        {
            "length": 60_000,
            "symbols": 60_000,
            "digits": 0,
            "symbolCharacters": "".join(map(chr, range(0x4E00, 0x9FFF))) * 40,
            "secretKeys": [f"k{n}" for n in range(300)],
        },
        says=MADE + "|exceeds",
    ),
    Hostile(
        name="password-cluster",
        tried="a ClusterGenerator, asked 200 times",
        says=MADE,
        manifest=same(CLUSTER, external(data_from=[generated("ClusterGenerator")] * 200)),
    ),
    _asked(
        "ssh-keys",
        "RSA keys of 8,192 bits, asked 20 times",
        "SSHKey",
        {"keyType": "rsa", "keySize": 8192},
        times=20,
        says=f"{MADE}|was not done|not done within|longer",
        end="any",
    ),
    _asked(
        "ssh-comment",
        "a comment of a megabyte, asked 50 times",
        "SSHKey",
        {"keyType": "ed25519", "comment": "a" * 1_000_000},
        times=50,
        says=f"{MADE}|comment",
        end="any",
    ),
    _asked("uuid", "asked 3,000 times", "UUID", {}, times=3000, end="any"),
    _asked(
        "fake-keys",
        "60,000 values, asked 50 times",
        "Fake",
        {"data": {f"key-{n}": "v" for n in range(60_000)}},
        times=50,
        end="any",
    ),
    _asked(
        "mfa",
        "a token of a seed of a megabyte, asked 200 times",
        "MFA",
        {"secret": {"name": "seed", "key": "seed"}, "length": 100, "timePeriod": 1},
        secret("seed", {"seed": "A" * 1_000_000}),
        times=200,
        end="any",
        says=f"{MADE}|.",
    ),
    Hostile(
        name="loop",
        tried="a Secret that is pushed to the store that it is read from, twice as long each time",
        end="any",
        says=".",
        manifest=same(
            {
                "apiVersion": "external-secrets.io/v1",
                "kind": "SecretStore",
                "metadata": {"name": "evil", "namespace": "evil"},
                "spec": {"provider": {"fake": {"data": []}}},
            },
            secret("seed", {"k": "aaaaaaaaaaaaaaaa"}),
            external(
                data=[{"secretKey": "k", "remoteRef": {"key": "k"}}],
                refreshInterval="100ms",
                target={"template": {"data": {"k": "{{ .k }}{{ .k }}"}}},
            ),
            {
                "apiVersion": "external-secrets.io/v1alpha1",
                "kind": "PushSecret",
                "metadata": {"name": "begin", "namespace": "evil"},
                "spec": {
                    "refreshInterval": "0s",
                    "secretStoreRefs": [{"name": "evil"}],
                    "updatePolicy": "IfNotExists",
                    "selector": {"secret": {"name": "seed"}},
                    "data": [{"match": {"secretKey": "k", "remoteRef": {"remoteKey": "k"}}}],
                },
            },
            {
                "apiVersion": "external-secrets.io/v1alpha1",
                "kind": "PushSecret",
                "metadata": {"name": "back", "namespace": "evil"},
                "spec": {
                    "refreshInterval": "100ms",
                    "secretStoreRefs": [{"name": "evil"}],
                    "selector": {"secret": {"name": "evil"}},
                    "data": [{"match": {"secretKey": "k", "remoteRef": {"remoteKey": "k"}}}],
                },
            },
        ),
    ),
)
