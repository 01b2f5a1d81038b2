"""What is counted of an API server: requests as RBAC names them, and when a daemon is not ready."""

import pytest

from syncret.daemon.core.cluster_stats import ClusterStats, Fence, StreamState, asked


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/namespaces/a/secrets/b", ("get", "secrets")),
        ("GET", "/api/v1/namespaces/a/secrets", ("list", "secrets")),
        ("GET", "/api/v1/secrets", ("list", "secrets")),
        ("POST", "/api/v1/namespaces/a/secrets", ("create", "secrets")),
        ("GET", "/api/v1/namespaces", ("list", "namespaces")),
        ("GET", "/api/v1/namespaces/a", ("get", "namespaces")),
        ("PATCH", "/api/v1/namespaces/a/status", ("patch", "namespaces")),
        (
            "PATCH",
            "/apis/external-secrets.io/v1/namespaces/a/externalsecrets/b/status",
            ("patch", "externalsecrets"),
        ),
        ("PUT", "/apis/external-secrets.io/v1/clustersecretstores/s", ("update", "clustersecretstores")),
        ("DELETE", "/apis/g/v1/namespaces/a/generatorstates/b", ("delete", "generatorstates")),
        ("GET", "/apis/external-secrets.io/v1", ("get", "")),
        ("GET", "/api/v1", ("get", "")),
        ("GET", "/readyz", ("get", "")),
    ],
)
def test_verb_and_resource(method: str, path: str, expected: tuple[str, str]) -> None:
    assert asked(method, path) == expected


def synced() -> StreamState:
    return StreamState("Secret", None, has_synced=True)


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        pytest.param(ClusterStats(streams=[synced()]), [], id="up to date"),
        pytest.param(ClusterStats(), ["no kind is watched yet"], id="it only starts"),
        pytest.param(
            ClusterStats(streams=[synced(), StreamState("PushSecret", 99.9), StreamState("Secret", 99.0)]),
            ["not synced: PushSecret, Secret"],
            id="the first list is under way",
        ),
        pytest.param(
            ClusterStats(streams=[StreamState("Secret", 96.0, has_synced=True)]), [], id="resumed in a moment"
        ),
        pytest.param(
            ClusterStats(streams=[StreamState("Secret", 90.0, has_synced=True)]),
            ["not synced: Secret"],
            id="cut off for seconds",
        ),
        pytest.param(
            ClusterStats(streams=[synced(), StreamState("Password", 1.0, is_unknown=True)]),
            [],
            id="a kind that is not there holds up nothing",
        ),
        pytest.param(
            ClusterStats(streams=[synced()], unreachable_since=50.0), [], id="away for less than a minute"
        ),
        pytest.param(
            ClusterStats(streams=[StreamState("Secret", 30.0, has_synced=True)], unreachable_since=30.0),
            ["the API server has not answered for 70 s"],
            id="away for longer",
        ),
        pytest.param(
            ClusterStats(streams=[synced()], fence=Fence("l", lambda: 0.0, lambda: "another")),
            [],
            id="standing by",
        ),
        pytest.param(
            ClusterStats(streams=[synced()], fence=Fence("l", lambda: 0.0, lambda: "")),
            ["the Lease l has no holder yet"],
            id="nobody is active",
        ),
    ],
)
def test_readiness(stats: ClusterStats, expected: list[str]) -> None:
    assert list(stats.not_ready(100.0)) == expected
