"""The shares of a limit of descriptors: together they fit, and each part can work."""

import resource

import pytest

from syncret.daemon.descriptors import OTHERS, descriptors
from syncret.daemon.homes.filesystem.output.group_commit import USUAL, Sizes

LIMITS = [64, 100, 128, 256, 512, 1024, 4096, 20_000, 1 << 20]


@pytest.mark.parametrize("limit", LIMITS)
def test_the_shares_fit_into_the_limit(limit: int) -> None:
    shares = descriptors(limit)
    assert 2 * shares.server_connections + shares.writes + shares.connections + OTHERS <= limit
    assert shares.server_connections >= 4
    assert shares.calls >= 4
    assert shares.calls <= shares.connections


@pytest.mark.parametrize("limit", LIMITS)
def test_what_is_written_at_once_fits_into_its_share(limit: int) -> None:
    share = descriptors(limit).writes
    threads, jobs, files = Sizes.within(share)
    assert threads * (3 * jobs + files + 1) <= share
    assert threads >= 1
    assert jobs >= 1


def test_where_there_are_many_descriptors_nothing_is_held_back() -> None:
    shares = descriptors(20_000)
    assert shares.server_connections == 64
    assert Sizes.within(shares.writes) == USUAL
    assert shares.calls > 4096


def test_too_few_are_shared_as_well_as_can_be() -> None:
    shares = descriptors(32)
    assert (shares.connections, shares.calls) == (4, 2)


@pytest.mark.parametrize(
    ("limit", "expected"), [(64, descriptors(64)), (resource.RLIM_INFINITY, descriptors(1 << 20))]
)
def test_the_limit_is_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch, limit: int, expected: object
) -> None:
    def limits(_which: int) -> tuple[int, int]:
        return limit, limit

    monkeypatch.setattr(resource, "getrlimit", limits)
    assert descriptors() == expected
