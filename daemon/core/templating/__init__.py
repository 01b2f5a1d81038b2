"""Go's text/template over Python values: pure, bounded, and exact to the byte."""
