"""What holds for all tests here."""

import signal

# A shell that starts the tests in the background may have them ignore Ctrl-C, which what they start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
