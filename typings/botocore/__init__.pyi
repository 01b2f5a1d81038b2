"""What syncret uses of botocore, which ships no types."""
