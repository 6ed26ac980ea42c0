"""The simulator's mthreads-gmi: the vendor's command line tool in the forms that programs parse.

It reads everything through the C interface of the simulated library, processes aside, which MTML does not know.
"""
