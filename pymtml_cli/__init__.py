"""The command ``pymtml``: nvidia-smi's language for Moore Threads GPUs. One file a subcommand; `main` chooses."""
