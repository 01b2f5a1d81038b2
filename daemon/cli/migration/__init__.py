"""What `syncret migrate` finds out about a cluster that the External Secrets Operator (ESO) works in."""
