"""Stands in for vllm, which needs a GPU stack: the names that vllm-musa's platform file takes from it on import."""
