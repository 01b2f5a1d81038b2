"""What the dashboard shows: rows of panels, what an operator needs first at the top."""

from typing import Final

from syncret.daemon.dashboard.panel import HOST, Panel, Query, Row, of, quantile, rate, stat

_CALLS: Final = "externalsecret_provider_api_calls_count"
_WORKERS: Final = f"sum(max by (instance) (controller_runtime_max_concurrent_reconciles{{{HOST}}}))"
_FAILING: Final = (
    "label_replace({__name__=~"
    '"(cluster)?(externalsecret|pushsecret|secretstore)_status_condition"'
    f',{HOST},condition="Ready",status="False"}}, "kind", "$1", "__name__", "(.*)_status_condition") == 1'
)
"""With the kind as a label, as a comparison drops the name of the metric."""

ROWS: Final = (
    Row(
        "Now",
        (
            stat("Daemons", "Daemons that are scraped.", f"count({of('syncret_build_info')})"),
            stat("Objects", "All objects of all kinds.", f"sum({of('syncret_objects')})"),
            stat(
                "Not in order",
                "Objects whose condition Ready is False. `syncret status --failing` lists them.",
                f"sum({of('syncret_objects_not_ready')})",
                alarm=1,
            ),
            stat(
                "Stores without an answer",
                "Their condition Reachable is False; what reads from them grows old.",
                f"count({of('syncret_store_unreachable')}) or vector(0)",
                alarm=1,
            ),
            stat(
                "Invalid manifests",
                "Documents and files without effect; what they said last stays in force.",
                f"sum({of('syncret_manifests_invalid')}) or vector(0)",
                alarm=1,
            ),
            stat(
                "Overdue",
                "How long the oldest object has been due that is not done. It grows whenever nothing moves.",
                f"max({of('syncret_oldest_overdue_seconds')})",
                unit="s",
                alarm=120,
            ),
            stat(
                "Oldest value, in intervals",
                "The age of a value by its refresh interval: above 1, a refresh was missed.",
                f"max({of('syncret_value_age_seconds')} / {of('syncret_refresh_interval_seconds')})",
                alarm=3,
            ),
            stat(
                "Workers in use",
                "Of the setting `workers`. A run that waits for a secret manager uses none.",
                f"sum({of('controller_runtime_active_workers')}) / {_WORKERS}",
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
                        f"sum({of('syncret_objects')}) - sum({of('syncret_objects_not_ready')})", "in order"
                    ),
                    Query(f"sum by (kind) ({of('syncret_objects_not_ready')}) > 0", "{{kind}} not in order"),
                ),
                width=12,
                stacked=True,
            ),
            Panel(
                "Invalid manifests",
                "By file and reason; the log and `syncret status` name the line.",
                (Query(of("syncret_manifests_invalid")),),
                form="table",
                width=12,
                value="documents",
            ),
            Panel(
                "Due next",
                "The next fifteen, in seconds from now.",
                (Query(f"sort(bottomk(15, {of('syncret_next_due_timestamp_seconds')} - time()))"),),
                form="table",
                unit="s",
                width=12,
                value="in",
            ),
            Panel(
                "Age of the oldest value",
                "Time since it was last confirmed to be what the secret manager has.",
                (Query(f"max by (kind) ({of('syncret_value_age_seconds')})", "{{kind}}"),),
                unit="s",
                width=12,
            ),
            Panel(
                "Failed runs",
                "",
                (Query(rate("controller_runtime_reconcile_errors_total", "controller"), "{{controller}}"),),
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
                (Query(rate(_CALLS, "provider, call"), "{{provider}} {{call}}"),),
                unit="ops",
            ),
            Panel(
                "Failed calls",
                "Refused, throttled, or without an answer.",
                (Query(rate(_CALLS, "provider, call", ',status="error"'), "{{provider}} {{call}}"),),
                unit="ops",
            ),
            Panel(
                "Duration of calls",
                "",
                (
                    quantile(0.5, "syncret_provider_call_seconds", "provider"),
                    quantile(0.95, "syncret_provider_call_seconds", "provider"),
                ),
                unit="s",
            ),
            Panel(
                "Stores without an answer",
                "With the server and the cause.",
                (
                    Query(
                        f"sum by (store, cause) ({of('syncret_store_unreachable')})", "{{store}}: {{cause}}"
                    ),
                ),
                width=12,
            ),
            Panel(
                "Waiting for an answer",
                "How long objects have waited for a store, from one second on.",
                (Query(f"max by (store) ({of('syncret_store_unanswered_seconds')})", "{{store}}"),),
                unit="s",
                width=12,
            ),
            Panel(
                "Calls in progress",
                "",
                (Query(f"sum by (store) ({of('syncret_calls_in_flight')})", "{{store}}"),),
                width=6,
            ),
            Panel(
                "Calls held back",
                "They wait for the store's token bucket, or because its secret manager asked for fewer.",
                (
                    Query(f"sum by (store) ({of('syncret_bucket_waiting')})", "{{store}} waiting"),
                    Query(rate("syncret_throttled_total", "store"), "{{store}} throttled per second"),
                ),
                width=6,
            ),
            Panel(
                "Calls repeated",
                "They had no answer, and were made again at once.",
                (Query(rate("syncret_call_retries_total", "store"), "{{store}}"),),
                unit="ops",
                width=6,
            ),
            Panel(
                "Reads saved by sharing",
                "Reads of a key that joined one in progress, and so were no call.",
                (Query(rate("syncret_reads_shared_total", "store"), "{{store}}"),),
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
                    Query(f"sum({of('syncret_queue_depth')})", "due, wait for a worker"),
                    Query(f"sum({of('syncret_queue_urgent')})", "of these, new, changed or forced"),
                    Query(f"sum({of('syncret_queue_running')})", "running"),
                    Query(f"sum({of('syncret_queue_waiting')})", "of these, wait for a secret manager"),
                ),
            ),
            Panel(
                "Workers",
                "",
                (
                    Query(
                        f"sum by (controller) ({of('controller_runtime_active_workers')})", "{{controller}}"
                    ),
                    Query(_WORKERS, "all"),
                ),
            ),
            Panel(
                "Runs",
                "`requeue_after`: in order, and due again; `requeue`: at once, after a conflict.",
                (Query(rate("controller_runtime_reconcile_total", "result"), "{{result}}"),),
                unit="ops",
                stacked=True,
            ),
            Panel(
                "Duration of runs",
                "",
                (quantile(0.95, "controller_runtime_reconcile_time_seconds", "controller"),),
                unit="s",
            ),
            Panel(
                "Wait for a worker",
                "From the moment at which an object is due to its run.",
                (
                    quantile(0.5, "syncret_queue_wait_seconds"),
                    quantile(0.95, "syncret_queue_wait_seconds"),
                ),
                unit="s",
            ),
            Panel(
                "Overdue, longest run",
                "",
                (
                    Query(f"max({of('syncret_oldest_overdue_seconds')})", "oldest due object"),
                    Query(f"max({of('syncret_longest_run_seconds')})", "longest run"),
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
                (Query(of("process_resident_memory_bytes"), "{{instance}}"),),
                unit="bytes",
                width=6,
            ),
            Panel(
                "Memory for answers",
                "What responses of secret managers take, and the setting `answerMemory`.",
                (
                    Query(of("syncret_answer_memory_bytes"), "{{instance}}"),
                    Query(f"max({of('syncret_answer_memory_limit_bytes')})", "limit"),
                ),
                unit="bytes",
                width=6,
            ),
            Panel(
                "CPU",
                "",
                (Query(rate("process_cpu_seconds_total", "instance"), "{{instance}}"),),
                unit="percentunit",
                width=6,
            ),
            Panel(
                "Open files",
                "",
                (
                    Query(of("process_open_fds"), "{{instance}}"),
                    Query(f"max({of('process_max_fds')})", "limit"),
                ),
                width=6,
            ),
            stat(
                "Deletions that wait",
                "Objects that are missing from the manifests and are not deleted yet.",
                f"sum({of('syncret_deletions_waiting')})",
                alarm=1,
                width=6,
            ),
            stat(
                "Unexpected errors",
                "Runs that ended with one, since the daemons were started. Please report them.",
                f"sum({of('syncret_bugs_total')})",
                alarm=1,
                width=6,
            ),
        ),
    ),
)
