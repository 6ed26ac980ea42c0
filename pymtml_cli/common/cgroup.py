"""To whom a process belongs by its control groups: a pod of Kubernetes, a container, a job of Slurm."""

import os
import re
from collections import namedtuple

import pymtml
from pymtml_cli.common.files import read

# UID of the pod, the container's number as `docker ps` prints it, number of the job; "" where there is none
Owner = namedtuple("Owner", "pod container job")
LONGEST = 1 << 16  # characters of a cgroup file

# As kubelet writes them with either cgroup driver, runtimes (a scope of systemd, or a bare folder), and Slurm with
# either version of cgroups; the UID of a static pod is a hash.
_POD = re.compile(r"pod([0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12})(?:\.slice)?(?![^/:\n])")
_CONTAINER = re.compile(r"(?<=[/:-])([0-9a-f]{12})[0-9a-f]{52}(?:\.scope)?(?![^/\n])")
_JOB = re.compile(r"slurm.*?/job_(\d+)(?![^/\n])")


def owner(pid):
    """To whom a process belongs (Owner); the innermost where one contains another."""
    text = read(os.path.join(pymtml._proc_root(), str(pid), "cgroup"), LONGEST)
    pod, container, job = ((form.findall(text) or [""])[-1] for form in (_POD, _CONTAINER, _JOB))
    return Owner(pod.replace("_", "-"), container, job)
