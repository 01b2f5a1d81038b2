"""Azure for each test, at the tests' own clock, and a login of an application."""

import pytest

from tests.support.opened import Given
from tests.support.servers.azure.fixtures import clock, cloud
from tests.support.servers.azure.server import Azure
from tests.unit.providers.azurekv.stores import SECRET

__all__ = ["clock", "cloud", "given"]


@pytest.fixture
def given(cloud: Azure) -> Given:
    """A Secret `login` with client ID and secret of an application that may do everything."""
    application = cloud.member("app", secret=SECRET)
    return Given(secrets={"login": {"id": application.client_id.encode(), "secret": SECRET.encode()}})
