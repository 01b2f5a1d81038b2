"""The part of a harness that is the same for all servers of gRPC."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from syncret.providers.testing import Fault
from tests.suites.providers.rest_harness import RestHarness
from tests.support.servers.grpc import Refused

_FAULTS: Final[Mapping[Fault, Refused]] = {
    Fault.THROTTLE: Refused("RESOURCE_EXHAUSTED", 7),
    Fault.DENY: Refused("PERMISSION_DENIED"),
    Fault.TIME_OUT: Refused("UNAVAILABLE"),
}


class GrpcHarness(RestHarness[Any]):
    """A store of one provider, on a gRPC server that the test owns."""

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        failing: AbstractContextManager[None] = self.server.failing(_FAULTS[fault])
        return failing
