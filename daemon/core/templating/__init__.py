"""Go's text/template in Python, with limits; its output equals Go's to the byte."""
