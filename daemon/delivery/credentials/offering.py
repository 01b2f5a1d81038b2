"""Publishes what Deliveries offer on the credential socket, and records its answers and refusals."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from syncret.config.meta import ObjectRef
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.status import Consumer, DeliveryStatus
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.delivery.credentials import Asked
from syncret.daemon.core.delivery.file_targets import bare_targets
from syncret.daemon.core.delivery.phases import Row
from syncret.daemon.delivery.credentials.offers import Offer, Offers
from syncret.daemon.delivery.delivering import Delivering
from syncret.daemon.delivery.making import remove_tree
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.engine.reconcilers.context import ReconcilerContext

OWN: Final = "..credentials"
"""The folder in the output folder that holds what the socket serves."""


class Offering:
    """Publishes the live credentials of Deliveries. Implements OfferListener."""

    def __init__(
        self,
        context: ReconcilerContext,
        offers: Offers | None,
        own_folder: Callable[[ObjectRef], str],
        *,
        needs_socket: bool,
    ) -> None:
        self._context = context
        self._offers = offers
        self._own_folder = own_folder
        self._needs_socket = needs_socket
        if offers is not None:
            offers.listener = self

    def check(self, spec: DeliverySpec) -> None:
        """Raise Refused for a socket target if there is no socket or no output folder."""
        for number, target in enumerate(spec.to):
            if target.socket is None:
                continue
            at = f"spec.to[{number}].socket"
            if self._needs_socket and self._offers is None:
                raise Refused(
                    f"{at}: there is no socket to ask on",
                    "enable syncret-credentials.socket, or set credentialSocket",
                )
            if not self._own_folder(ObjectRef("", "", "", "")).startswith("/"):
                raise Refused(f"{at}: there is no output folder to answer from", "set outputDir")

    def begin(self, run: Delivering) -> None:
        """Offer what the Delivery has live from now on. It was allowed by the checks."""
        offers = self._offers
        if offers is not None:
            run.offer = lambda row: offers.publish(run.ref, self._of(run, row))
            run.offer(run.row)

    def reported(self, ref: ObjectRef, status: DeliveryStatus) -> DeliveryStatus:
        """The status with the units that were answered."""
        if self._offers is None:
            return status
        return replace(status, consumers=self._offers.consumers(ref, status.consumers))

    def forget(self, ref: ObjectRef) -> None:
        """Withdraw the offers of a deleted Delivery, and remove the files that only its units could read."""
        if self._offers is not None:
            self._offers.withdraw(ref)
            with suppress(OSError, Refused):  # no process reads it any more
                remove_tree(self._own_folder(ref))

    def answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """See OfferListener."""
        if self._offers is not None:
            at = stamp(self._context.clock.now())
            consumer = Consumer(unit=asked.unit, credential=asked.credential, generation=generation, at=at)
            self._offers.note(ref, consumer)
            self._context.wake(ref)

    def refused(self, ref: ObjectRef, message: str) -> None:
        """See OfferListener."""
        self._context.events.event(ref, warning=True, reason="CredentialRefused", message=message)

    def _of(self, run: Delivering, row: Row) -> list[Offer]:
        own = self._own_folder(run.ref)
        order = [each.path for each in bare_targets(run.spec, own)]
        return [
            Offer(
                units=target.socket.units,
                names=frozenset(target.socket.names.values()),
                folder=f"{own}/{number}",
                generation=row.generation,
                coming=row.staged[order.index(f"{own}/{number}")] if row.staged else None,
            )
            for number, target in enumerate(run.spec.to)
            if target.socket is not None
        ]
