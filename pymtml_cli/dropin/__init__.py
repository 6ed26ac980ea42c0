"""Making programs use pymtml as pynvml."""
