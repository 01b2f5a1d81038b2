"""Code that providers share: retry, rate limits, properties of values, translation of errors."""
