"""The door to the daemon's own identity; no other module of the providers reads it.

rules    where it may go                     door        what a store is granted
files    tokens in mounted files             metadata    requests to metadata servers
pod      the pod's own ServiceAccount        aws, azure, ...    what these clouds give the machine
"""
