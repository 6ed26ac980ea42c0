"""Makes programs take pymtml for NVIDIA's pynvml."""
