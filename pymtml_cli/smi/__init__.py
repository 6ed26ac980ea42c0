"""What nvidia-smi prints, in its language."""
