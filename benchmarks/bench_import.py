"""Cost of the import: a whole process that imports the module, less one that imports nothing; time and memory."""

import os
import random
import shutil
import statistics
import subprocess
import time

import common

# "source" is the first import of a module that was just copied somewhere: the interpreter's own modules are compiled.
MODES = ("bytecode", "source")
PRINT_MEMORY = "print(open('/proc/self/smaps_rollup').read())"


class Program:
    """A Python process that runs one statement, as a user of the binding's virtual environment would start it."""

    def __init__(self, binding, statement, mode):
        self.command = [binding.python, "-c", statement]
        self.statement = statement
        environment = common.user_environment()
        if mode == "source":
            folder = source_folder(binding)
            environment.update(PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
        # The current folder comes first where modules are searched for, and the checkout has one of their names.
        self.options = {"env": environment, "cwd": binding.venv, "universal_newlines": True}
        # Writes the bytecode that is missing, of the interpreter's own modules too.
        self.milliseconds()

    def output(self, statement):
        return subprocess.check_output([self.command[0], "-c", statement], **self.options)

    def milliseconds(self):
        start = time.perf_counter()
        code = subprocess.call(self.command, **self.options)
        elapsed = time.perf_counter() - start
        if code:
            raise common.BenchmarkError("%s ended with status %d" % (" ".join(self.command), code))
        return elapsed * 1000

    def private_kib(self):
        """Memory that this process alone holds."""
        text = self.output(self.statement + "; " + PRINT_MEMORY)
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_"))


def source_folder(binding):
    """A folder with a copy of the module that never gets bytecode."""
    folder = os.path.join(common.BUILD, "source", common.PYTHON_TAG, binding.key)
    os.makedirs(folder, exist_ok=True)
    shutil.copy(binding.source, os.path.join(folder, binding.module + ".py"))
    return folder


def check_module(binding, mode, program):
    """The module has to be the installed one, or its copy, not one that happens to lie in the way."""
    wanted = binding.source
    if mode == "source":
        wanted = os.path.join(source_folder(binding), binding.module + ".py")
    path = program.output("import %s as module; print(module.__file__)" % binding.module).strip()
    if path != wanted:
        raise common.BenchmarkError("%s was imported from %s" % (binding.title, path))


def programs(options):
    """{(who, mode): (importing program, empty program)}"""
    pairs = {}
    for mode in MODES:
        for binding in options.bindings:
            program = Program(binding, "import " + binding.module, mode)
            check_module(binding, mode, program)
            pairs[binding.key, mode] = (program, Program(binding, "pass", mode))
        # What no ctypes binding can do without.
        host = options.bindings[0]
        pairs["ctypes", mode] = (Program(host, "import ctypes, os, sys", mode), Program(host, "pass", mode))
    return pairs


def measure(options):
    pairs = programs(options)
    samples = {quantity: {job: [] for job in pairs} for quantity in ("milliseconds", "private_kib")}
    jobs = list(pairs)
    for done in range(options.rounds):
        random.shuffle(jobs)
        for job in jobs:
            full, empty = pairs[job]
            samples["milliseconds"][job].append(full.milliseconds() - empty.milliseconds())
            # Memory hardly varies from one run to the next.
            if done < 5:
                samples["private_kib"][job].append(full.private_kib() - empty.private_kib())
    figures = {}
    for quantity, taken in samples.items():
        for (key, mode), values in taken.items():
            cell = figures.setdefault(quantity, {}).setdefault(mode, {}).setdefault(key, {})
            cell["median"] = statistics.median(values)
            if key != "pymtml" and ("pymtml", mode) in taken:
                cell["ratio"] = common.ratio(taken["pymtml", mode], values)
    return figures


def budgets_of(figures):
    ratios = {
        quantity: modes["bytecode"]["nvidia"].get("ratio") if "nvidia" in modes["bytecode"] else None
        for quantity, modes in figures.items()
    }
    budgets = []
    if ratios["milliseconds"]:
        budgets.append(common.budget("import time / nvidia-ml-py", ratios["milliseconds"]["median"], 0.36))
        budgets.append(common.budget("import memory / nvidia-ml-py", ratios["private_kib"]["median"], 1.0))
    return budgets


def report(document):
    columns = [
        key
        for key in ("pymtml", "nvidia", "mthreads", "ctypes")
        if key in document["figures"]["milliseconds"]["source"]
    ]
    others = columns[1:] if columns[0] == "pymtml" else []
    rows = []
    for quantity, title, digits in (("milliseconds", "ms", 2), ("private_kib", "private KiB", 0)):
        for mode in MODES:
            cells = document["figures"][quantity][mode]
            rows.append(
                ["%s, %s" % (title, mode)]
                + [common.number(cells[key]["median"], digits) for key in columns]
                + [common.number(cells[key]["ratio"]["median"], 2) for key in others]
            )
    times = common.table(["import, less an empty process"] + columns + ["/" + key for key in others], rows)
    return "\n\n".join([times, common.budget_table(document)])


if __name__ == "__main__":
    common.main("import", __doc__, 40, measure, budgets_of, report)
