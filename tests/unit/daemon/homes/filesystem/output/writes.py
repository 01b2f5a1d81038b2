"""Writes of Secrets' folders: one alone, as most tests want it."""

from collections.abc import Mapping

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.homes.filesystem.output.drift import Written
from syncret.daemon.homes.filesystem.output.group_commit import Batch, run_interleaved
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder


def write(folder: SecretFolder, ref: ObjectRef, data: Mapping[str, bytes]) -> Written:
    """Raises what keeps the set from being written."""
    with Batch(folder.tree) as batch:
        (outcome,) = run_interleaved([folder.write(ref, data, batch)])
    if isinstance(outcome, HomeError):
        raise outcome
    return outcome
