"""One test for a rule that holds for many names: it goes through all of them, and lists those that break it."""

import functools
import inspect

import pytest


def each(names):
    """Decorator: check(name, fixtures ...) is one test, of all the names."""

    def decorate(check):
        @functools.wraps(check)
        def test(**fixtures):
            wrong = []
            for name in names:
                try:
                    check(name, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # an assertion, or what the checked thing raised
                    wrong.append("%s: %s: %s" % (name, type(error).__name__, error))
            assert not wrong, "\n".join(wrong[:20] + ["%d of %d" % (len(wrong), len(names))])

        signature = inspect.signature(check)
        del test.__wrapped__
        test.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
        return test

    names = list(names)
    assert names, "a rule without names cannot fail"
    return decorate
