import pytest

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        pytest.param('{{ now | date "2006-01-02 15:04:05 MST" }}', "2026-02-03 04:05:06 UTC", id="now"),
        pytest.param('{{ ago (toDate "2006-01-02" "2026-02-03") }}', "4h5m6s", id="ago"),
        pytest.param('{{ date "2006" "not a date" }}', "2026", id="what is no date is now"),
        pytest.param("{{ now | htmlDate }}", "2026-02-03", id="htmlDate"),
        pytest.param('{{ dateInZone "15:04 MST" (now) "Asia/Kolkata" }}', "09:35 IST", id="zone"),
        pytest.param(
            '{{ (now).Format "Jan 2" }} {{ (now).Year }} {{ (now).Unix }}',
            "Feb 3 2026 1770091506",
            id="methods",
        ),
        pytest.param('{{ dateModify "-1.5h" (now) | date "15:04" }}', "02:35", id="dateModify"),
        pytest.param(
            '{{ (toDate "MST" (printf "GMT+%s1" (repeat 5000 "0"))).Format "15:04 -0700" }}',
            "01:00 +0100",
            id="a zone of thousands of digits",
        ),
        pytest.param('{{ (toDate "06" "-5").Year }}', "1995", id="a short year with a sign"),
        pytest.param('{{ durationRound (toDate "2006" "2024") }}', "2y", id="durationRound of a date"),
    ],
)
def test_dates(template: str, wanted: str) -> None:
    assert render(template) == wanted


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        pytest.param("$t.Month", "January", id="month"),
        pytest.param('printf "%d %02d %v" $t.Month $t.Month $t.Month', "1 01 January", id="month as number"),
        pytest.param("add $t.Month 1", "2", id="month in arithmetic"),
        pytest.param("typeOf $t.Month", "time.Month", id="type"),
        pytest.param("$t.Weekday", "Wednesday", id="weekday"),
        pytest.param("eq $t.Weekday 3", "true", id="weekday compared"),
        pytest.param('($t.AddDate 0 1 0).Format "2006-01-02"', "2024-03-02", id="a month too short"),
        pytest.param('($t.Add 3600000000000).Format "2 15:04"', "1 00:30", id="add"),
        pytest.param("$u.Sub $t", "24h29m45s", id="sub"),
        pytest.param("($u.Sub $t).Hours", "24.495833333333334", id="hours"),
        pytest.param("($t.Sub $u).Round 3600000000000", "-24h0m0s", id="round a duration"),
        pytest.param("($t.Sub $u).Truncate 3600000000000", "-24h0m0s", id="truncate a duration"),
        pytest.param('($t.Round 3600000000000).Format "2 15"', "1 00", id="round a time"),
        pytest.param('($t.Truncate 3600000000000).Format "2 15"', "31 23", id="truncate a time"),
        pytest.param(
            "$t.Before $u}}{{ $t.After $u}}{{ $t.Equal $t}}{{ $t.Compare $u", "truefalsetrue-1", id="order"
        ),
        pytest.param("$t.IsDST}}{{ $t.Location}}{{ toJson $t.Location", "falseUTC{}", id="zone"),
        pytest.param("(now).Local.Location", "UTC", id="local"),
        pytest.param('$t.In (toDate "-0700" "+0200").Location', "2024-02-01 01:30:15 +0200 +0200", id="in"),
    ],
)
def test_methods_of_times(call: str, wanted: str) -> None:
    first = '{{ $t := toDate "2006-01-02 15:04:05" "2024-01-31 23:30:15" }}'
    second = '{{ $u := toDate "2006-01-02" "2024-02-02" }}'
    assert render(f"{first}{second}{{{{ {call} }}}}") == wanted


@pytest.mark.parametrize("call", ["Add (int64 1)", "Add", "In nil", "Date", "AddDate 1 1", "Before nil"])
def test_calls_that_do_not_fit(call: str) -> None:
    with pytest.raises(TemplateError):
        render(f"{{{{ (now).{call} }}}}")


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        pytest.param('$v.GreaterThan (semver "1.2.2")', "true", id="greater"),
        pytest.param("$v.GreaterThanEqual $v", "true", id="greater or equal"),
        pytest.param('$v.LessThan (semver "1.2.3")', "true", id="less: a prerelease"),
        pytest.param("$v.LessThanEqual $v", "true", id="less or equal"),
        pytest.param('$v.Compare (semver "2.0.0")', "-1", id="compare"),
        pytest.param('$v.Equal (semver "v1.2.3-rc.1+x")', "true", id="equal but for metadata"),
        pytest.param("$v.Equal nil", "false", id="nil"),
    ],
)
def test_methods_of_versions(call: str, wanted: str) -> None:
    assert render(f'{{{{ $v := semver "1.2.3-rc.1" }}}}{{{{ {call} }}}}') == wanted
