"""What syncret uses of aiobotocore, which ships no types."""
