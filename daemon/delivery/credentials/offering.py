"""The Deliveries' side of the credential socket: what each one offers, who got it, and who did not."""

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
"""The folder below the output folder from which units are answered."""


class Offering:
    """Publishes what Deliveries have live. Implements Audience."""

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
            offers.audience = self

    def check(self, spec: DeliverySpec) -> None:
        """Raise Refused for a target that no unit could ask for."""
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
        """Offer what the Delivery has live from now on; it may."""
        offers = self._offers
        if offers is not None:
            run.offer = lambda row: offers.publish(run.ref, self._of(run, row))
            run.offer(run.row)

    def reported(self, ref: ObjectRef, status: DeliveryStatus) -> DeliveryStatus:
        """The status with who was answered."""
        if self._offers is None:
            return status
        return replace(status, consumers=self._offers.consumers(ref, status.consumers))

    def forget(self, ref: ObjectRef) -> None:
        """A Delivery is gone, and with it what only its units could read."""
        if self._offers is not None:
            self._offers.withdraw(ref)
            with suppress(OSError, Refused):  # it is in nobody's way
                remove_tree(self._own_folder(ref))

    def answered(self, ref: ObjectRef, asked: Asked, generation: int) -> None:
        """As `Audience` says."""
        if self._offers is not None:
            at = stamp(self._context.clock.now())
            consumer = Consumer(unit=asked.unit, credential=asked.credential, generation=generation, at=at)
            self._offers.note(ref, consumer)
            self._context.wake(ref)

    def refused(self, ref: ObjectRef, message: str) -> None:
        """As `Audience` says."""
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
