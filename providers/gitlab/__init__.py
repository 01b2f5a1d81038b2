"""GitLab: CI/CD variables of projects and groups.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      scopes   which variable counts, of several with one key
"""

from typing import Final
from urllib.parse import urlsplit

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.gitlab.spec import HOME, GitlabSpec, check


def published_rate(spec: GitlabSpec) -> float | None:
    """GitLab.com takes 2,000 calls a minute of one user; others have limits of their own, or none."""
    return 2000 / 60 if urlsplit(spec.url or HOME).hostname == "gitlab.com" else None


PROVIDER: Final = Provider(
    SpecType("gitlab", GitlabSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.gitlab.connection"),
    batch_size=500,
    published_rate=published_rate,
)
