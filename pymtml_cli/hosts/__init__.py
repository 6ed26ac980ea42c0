"""What a host says in --json, and what hosts say compared."""
