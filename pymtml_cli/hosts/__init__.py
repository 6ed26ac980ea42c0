"""The output of a host for programs, and the comparison of hosts."""
