"""Stands in for vllm.logger: loggers that write to stderr."""

import logging

logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")


def init_logger(name):
    return logging.getLogger(name)
