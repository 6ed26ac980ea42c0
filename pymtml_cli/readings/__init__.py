"""What is asked of cards, and of the machine."""
