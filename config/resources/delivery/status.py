"""The status of a Delivery: what is live, what comes next, and how the last attempt went."""

from syncret.config.fields import Model, Nullable, Timestamp
from syncret.config.resources.base import ConditionStatus


class LiveSet(Model):
    """The set that is live.

    Example: {generation: 7}
    """

    generation: int = 0
    """Number of the set: one more for each new content. Example: 7"""
    set: str = ""
    """Keyed digest of the set; it cannot be compared between hosts. Example: 3f9a0c1b2d4e"""
    since: Timestamp = ""
    """When it went live. Example: '2026-01-01T00:00:00Z'"""
    from_cache: bool = False
    """Whether its values came from the offline cache."""


class NextSet(Model):
    """A set that is about to be delivered.

    Example: {generation: 8}
    """

    generation: int = 0
    """Number that it will have. Example: 8"""
    set: str = ""
    """Keyed digest of the set. Example: 5b1e7a90c3d2"""
    due_at: Timestamp = ""
    """When it is due. Example: '2026-01-01T00:00:30Z'"""


class RejectedSet(Model):
    """A set that failed, and is not tried again until its sources or this object change.

    Example: {reason: CheckFailed}
    """

    set: str = ""
    """Keyed digest of the set. Example: 5b1e7a90c3d2"""
    reason: str = ""
    """Why it was rejected, as one word. Example: CheckFailed"""
    at: Timestamp = ""
    """When it was rejected. Example: '2026-01-01T00:00:30Z'"""


class StepResult(Model):
    """The last check, reload or probe.

    Example: {result: success}
    """

    result: str = ""
    """How it ended, as one word. Example: success"""
    at: Timestamp = ""
    """When it ended. Example: '2026-01-01T00:00:31Z'"""
    took: str = ""
    """How long it took. Example: 0.3s"""
    message: str = ""
    """What was said about it; values are redacted. Example: nginx.service reloaded"""


class TargetStatus(Model):
    """One place, and since when the set is live there.

    Example: {path: /srv/syncret/tls}
    """

    path: str = ""
    """Where it is. Example: /srv/syncret/tls"""
    type: str = ""
    """The kind of target. Example: directory"""
    fingerprint: str = ""
    """Fingerprint of a sealed credential, by which changes of the file are noticed.
    Example: '131074:142:1767225600000000000:0:0:600'"""
    live: bool = False
    """Whether the set that is live as a whole is live there."""
    since: Timestamp = ""
    """Since when. Example: '2026-01-01T00:00:31Z'"""


class DeliveryAttempt(Model):
    """Progress of a delivery that is under way, from which it continues after a crash.

    Example: {done: 1}
    """

    places: tuple[str, ...] = ()
    """The paths that it goes to, in order. Example: [/srv/syncret/tls]"""
    done: int = 0
    """How many of them have the set; during a rollback, how many still have it. Example: 1"""
    staged: tuple[str, ...] = ()
    """Device and inode of what is staged for each, which a swap keeps. Example: ['2049:1234']"""
    asked_at: float = 0
    """When the reload was requested, in seconds since the boot. Example: 1234.5"""
    boot: str = ""
    """ID of the boot in which that was. Example: 0b1e6f4a-8a0e-4f0c-9f0e-5a1f2e3d4c5b"""
    invocation: str = ""
    """InvocationID of the unit at that time. Example: 9f0e5a1f2e3d4c5b0b1e6f4a8a0e4f0c"""
    restarts: int = 0
    """How often the unit had restarted by itself until then. Example: 1"""
    cause: str = ""
    """Why the set that is rolled back failed. Example: Unhealthy"""


class Consumer(Model):
    """A unit that asked for a credential at its start.

    Example: {unit: app.service}
    """

    unit: str = ""
    """The unit. Example: app.service"""
    credential: str = ""
    """The credential. Example: db-password"""
    generation: int = 0
    """Number of the set that it got. Example: 6"""
    at: Timestamp = ""
    """When it asked. Example: '2026-01-01T00:00:00Z'"""


class DeliveryStatus(Model):
    """What is live, what comes next, and how the last attempt went; ignored in a manifest.

    Example: {}
    """

    conditions: tuple[ConditionStatus, ...] = ()
    """Whether the wanted set is live, and works."""
    phase: str = ""
    """The step that the delivery is at. Example: Settled"""
    live: Nullable[LiveSet] = None
    """The set that is live. Example: {generation: 7}"""
    next: Nullable[NextSet] = None
    """The set that is about to be delivered. Example: {generation: 8}"""
    rejected: Nullable[RejectedSet] = None
    """The set that failed. Example: {reason: CheckFailed}"""
    attempt: Nullable[DeliveryAttempt] = None
    """Progress of the delivery that is under way. Example: {done: 1}"""
    observed_generation: int = 0
    """The version of the spec that was delivered last, or failed. Example: 2"""
    last_check: Nullable[StepResult] = None
    """The last check. Example: {result: success}"""
    last_reload: Nullable[StepResult] = None
    """The last reload. Example: {result: success}"""
    last_healthy: Nullable[StepResult] = None
    """The last proof. Example: {result: success}"""
    targets: tuple[TargetStatus, ...] = ()
    """The places, in order. Example: [{path: /srv/syncret/tls}]"""
    consumers: tuple[Consumer, ...] = ()
    """The units that asked for a credential last. Example: [{unit: app.service}]"""
