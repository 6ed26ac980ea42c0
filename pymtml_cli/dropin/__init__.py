"""Programs that take pymtml for pynvml."""
