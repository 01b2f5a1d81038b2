"""NTLMv2, by which older Windows servers let a user in (MS-NLMP).

One connection is let in, not one request: the three messages must travel on the same one, and nobody else's
may come between. `NtlmHttp` sees to that.
"""

from syncret.providers.kit.ntlm.session import Login, NtlmHttp

__all__ = ["Login", "NtlmHttp"]
