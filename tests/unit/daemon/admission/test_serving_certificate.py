"""What is said of a certificate that is not there."""

import time
from pathlib import Path

from structlog.testing import capture_logs

from syncret.config.settings import Webhook
from syncret.daemon.admission.serving_certificate import UNTIL_LOGGED, ServingCertificate, from_folder
from tests.unit.daemon.admission.support import fresh


async def test_a_folder_without_a_certificate_is_told_once_it_has_had_its_time(tmp_path: Path) -> None:
    certificate = ServingCertificate(
        Webhook(), from_folder(tmp_path), where=str(tmp_path), name="", now=time.time
    )
    with capture_logs() as logs:
        for _ in range(UNTIL_LOGGED - 1):
            await certificate.refresh()
        assert logs == []
        await certificate.refresh()
        assert [(each["event"], each["log_level"]) for each in logs] == [
            ("there is no certificate for the webhook", "warning")
        ]
        assert str(tmp_path) in logs[0]["reason"]


async def test_a_certificate_that_goes_is_told_at_once_and_still_served(tmp_path: Path) -> None:
    leaf = fresh().leaf
    (tmp_path / "tls.crt").write_bytes(leaf.certificate)
    (tmp_path / "tls.key").write_bytes(leaf.key)
    certificate = ServingCertificate(Webhook(), from_folder(tmp_path), where="x", name="", now=time.time)
    await certificate.refresh()
    (tmp_path / "tls.crt").unlink()
    with capture_logs() as logs:
        await certificate.refresh()
    assert [each["event"] for each in logs] == ["there is no certificate for the webhook"]
    assert certificate.context() is not None
