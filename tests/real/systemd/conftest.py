"""One booted host with nginx for all that deliver to it: to make one takes longer than most tests."""

from collections.abc import Iterator

import pytest

from tests.real.systemd.nginx_host import Host, nginx_machine, running
from tests.support.machine import Machine, until


@pytest.fixture(scope="session")
def delivering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The host, booted."""
    with nginx_machine(tmp_path_factory.mktemp("delivering")) as machine:
        yield machine


@pytest.fixture
def host(delivering: Machine) -> Iterator[Host]:
    """nginx with a first pair, delivered before it started."""
    with running(delivering) as found:
        until(lambda: found.ready("Delivered"), "settled")  # nothing of the first set is owed any more
        yield found
