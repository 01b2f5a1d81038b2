"""The API server of a run serves many tests: what a module adds to it, it removes."""

from collections.abc import Generator

import pytest

from tests.support.servers.kube.crds import remove_others
from tests.support.servers.kube.running import kube_api


@pytest.fixture(scope="module", autouse=True)
def _only_our_kinds() -> Generator[None]:
    yield
    if kube_api.cache_info().currsize:  # it was started: there is Go
        remove_others(kube_api())
