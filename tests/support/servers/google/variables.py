"""How a process is told that Google is here: the variables that Google's own tools read."""

from tests.support.servers.google.server import Google


def variables(cloud: Google, place: str = "") -> dict[str, str]:
    """The environment of one whose secrets are in this place (empty: global ones)."""
    moved = {
        "SECRETMANAGER": cloud.urls[place],
        "IAMCREDENTIALS": cloud.url,
        "STS": cloud.url,
        "SECURETOKEN": cloud.url,
    }
    named = {f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}": url for name, url in moved.items()}
    return {**named, "GCE_METADATA_HOST": cloud.host, "HOME": "/nonexistent"}
