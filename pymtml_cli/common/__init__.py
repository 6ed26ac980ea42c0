"""What all rooms need: errors, text, numbers, options, samples."""
