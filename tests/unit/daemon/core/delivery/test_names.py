"""Names of variables: made from names of files, never two alike, and never one that runs code."""

import pytest

from syncret.daemon.core.delivery.names import Inexpressible, variable_names


def test_a_name_is_upper_case_with_underscores() -> None:
    assert variable_names(["db-password", "tls.crt"], {}) == {
        "db-password": "DB_PASSWORD",
        "tls.crt": "TLS_CRT",
    }


def test_case_and_prefix_are_for_names_that_are_not_given() -> None:
    names = variable_names(["user", "key"], {"key": "Api_Key"}, case="keep", prefix="APP_")
    assert names == {"user": "APP_user", "key": "Api_Key"}


@pytest.mark.parametrize(
    ("files", "names", "problem"),
    [
        pytest.param(["1st"], {}, 'key "1st" gives no name of a variable', id="digit first"),
        pytest.param(["a"], {"a": "B-C"}, 'key "a" gives no name of a variable', id="given, and no name"),
        pytest.param(["a-b", "a.b"], {}, 'key "a.b" would become A_B, as "a-b" does', id="two alike"),
        pytest.param(["a", "b"], {"b": "A"}, 'key "b" would become A, as "a" does', id="one given"),
        *(
            pytest.param([name], {}, f'key "{name}" would become {name.upper()}, which can', id=name)
            for name in ("path", "ld_preload", "bash_env", "env", "ifs", "pythonpath", "node_options")
        ),
    ],
)
def test_what_is_refused(files: list[str], names: dict[str, str], problem: str) -> None:
    with pytest.raises(Inexpressible) as caught:
        variable_names(files, names)
    assert str(caught.value).startswith(problem)
    assert "name" in caught.value.hint


def test_a_variable_that_runs_code_may_be_named_explicitly() -> None:
    assert variable_names(["path"], {"path": "PATH"}) == {"path": "PATH"}


def test_a_prefix_makes_a_name_harmless() -> None:
    assert variable_names(["path"], {}, prefix="APP_") == {"path": "APP_PATH"}
