"""A secret manager with a REST API: the parts that most providers use, beside their spec.

endpoints     the table of the vendor's endpoints   api      calls of them, and what their refusals mean
identities    who calls: fixed headers, a login     logins   how a login is made
connection    opens a store                         texts    entries that are texts: read, pushed
unchanged     answers that an ETag holds for        signed   requests signed with an access key
clients       what every client has

A provider is then its spec, an identity, and a client that reads like the vendor's page on its API. Of these
only `endpoints` is imported when a spec is validated: it loads neither TLS nor aiohttp.
"""
