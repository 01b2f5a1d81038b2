"""Pure decisions. No clock, no chance, no I/O: all three are arguments."""
