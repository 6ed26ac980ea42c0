"""Work in threads that begin together, and in a forked child."""

import os
import signal
import threading
import traceback


def in_threads(work, count=8):
    """Run work(number) in threads that begin together; what any of them raised is raised here."""
    barrier, failures = threading.Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def in_child(work, seconds=30):
    """Exit status of a forked child that runs work() and is ended after that time; negative for a signal."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.alarm(int(seconds))
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
