"""The row of a Delivery beside its condition: which set is live, and how the last reload went."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # few hosts have any
    from syncret.config.resources.delivery.delivery import Delivery
    from syncret.config.resources.delivery.steps import DeliveryReload


class DeliverySummary(msgspec.Struct, frozen=True, kw_only=True):
    """What is live, and who was told of it last."""

    generation: int
    """Number of the live set; 0: none."""
    since: str | None
    """Since when it has been live."""
    reload: str
    """What is done to tell of a set, as two words; empty: nothing."""
    result: str
    """How the last one ended; empty: there was none."""
    took: str
    """How long it took."""


def summary_of(delivery: "Delivery") -> DeliverySummary:
    """The summary of one object."""
    live, last = delivery.status.live, delivery.status.last_reload
    return DeliverySummary(
        generation=0 if live is None else live.generation,
        since=None if live is None else live.since,
        reload=_told(delivery.spec.reload),
        result="" if last is None else last.result,
        took="" if last is None else last.took,
    )


def _told(reload: "DeliveryReload | None") -> str:
    if reload is None:
        return ""
    if reload.unit:
        return f"{reload.unit} {reload.action}"
    if reload.signal is not None:
        signal = reload.signal
        return f"{signal.pid_file or signal.process or signal.container} {signal.signal}"
    if reload.http is not None:
        return f"{reload.http.url} {reload.http.method}"
    return f"{(reload.exec or ('',))[0]} exec"
