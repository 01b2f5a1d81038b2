"""Azure Resource Manager: the secrets of Azure's resources, for dynamic exports.

types   the table: which API has which names      picks        names in an answer
getter  from a resource to its secrets            identities   who asks for them
calls   the APIs, within Azure's limits           resource_ids the ID of a resource
"""
