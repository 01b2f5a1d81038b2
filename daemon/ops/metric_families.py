"""The metric families whose samples are computed at each scrape, and their text format.

prometheus_client is not used for them for two reasons. It appends `_total` to every counter, so it cannot
export the External Secrets operator's names (`externalsecret_sync_calls_error`). And it allocates several
objects for each sample, which takes a second for ten thousand resources.
"""

from collections.abc import Iterator
from typing import Final

from syncret.config.resources.kinds import DELIVERY, GENERATOR_STATE, SHOWN
from syncret.daemon.ops.series import delivery_families
from syncret.daemon.ops.series.family import NAMED, Family

PIECE: Final = 1000
"""Lines in one piece of output."""


CONDITION: Final = (*NAMED, "condition", "status")
OBJECT: Final = ("kind", *NAMED)
STORE: Final = ("store",)

SYNC_CALLS: Final = Family("externalsecret_sync_calls_total", "counter", "Runs for an ExternalSecret.", NAMED)
SYNC_ERRORS: Final = Family(
    "externalsecret_sync_calls_error", "counter", "Runs for an ExternalSecret that failed.", NAMED
)
API_CALLS: Final = Family(
    "externalsecret_provider_api_calls_count",
    "counter",
    "Calls to secret managers.",
    ("provider", "call", "status"),
)
CONDITIONS: Final = {
    kind.kind: Family(
        f"{kind.metrics_prefix}_status_condition",
        "gauge",
        f"1 for the current status of a {kind.kind}'s condition.",
        CONDITION,
    )
    for kind in SHOWN
}
DURATIONS: Final = {
    kind.kind: Family(
        f"{kind.metrics_prefix}_reconcile_duration",
        "gauge",
        f"Duration of the last run for a {kind.kind}, in nanoseconds.",
        NAMED,
    )
    for kind in SHOWN
}

VALUE_AGE: Final = Family(
    "syncret_value_age_seconds", "gauge", "Time since the value in use was last confirmed.", OBJECT
)
INTERVAL: Final = Family(
    "syncret_refresh_interval_seconds",
    "gauge",
    "The refresh interval; absent if only a change refreshes the object.",
    OBJECT,
)
NEXT_DUE: Final = Family(
    "syncret_next_due_timestamp_seconds", "gauge", "When the object is looked at next.", OBJECT
)
FAILURES: Final = Family("syncret_failures_in_a_row", "gauge", "Consecutive failed runs.", OBJECT)
OBJECTS: Final = Family("syncret_objects", "gauge", "Objects that the daemon knows.", ("kind",))
NOT_READY: Final = Family("syncret_objects_not_ready", "gauge", "Objects that are not ready.", ("kind",))
VIOLATING: Final = Family(
    "syncret_constraints_violated", "gauge", "ExternalSecrets whose fetched values violate their constraints."
)
OBJECTS_WITHOUT_SERIES: Final = Family(
    "syncret_objects_untold", "gauge", "Objects and stores without series of their own, because of the limit."
)

QUEUE_DEPTH: Final = Family("syncret_queue_depth", "gauge", "Objects that are due and waiting for a worker.")
QUEUE_URGENT: Final = Family(
    "syncret_queue_urgent", "gauge", "Waiting objects that are new, changed or forced."
)
QUEUE_RUNNING: Final = Family("syncret_queue_running", "gauge", "Objects that are being worked on.")
QUEUE_WAITING: Final = Family(
    "syncret_queue_waiting", "gauge", "Objects that are being worked on and wait for a secret manager."
)
QUEUE_SCHEDULED: Final = Family("syncret_queue_scheduled", "gauge", "Objects that are not due yet.")
OVERDUE: Final = Family(
    "syncret_oldest_overdue_seconds",
    "gauge",
    "How long the oldest object has been due that is not done.",
)
LONGEST_RUN: Final = Family(
    "syncret_longest_run_seconds", "gauge", "How long the longest run in progress has taken."
)
DELETIONS_WAITING: Final = Family(
    "syncret_deletions_waiting",
    "gauge",
    "Objects that are missing from the manifests and are not deleted yet.",
)
INVALID_MANIFESTS: Final = Family(
    "syncret_manifests_invalid",
    "gauge",
    "Documents of a file, or a whole file or folder, without effect; what they said last stays in force.",
    ("file", "reason"),
)
FIRST_PASS: Final = Family(
    "syncret_first_pass_seconds", "gauge", "Duration of the first pass; absent until it has finished."
)

SHARED: Final = Family(
    "syncret_reads_shared_total", "counter", "Reads that joined one in progress for the same key.", STORE
)
RETRIED: Final = Family(
    "syncret_call_retries_total", "counter", "Calls that were retried because there was no answer.", STORE
)
THROTTLED: Final = Family(
    "syncret_throttled_total", "counter", "How often a secret manager asked for fewer calls.", STORE
)
BUCKET_WAIT: Final = Family(
    "syncret_bucket_wait_seconds_total", "counter", "Time that calls have waited for the token bucket.", STORE
)
BUCKET_WAITING: Final = Family(
    "syncret_bucket_waiting", "gauge", "Calls that are waiting for the token bucket.", STORE
)
BUCKET_CLOSED: Final = Family(
    "syncret_bucket_closed_seconds", "gauge", "How long no call may start because of throttling.", STORE
)
UNREACHABLE: Final = Family(
    "syncret_store_unreachable",
    "gauge",
    "1 for a store that does not answer, with its server and the cause; absent while it answers.",
    ("store", "cause"),
)
UNANSWERED: Final = Family(
    "syncret_store_unanswered_seconds",
    "gauge",
    "How long objects have waited for a store without an answer, from one second on.",
    STORE,
)
IN_FLIGHT: Final = Family("syncret_calls_in_flight", "gauge", "Calls in progress.", STORE)
CLIENTS: Final = Family("syncret_clients_open", "gauge", "Open clients of secret managers.", STORE)

ANSWERS: Final = Family(
    "syncret_answer_memory_bytes", "gauge", "What responses of secret managers take, and what they become."
)
ANSWERS_LIMIT: Final = Family("syncret_answer_memory_limit_bytes", "gauge", "The setting answerMemory.")
ANSWERS_WAITING: Final = Family(
    "syncret_answer_memory_waiting", "gauge", "Responses that wait for memory before they are read on."
)

CACHE_USABLE: Final = Family(
    "syncret_cache_usable", "gauge", "1 if the offline cache is written; absent where none is wanted."
)
CACHE_ENTRIES: Final = Family("syncret_cache_entries", "gauge", "Outputs and answers in the offline cache.")
CACHE_BYTES: Final = Family("syncret_cache_bytes", "gauge", "Bytes of the values in the offline cache.")
CACHE_OLDEST: Final = Family(
    "syncret_cache_oldest_confirmed_seconds",
    "gauge",
    "Age of what was confirmed longest ago; with cache.noStaleAfter it is withdrawn at that age.",
)
CACHE_LIMIT: Final = Family(
    "syncret_cache_no_stale_after_seconds", "gauge", "The setting cache.noStaleAfter; absent without one."
)
CACHE_RESTORED: Final = Family(
    "syncret_cache_restored_total", "counter", "Outputs that were put back at the start."
)
CACHE_SERVED: Final = Family(
    "syncret_cache_served_total", "counter", "Answers in the place of a store that gave none.", STORE
)
CACHE_REJECTED: Final = Family(
    "syncret_cache_rejected_total",
    "counter",
    "Records that did not open, because they were damaged or moved.",
)

BY_KIND: Final = ("kind",)
API_REQUESTS: Final = Family(
    "syncret_api_requests_total",
    "counter",
    "Requests to the API server; code is <error> where no answer came.",
    ("verb", "kind", "code"),
)
API_WRITES: Final = Family(
    "syncret_api_writes_in_flight", "gauge", "Writes that wait for the API server's answer."
)
STREAM_SYNCED: Final = Family(
    "syncret_stream_synced",
    "gauge",
    "1 if the watches of a kind are up to date, 0 if they are behind.",
    BY_KIND,
)
STREAM_LAG: Final = Family(
    "syncret_stream_lag_seconds", "gauge", "How long the watches of a kind have been behind.", BY_KIND
)
STREAM_RESTARTS: Final = Family(
    "syncret_stream_restarts_total",
    "counter",
    "Watches begun again: ended (by the server, every few minutes), failed, expired (listed anew), unknown.",
    ("kind", "why"),
)
CONFLICTS: Final = Family(
    "syncret_conflicts_total", "counter", "Writes that were refused because of a newer version.", BY_KIND
)
OWED: Final = Family("syncret_owed_status", "gauge", "Statuses that could not be written yet.")
EVENTS_DROPPED: Final = Family(
    "syncret_events_dropped_total", "counter", "Events of objects that were not written."
)
FENCE: Final = Family(
    "syncret_leader_fence_seconds", "gauge", "How long this replica may still write; 0 while it stands by."
)
HELD: Final = Family(
    "syncret_observed_writes",
    "gauge",
    "Writes that the last runs of all objects would have made, while the daemon only observes.",
    ("action",),
)
FOREIGN: Final = Family(
    "syncret_foreign_writer",
    "gauge",
    "1 while another operator works on the same objects, by the sign of it: nothing is written then.",
    ("kind",),
)
MASTER: Final = Family(
    "leader_election_master_status",
    "gauge",
    "1 for the active replica, with the name of the Lease.",
    ("name",),
)
REST_REQUESTS: Final = Family(
    "rest_client_requests_total",
    "counter",
    "Requests to the API server, as client-go counts them.",
    ("code", "method", "host"),
)

CONTROLLERS: Final = {kind.kind: kind.kind.lower() for kind in (*SHOWN, GENERATOR_STATE, DELIVERY)}
"""The kinds that are reconciled, and the names of ESO's controllers for them."""

CONTROLLER: Final = ("controller",)
WORK_QUEUE: Final = ("name", "controller")

RECONCILES: Final = Family(
    "controller_runtime_reconcile_total",
    "counter",
    "Runs by result: success, error, requeue (at once, after a conflict) or requeue_after (at a time).",
    (*CONTROLLER, "result"),
)
RECONCILE_ERRORS: Final = Family(
    "controller_runtime_reconcile_errors_total", "counter", "Runs that failed.", CONTROLLER
)
TERMINAL_ERRORS: Final = Family(
    "controller_runtime_terminal_reconcile_errors_total",
    "counter",
    "Runs that failed and are not retried: they wait for a change.",
    CONTROLLER,
)
PANICS: Final = Family(
    "controller_runtime_reconcile_panics_total",
    "counter",
    "Runs that ended with an unexpected error.",
    CONTROLLER,
)
RECONCILE_TIME: Final = Family(
    "controller_runtime_reconcile_time_seconds", "histogram", "Duration of runs.", CONTROLLER
)
ACTIVE_WORKERS: Final = Family(
    "controller_runtime_active_workers",
    "gauge",
    "Workers in use; a run that waits for a secret manager uses none.",
    CONTROLLER,
)
MOST_WORKERS: Final = Family(
    "controller_runtime_max_concurrent_reconciles",
    "gauge",
    "The setting workers; all controllers share these.",
    CONTROLLER,
)
WORK_DEPTH: Final = Family(
    "workqueue_depth",
    "gauge",
    "Due objects that wait for a worker; priority is 0 for what is new, changed or forced, else -100.",
    (*WORK_QUEUE, "priority"),
)
WORK_ADDS: Final = Family("workqueue_adds_total", "counter", "How often an object became due.", WORK_QUEUE)
WORK_RETRIES: Final = Family(
    "workqueue_retries_total", "counter", "Runs that are repeated because they failed.", WORK_QUEUE
)
WORK_UNFINISHED: Final = Family(
    "workqueue_unfinished_work_seconds", "gauge", "The age of all runs in progress together.", WORK_QUEUE
)
WORK_LONGEST: Final = Family(
    "workqueue_longest_running_processor_seconds",
    "gauge",
    "How long the longest run in progress has taken.",
    WORK_QUEUE,
)
WORK_WAIT: Final = Family(
    "workqueue_queue_duration_seconds", "histogram", "How long due objects waited for a worker.", WORK_QUEUE
)
WORK_TIME: Final = Family("workqueue_work_duration_seconds", "histogram", "Duration of runs.", WORK_QUEUE)

EXPORTS: Final = Family("syncret_exports_total", "counter", "Runs for the exports of resources.", BY_KIND)
EXPORT_SECONDS: Final = Family(
    "syncret_export_seconds_total", "counter", "Time of these runs, calls and writes included.", BY_KIND
)
EXPORTS_REFUSED: Final = Family(
    "syncret_exports_refused_total",
    "counter",
    "Runs for exports that failed, by the class of the problem.",
    ("kind", "class"),
)
SECRET_CALLS: Final = Family(
    "syncret_export_secret_calls_total",
    "counter",
    "Calls of secret APIs for the exports of resources.",
    ("kind", "api"),
)

CREDENTIALS: Final = Family(
    "syncret_credential_requests_total",
    "counter",
    "Credentials that units asked for at their start: answered, refused, timeout (nothing was live), failed.",
    ("result",),
)

FAMILIES: Final = (
    *(SYNC_CALLS, SYNC_ERRORS, API_CALLS, *CONDITIONS.values(), *DURATIONS.values()),
    *(VALUE_AGE, INTERVAL, NEXT_DUE, FAILURES, OBJECTS, NOT_READY, VIOLATING, OBJECTS_WITHOUT_SERIES),
    *(QUEUE_DEPTH, QUEUE_URGENT, QUEUE_RUNNING, QUEUE_WAITING, QUEUE_SCHEDULED),
    *(OVERDUE, LONGEST_RUN, DELETIONS_WAITING, INVALID_MANIFESTS, FIRST_PASS),
    *(SHARED, RETRIED, THROTTLED, BUCKET_WAIT, BUCKET_WAITING, BUCKET_CLOSED, UNREACHABLE, UNANSWERED),
    *(API_REQUESTS, API_WRITES, STREAM_SYNCED, STREAM_LAG, STREAM_RESTARTS, CONFLICTS, OWED, EVENTS_DROPPED),
    *(FENCE, MASTER, REST_REQUESTS, HELD, FOREIGN),
    *(IN_FLIGHT, CLIENTS, ANSWERS, ANSWERS_LIMIT, ANSWERS_WAITING),
    *(CACHE_USABLE, CACHE_ENTRIES, CACHE_BYTES, CACHE_OLDEST, CACHE_LIMIT),
    *(CACHE_RESTORED, CACHE_SERVED, CACHE_REJECTED),
    *(EXPORTS, EXPORT_SECONDS, EXPORTS_REFUSED, SECRET_CALLS, CREDENTIALS),
    *delivery_families.ALL,
    *(RECONCILES, RECONCILE_ERRORS, TERMINAL_ERRORS, PANICS, RECONCILE_TIME, ACTIVE_WORKERS, MOST_WORKERS),
    *(WORK_DEPTH, WORK_ADDS, WORK_RETRIES, WORK_UNFINISHED, WORK_LONGEST, WORK_WAIT, WORK_TIME),
)
"""All of them, in the order of the output."""


class Samples:
    """Collects samples object by object, and prints them family by family."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {family.name: [] for family in FAMILIES}

    def add(self, family: Family, value: float, labels: str = "", *, suffix: str = "") -> None:
        """Add one sample. `labels` are formatted already (see `labelled`); `suffix` is a histogram's."""
        braced = f"{{{labels}}}" if labels else ""
        self._lines[family.name].append(f"{family.name}{suffix}{braced} {value!r}\n")

    def pieces(self) -> Iterator[bytes]:
        """The text, in pieces of bounded size; families without samples are left out."""
        for family in FAMILIES:
            lines = self._lines[family.name]
            if lines:
                yield family.header.encode()
            for start in range(0, len(lines), PIECE):
                yield "".join(lines[start : start + PIECE]).encode()


def labelled(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Labels in the format between the braces of a sample."""
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
