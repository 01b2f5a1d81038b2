import pytest

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
        pytest.param('{{ durationRound (toDate "2006" "2024") }}', "2y", id="durationRound of a date"),
    ],
)
def test_dates(template: str, wanted: str) -> None:
    assert render(template) == wanted
