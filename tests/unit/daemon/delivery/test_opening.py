"""What Deliveries know of the settings."""

from pathlib import Path

import pytest

from syncret.config.settings import Settings
from syncret.daemon.delivery.opening import deliveries_of
from syncret.daemon.delivery.reconciler import OnHost


@pytest.mark.parametrize(
    ("settings", "dry", "outputs"),
    [
        pytest.param(Settings(output_dir="out"), False, str(Path("out").absolute()), id="relative"),
        pytest.param(Settings(output_dir=""), False, "", id="none"),
        pytest.param(Settings(output_dir=""), True, "/run/syncret/secrets", id="only planned"),
    ],
)
def test_the_output_folder_is_known_by_its_whole_path(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, outputs: str, *, dry: bool
) -> None:
    seen: list[str] = []

    def note(_context: object, host: OnHost) -> None:
        seen.append(host.outputs)

    monkeypatch.setattr(
        "syncret.daemon.delivery.reconciler.DeliveryReconciler",
        note,
    )
    make = deliveries_of(settings, b"key", dry=dry)
    assert make is not None
    make(None)  # type: ignore[arg-type]  # nothing is asked of it
    assert seen == [outputs]
