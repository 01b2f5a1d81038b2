"""What the stores in Yandex Cloud share: Lockbox and Certificate Manager.

spec  fields and rules     connection  addresses of services, login     names  lists of a folder, for searches
client what each service's client begins with

The REST API is used that Yandex publishes beside gRPC: same calls, same names.
"""
