"""The program that `syncret exec` runs: its variables, how it is started, and how it is supervised."""
