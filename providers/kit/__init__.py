"""What several providers share: retry, limits, extraction, translation of errors."""
