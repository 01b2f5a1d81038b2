"""The row of a Delivery in tables, beside its condition: the live set, and how the last reload ended."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # few hosts have any
    from syncret.config.resources.delivery.delivery import Delivery
    from syncret.config.resources.delivery.steps import DeliveryReload


class DeliverySummary(msgspec.Struct, frozen=True, kw_only=True):
    """The live set of a Delivery and its last reload."""

    generation: int
    """Number of the live set; 0 if there is none."""
    since: str | None
    """Since when it has been live."""
    reload: str
    """What is reloaded and how, as two words; empty without a reload."""
    result: str
    """How the last reload ended; empty if there was none."""
    took: str
    """How long it took."""


def summary_of(delivery: "Delivery") -> DeliverySummary:
    """The summary of one object."""
    live, last = delivery.status.live, delivery.status.last_reload
    return DeliverySummary(
        generation=0 if live is None else live.generation,
        since=None if live is None else live.since,
        reload=_reload(delivery.spec.reload),
        result="" if last is None else last.result,
        took="" if last is None else last.took,
    )


def _reload(reload: "DeliveryReload | None") -> str:
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
