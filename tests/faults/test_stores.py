"""Secret managers that refuse logins, hang or are slow, under a real daemon."""

import time
from pathlib import Path

import pytest

from tests.real.e2e.manifests import replaced, written
from tests.real.e2e.process import daemon
from tests.support.servers.small_vault import small_vault, vault_sets, vault_store

pytestmark = pytest.mark.slow


def test_refused_logins_are_as_many_as_the_doubling_delay_allows(tmp_path: Path) -> None:
    """Vault locks a user after five by default; fifty objects of two seconds sent 115 in forty seconds."""
    with small_vault() as vault:
        manifests = written(tmp_path / "manifests", store=vault_store(vault), sets=vault_sets("vault", 50))
        with daemon(tmp_path, manifests) as process:
            value = tmp_path / "out/default/vault-49/user"
            process.until(value.exists, "synced")
            assert len(vault.logins) == 1
            vault.refuses = True
            vault.revoke_all()
            revoked = time.monotonic()
            process.until(lambda: process.status("vault")["ready"] is False, "the store not ready")
            assert "Vault refuses it" in process.status("vault")["lastFailure"]["message"]
            time.sleep(max(0.0, revoked + 20 - time.monotonic()))
            # After 0 and 1 s, and then the store alone, 32 s later.
            assert len(vault.logins) == 1 + 2
            assert value.exists(), "what was delivered stays"

            vault.refuses, vault.secret_id = False, "other"
            replaced(manifests / "store.yaml", vault_store(vault, secret_id="other"))
            before = value.read_text()
            process.until(lambda: value.read_text() != before, "fresh again")
            assert len(vault.logins) == 1 + 2 + 1
            assert process.status("vault")["ready"] is True
