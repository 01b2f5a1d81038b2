"""Logins at Microsoft Entra ID, for whatever provider talks to Azure.

clouds    where services are          entra     tokens for a secret, a certificate, another issuer's token
machine   managed identities          signing   the certificate of an application
"""
