"""Google's logins for whoever needs them: keys, machines, workload identity, federation, impersonation.

login = ApplicationDefault(http, Endpoints.of(os.environ), os.environ, context.now)
tokens = Expiring(login, now=context.now)
"""
