"""What syncret uses of hvac, which ships no types: classes that turn a call into one request of an adapter.

Here the adapter is ours and asynchronous, so what they return is what it returns.
"""
