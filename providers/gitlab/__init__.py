"""GitLab CI/CD variables of projects and groups."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.gitlab.spec import GitlabSpec, check

PROVIDER: Final = Provider(SpecType("gitlab", GitlabSpec, check=check))
