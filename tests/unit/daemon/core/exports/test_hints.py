"""Which names of secrets an expression needs, by its checked tree; the corpus has the usual forms."""

import pytest

from syncret.daemon.core.exports.cel import programs
from syncret.daemon.core.exports.cel.messages import Text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("'a' in secret ? 'y' : 'n'", "a", id="in"),
        pytest.param("self.k in secret ? 'y' : 'n'", "*", id="unknown key in"),
        pytest.param("secret['a' + '']", "*", id="nothing is folded"),
        pytest.param("string(size(secret)) + secret.a", "*", id="all wins"),
        pytest.param("dyn(secret).a", "*", id="behind dyn"),
        pytest.param("[secret][0].a", "*", id="in a list"),
        pytest.param("{'s': secrets}.s.a", "*", id="in a map"),
        pytest.param("(self.x ? secret : secrets).a", "*", id="one of two"),
        pytest.param("['x'].map(secret, secret + secrets.a)[0]", "a", id="the alias of a bound name"),
        pytest.param("[secret.a].map(secret, [secret].map(x, x + secret)[0])[0]", "a", id="bound within"),
        pytest.param("['x'].map(x, .secret.a)[0]", "a", id="of the root"),
        pytest.param("secret[secret.a]", "* ", id="a key that is a secret"),
        pytest.param("self.secret.a + self['secret'].b", "", id="fields of that name"),
        pytest.param("{secret.a: secret.b}.map(k, k)[0]", "a b", id="entries of a map"),
        pytest.param("self.x.transformMap(k, v, secret.a)[secret.b]", "a b", id="two variables"),
        pytest.param("'%s'.format([secret.?a.orValue(secret.b)])", "a b", id="orValue"),
    ],
)
def test_hints(source: str, expected: str) -> None:
    checked = programs.check(Text(for_secret=True, source=source))
    assert checked.failure is None
    assert checked.hints == tuple(expected.split())
