"""The metric families of Deliveries: which set is live, what is owed, and how checks and reloads went."""

from typing import Final

from syncret.daemon.ops.series.family import NAMED, Family

GENERATION: Final = Family(
    "syncret_delivery_live_generation", "gauge", "Number of the set that is live; 0: none.", NAMED
)
READY: Final = Family(
    "syncret_delivery_ready",
    "gauge",
    "1 if the wanted set is live and works, else 0; with the reason of the condition.",
    (*NAMED, "reason"),
)
LIVE_AGE: Final = Family(
    "syncret_delivery_live_age_seconds", "gauge", "For how long the live set has been live.", NAMED
)
PENDING: Final = Family(
    "syncret_delivery_pending_seconds",
    "gauge",
    "For how long a change has not been live, or its reload has been owed; 0: nothing is.",
    NAMED,
)
CHECKS: Final = Family("syncret_delivery_checks_total", "counter", "Checks of staged sets.", ("result",))
SWAPS: Final = Family("syncret_delivery_swaps_total", "counter", "Sets that went live.")
RELOADS: Final = Family(
    "syncret_delivery_reloads_total",
    "counter",
    "Reloads asked for, one for all Deliveries that share it; action is reload, restart, signal, exec, http.",
    ("action", "result"),
)
ROLLBACKS: Final = Family(
    "syncret_delivery_rollbacks_total", "counter", "Sets that went live, failed, and were taken back."
)
REPAIRS: Final = Family(
    "syncret_delivery_repairs_total",
    "counter",
    "Live sets that were changed from outside, delivered again.",
)
RELOAD_SECONDS: Final = Family(
    "syncret_delivery_reload_seconds", "histogram", "Duration of reloads, until their result is known."
)
CHANGE_SECONDS: Final = Family(
    "syncret_delivery_change_to_reload_seconds",
    "histogram",
    "Time from a change that was seen to the reload that was asked for, debounce included.",
)

ALL: Final = (
    *(GENERATION, READY, LIVE_AGE, PENDING, CHECKS, SWAPS, RELOADS, ROLLBACKS, REPAIRS),
    *(RELOAD_SECONDS, CHANGE_SECONDS),
)
