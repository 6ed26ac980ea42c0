"""Processes on a card and its MPC instances, each once."""

import pymtml
from pymtml_cli.devices import Unknown, ask

_QUERIES = (("C", pymtml.nvmlDeviceGetComputeRunningProcesses), ("G", pymtml.nvmlDeviceGetGraphicsRunningProcesses))


class Process:
    """A process on a card: ``kind`` is C (computes), G (draws) or C+G; ``instance`` the Device it runs on, or None."""

    def __init__(self, card, pid, kind, memory, instance=None):
        self.card, self.pid, self.kind, self.memory, self.instance = card, pid, kind, memory, instance

    @property
    def name(self):
        """Program as its command line has it, or an Unknown."""
        return ask(pymtml.nvmlSystemGetProcessName, self.pid)


def processes(card):
    """Processes of a card and its instances by pid (list of Process), or an Unknown where nothing tells them."""
    found = {}
    for device in [card] + card.instances:
        for kind, query in _QUERIES:
            rows = device.ask(query)
            if isinstance(rows, Unknown):
                if device is card and kind == "C":
                    return rows
                continue
            for row in rows:
                process = found.get(row.pid)
                if process is None:
                    process = found[row.pid] = Process(card, row.pid, kind, row.usedGpuMemory)
                elif kind not in process.kind:
                    process.kind = "C+G"
                if device is not card:
                    process.instance = device
    return [found[pid] for pid in sorted(found)]
