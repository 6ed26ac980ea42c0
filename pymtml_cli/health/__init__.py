"""Whether cards are well, and what works here."""
