"""Logins at Microsoft Entra ID, for providers of Azure.

clouds    endpoints of services               entra    tokens for a secret, a certificate, a federated token
signing   the certificate of an application
"""
