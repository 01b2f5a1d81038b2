"""What a panel of the dashboard is, and what queries are made of.

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


HOST: Final = 'job=~"$job",instance=~"$instance"'


def of(metric: str, more: str = "") -> str:
    """The series of a metric, of the daemons that are chosen."""
    return f"{metric}{{{HOST}{more}}}"


def rate(metric: str, by: str, more: str = "") -> str:
    """The increase per second, summed."""
    return f"sum by ({by}) (rate({of(metric, more)}[$__rate_interval]))"


def quantile(part: float, metric: str, by: str = "") -> Query:
    """A quantile of a histogram, in all or for each of one label."""
    labels = f"le, {by}" if by else "le"
    name = f"{round(part * 100)} %"
    expr = f"histogram_quantile({part}, {rate(f'{metric}_bucket', labels)})"
    return Query(expr, f"{{{{{by}}}}}, {name}" if by else name)


def stat(
    title: str, text: str, expr: str, *, unit: Unit = "short", alarm: float | None = None, width: int = 3
) -> Panel:
    """One number, of now."""
    return Panel(title, text, (Query(expr),), form="stat", unit=unit, width=width, alarm=alarm)
