"""The Helm chart: its values are one mapping onto an Installation, and its files are generated from it."""
