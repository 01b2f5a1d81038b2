"""Logins at Google: keys, the metadata server, workload identity, federation, impersonation.

login = ApplicationDefault(http, Endpoints.of(os.environ), os.environ, context.now)
tokens = ExpiringLogin(login, now=context.now)
"""
