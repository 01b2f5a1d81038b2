"""NTLMv2, the login of older Windows servers (MS-NLMP).

It authenticates a connection, not a request: the three messages must go over one connection, without other
requests in between. `NtlmHttp` ensures that.
"""

from syncret.providers.kit.ntlm.session import Login, NtlmHttp

__all__ = ["Login", "NtlmHttp"]
