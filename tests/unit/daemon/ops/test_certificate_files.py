"""The certificate of our own server: late, replaced, broken."""

from pathlib import Path

from structlog.testing import capture_logs

from syncret.config.settings import MetricsTls
from syncret.daemon.ops.certificate_files import CertificateFiles
from tests.support.tls import Authority, Pair


def put(folder: Path, pair: Pair) -> None:
    (folder / "server.pem").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)


def test_a_certificate_may_come_late_and_be_replaced(tmp_path: Path) -> None:
    files = CertificateFiles(MetricsTls(enabled=True, cert_dir=str(tmp_path), cert_name="server.pem"))
    with capture_logs() as lines:
        assert files.context() is None
        assert files.context() is None
    (line,) = lines
    assert f"{tmp_path}/server.pem" in line["reason"]
    authority = Authority()
    put(tmp_path, authority.pair())
    first = files.context()
    assert first is not None
    assert files.context() is first
    put(tmp_path, authority.pair("127.0.0.1", days=2))
    assert files.context() not in {None, first}


def test_what_cannot_be_used_leaves_the_one_before(tmp_path: Path) -> None:
    files = CertificateFiles(MetricsTls(enabled=True, cert_dir=str(tmp_path), cert_name="server.pem"))
    put(tmp_path, Authority().pair())
    first = files.context()
    secret = b"-----BEGIN PRIVATE KEY-----\nplanted\n"
    (tmp_path / "tls.key").write_bytes(secret)
    with capture_logs() as lines:
        assert files.context() is first
    assert "planted" not in str(lines)
    (tmp_path / "tls.key").unlink()
    assert files.context() is first
