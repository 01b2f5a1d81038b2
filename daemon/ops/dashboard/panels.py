"""What the dashboard shows: rows of panels, each with its queries, what an operator needs first at the top.

A query has Grafana's variables: `$job` and `$instance` select daemons, and `$__rate_interval` is the shortest
range over which a rate has enough samples.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

Form: TypeAlias = Literal["stat", "timeseries", "table"]
Unit: TypeAlias = Literal["short", "s", "bytes", "percentunit", "ops", "cps"]
"""As Grafana names it; `ops` is per second, `cps` is counts per second."""


class Query(NamedTuple):
    """One query, and the name of its series."""

    expr: str
    legend: str = ""


class Panel(NamedTuple):
    """One panel. From `alarm` on a value is shown in red."""

    title: str
    text: str
    queries: tuple[Query, ...]
    form: Form = "timeseries"
    unit: Unit = "short"
    width: int = 8
    alarm: float | None = None
    stacked: bool = False
    value: str = ""
    """The headline of the values of a table; empty: they are not shown."""


class Row(NamedTuple):
    """Panels below one headline."""

    title: str
    panels: tuple[Panel, ...]


_HOST: Final = 'job=~"$job",instance=~"$instance"'
_CALLS: Final = "externalsecret_provider_api_calls_count"
_WORKERS: Final = f"sum(max by (instance) (controller_runtime_max_concurrent_reconciles{{{_HOST}}}))"


def _of(metric: str, more: str = "") -> str:
    """The series of a metric, of the daemons that are chosen."""
    return f"{metric}{{{_HOST}{more}}}"


def _rate(metric: str, by: str, more: str = "") -> str:
    """The increase per second, summed."""
    return f"sum by ({by}) (rate({_of(metric, more)}[$__rate_interval]))"


def _quantile(quantile: float, metric: str, by: str = "") -> Query:
    """A quantile of a histogram, in all or for each of one label."""
    labels = f"le, {by}" if by else "le"
    name = f"{round(quantile * 100)} %"
    expr = f"histogram_quantile({quantile}, {_rate(f'{metric}_bucket', labels)})"
    return Query(expr, f"{{{{{by}}}}}, {name}" if by else name)


def _stat(
    title: str, text: str, expr: str, *, unit: Unit = "short", alarm: float | None = None, width: int = 3
) -> Panel:
    return Panel(title, text, (Query(expr),), form="stat", unit=unit, width=width, alarm=alarm)


_FAILING: Final = (
    "label_replace({__name__=~"
    '"(cluster)?(externalsecret|pushsecret|secretstore)_status_condition"'
    f',{_HOST},condition="Ready",status="False"}}, "kind", "$1", "__name__", "(.*)_status_condition") == 1'
)
"""With the kind as a label, as a comparison drops the name of the metric."""

ROWS: Final = (
    Row(
        "Now",
        (
            _stat("Daemons", "Daemons that are scraped.", f"count({_of('syncret_build_info')})"),
            _stat("Objects", "All objects of all kinds.", f"sum({_of('syncret_objects')})"),
            _stat(
                "Not in order",
                "Objects whose condition Ready is False. `syncret status --failing` lists them.",
                f"sum({_of('syncret_objects_not_ready')})",
                alarm=1,
            ),
            _stat(
                "Stores without an answer",
                "Their condition Reachable is False; what reads from them grows old.",
                f"count({_of('syncret_store_unreachable')}) or vector(0)",
                alarm=1,
            ),
            _stat(
                "Invalid manifests",
                "Documents and files without effect; what they said last stays in force.",
                f"sum({_of('syncret_manifests_invalid')}) or vector(0)",
                alarm=1,
            ),
            _stat(
                "Overdue",
                "How long the oldest object has been due that is not done. It grows whenever nothing moves.",
                f"max({_of('syncret_oldest_overdue_seconds')})",
                unit="s",
                alarm=120,
            ),
            _stat(
                "Oldest value, in intervals",
                "The age of a value by its refresh interval: above 1, a refresh was missed.",
                f"max({_of('syncret_value_age_seconds')} / {_of('syncret_refresh_interval_seconds')})",
                alarm=3,
            ),
            _stat(
                "Workers in use",
                "Of the setting `workers`. A run that waits for a secret manager uses none.",
                f"sum({_of('controller_runtime_active_workers')}) / {_WORKERS}",
                unit="percentunit",
                alarm=0.9,
            ),
        ),
    ),
    Row(
        "Objects",
        (
            Panel(
                "What fails now",
                "Objects whose condition Ready is False. `syncret explain KIND/NAME` says why.",
                (Query(_FAILING),),
                form="table",
                width=12,
            ),
            Panel(
                "Objects by readiness",
                "",
                (
                    Query(
                        f"sum({_of('syncret_objects')}) - sum({_of('syncret_objects_not_ready')})", "in order"
                    ),
                    Query(f"sum by (kind) ({_of('syncret_objects_not_ready')}) > 0", "{{kind}} not in order"),
                ),
                width=12,
                stacked=True,
            ),
            Panel(
                "Invalid manifests",
                "By file and reason; the log and `syncret status` name the line.",
                (Query(_of("syncret_manifests_invalid")),),
                form="table",
                width=12,
                value="documents",
            ),
            Panel(
                "Due next",
                "The next fifteen, in seconds from now.",
                (Query(f"sort(bottomk(15, {_of('syncret_next_due_timestamp_seconds')} - time()))"),),
                form="table",
                unit="s",
                width=12,
                value="in",
            ),
            Panel(
                "Age of the oldest value",
                "Time since it was last confirmed to be what the secret manager has.",
                (Query(f"max by (kind) ({_of('syncret_value_age_seconds')})", "{{kind}}"),),
                unit="s",
                width=12,
            ),
            Panel(
                "Failed runs",
                "",
                (Query(_rate("controller_runtime_reconcile_errors_total", "controller"), "{{controller}}"),),
                unit="ops",
                width=12,
            ),
        ),
    ),
    Row(
        "Secret managers",
        (
            Panel(
                "Calls",
                "By provider and call. What is shared with a call in progress is none.",
                (Query(_rate(_CALLS, "provider, call"), "{{provider}} {{call}}"),),
                unit="ops",
            ),
            Panel(
                "Failed calls",
                "Refused, throttled, or without an answer.",
                (Query(_rate(_CALLS, "provider, call", ',status="error"'), "{{provider}} {{call}}"),),
                unit="ops",
            ),
            Panel(
                "Duration of calls",
                "",
                (
                    _quantile(0.5, "syncret_provider_call_seconds", "provider"),
                    _quantile(0.95, "syncret_provider_call_seconds", "provider"),
                ),
                unit="s",
            ),
            Panel(
                "Stores without an answer",
                "With the server and the cause.",
                (
                    Query(
                        f"sum by (store, cause) ({_of('syncret_store_unreachable')})", "{{store}}: {{cause}}"
                    ),
                ),
                width=12,
            ),
            Panel(
                "Waiting for an answer",
                "How long objects have waited for a store, from one second on.",
                (Query(f"max by (store) ({_of('syncret_store_unanswered_seconds')})", "{{store}}"),),
                unit="s",
                width=12,
            ),
            Panel(
                "Calls in progress",
                "",
                (Query(f"sum by (store) ({_of('syncret_calls_in_flight')})", "{{store}}"),),
                width=6,
            ),
            Panel(
                "Calls held back",
                "They wait for the store's token bucket, or because its secret manager asked for fewer.",
                (
                    Query(f"sum by (store) ({_of('syncret_bucket_waiting')})", "{{store}} waiting"),
                    Query(_rate("syncret_throttled_total", "store"), "{{store}} throttled per second"),
                ),
                width=6,
            ),
            Panel(
                "Calls repeated",
                "They had no answer, and were made again at once.",
                (Query(_rate("syncret_call_retries_total", "store"), "{{store}}"),),
                unit="ops",
                width=6,
            ),
            Panel(
                "Reads saved by sharing",
                "Reads of a key that joined one in progress, and so were no call.",
                (Query(_rate("syncret_reads_shared_total", "store"), "{{store}}"),),
                unit="cps",
                width=6,
            ),
        ),
    ),
    Row(
        "Work",
        (
            Panel(
                "Queue",
                "",
                (
                    Query(f"sum({_of('syncret_queue_depth')})", "due, wait for a worker"),
                    Query(f"sum({_of('syncret_queue_urgent')})", "of these, new, changed or forced"),
                    Query(f"sum({_of('syncret_queue_running')})", "running"),
                    Query(f"sum({_of('syncret_queue_waiting')})", "of these, wait for a secret manager"),
                ),
            ),
            Panel(
                "Workers",
                "",
                (
                    Query(
                        f"sum by (controller) ({_of('controller_runtime_active_workers')})", "{{controller}}"
                    ),
                    Query(_WORKERS, "all"),
                ),
            ),
            Panel(
                "Runs",
                "`requeue_after`: in order, and due again; `requeue`: at once, after a conflict.",
                (Query(_rate("controller_runtime_reconcile_total", "result"), "{{result}}"),),
                unit="ops",
                stacked=True,
            ),
            Panel(
                "Duration of runs",
                "",
                (_quantile(0.95, "controller_runtime_reconcile_time_seconds", "controller"),),
                unit="s",
            ),
            Panel(
                "Wait for a worker",
                "From the moment at which an object is due to its run.",
                (
                    _quantile(0.5, "syncret_queue_wait_seconds"),
                    _quantile(0.95, "syncret_queue_wait_seconds"),
                ),
                unit="s",
            ),
            Panel(
                "Overdue, longest run",
                "",
                (
                    Query(f"max({_of('syncret_oldest_overdue_seconds')})", "oldest due object"),
                    Query(f"max({_of('syncret_longest_run_seconds')})", "longest run"),
                ),
                unit="s",
            ),
        ),
    ),
    Row(
        "Process",
        (
            Panel(
                "Memory",
                "",
                (Query(_of("process_resident_memory_bytes"), "{{instance}}"),),
                unit="bytes",
                width=6,
            ),
            Panel(
                "Memory for answers",
                "What responses of secret managers take, and the setting `answerMemory`.",
                (
                    Query(_of("syncret_answer_memory_bytes"), "{{instance}}"),
                    Query(f"max({_of('syncret_answer_memory_limit_bytes')})", "limit"),
                ),
                unit="bytes",
                width=6,
            ),
            Panel(
                "CPU",
                "",
                (Query(_rate("process_cpu_seconds_total", "instance"), "{{instance}}"),),
                unit="percentunit",
                width=6,
            ),
            Panel(
                "Open files",
                "",
                (
                    Query(_of("process_open_fds"), "{{instance}}"),
                    Query(f"max({_of('process_max_fds')})", "limit"),
                ),
                width=6,
            ),
            _stat(
                "Deletions that wait",
                "Objects that are missing from the manifests and are not deleted yet.",
                f"sum({_of('syncret_deletions_waiting')})",
                alarm=1,
                width=6,
            ),
            _stat(
                "Unexpected errors",
                "Runs that ended with one, since the daemons were started. Please report them.",
                f"sum({_of('syncret_bugs_total')})",
                alarm=1,
                width=6,
            ),
        ),
    ),
)
