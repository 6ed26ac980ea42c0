"""Whole answers, to the letter, on machines whose values are known: what stands where, and what stands beside it.

The values are those of tests/distinct.ini, and of the divided machine and the host of virtual devices among the
simulator's profiles. Two processes run on the first card, and a third on the first instance of the divided one. Blanks
at the end of a line do not count here.
"""

import json
import os
import platform
import re
import shutil
import time
import types
from xml.etree import ElementTree

import pytest
import simulated
from command import invoke, process_tree
from inside import cells, devices, encodersessions, language, mtlink, pmon, samples, scroll, table, topo

import pymtml

DISTINCT, DIVIDED, HOST = simulated.DISTINCT, "s3000-mpc", "s3000-vgpu-host"
MOMENT = 1764942645.25  # 2025-12-05, 13:50:45 and a quarter, Friday
ONE, OTHER = "10000000-0000-0000-0000-00000000000a", "20000000-0000-0000-0000-00000000000b"

PROCESSES_HEAD = "Pid VPid Total 2D TA 3D CMP TRANSFER PidName\n"


@pytest.fixture(autouse=True)
def known(tmp_path, monkeypatch):
    """The time of all samples, a version, and processes."""
    clock = types.SimpleNamespace(
        time=lambda: MOMENT, localtime=time.gmtime, strftime=time.strftime, asctime=time.asctime
    )
    monkeypatch.setattr(devices, "time", clock)
    monkeypatch.setattr(pymtml, "__version__", "9.8.7")
    process_tree(tmp_path, monkeypatch, {17: ("/opt/trainer", 12), 18: ("game", 3)})
    table_of_instance = tmp_path / "driver" / "musa" / "gpu01"
    table_of_instance.mkdir()
    (table_of_instance / "devname").write_text("mtgpu.2\n")
    (table_of_instance / "proc_util").write_text(PROCESSES_HEAD + "19 19 40 0 0 0 40 0 x\n")
    (tmp_path / "19").mkdir()
    (tmp_path / "19" / "cmdline").write_text("/opt/part\0")
    (tmp_path / "19" / "status").write_text("NSpid:\t19\n")


def text_of(lines):
    return "\n".join(line.rstrip() for line in lines).strip("\n")


# (machine, arguments): what is printed
ANSWERS = {
    (DISTINCT, ""): """\
Fri Dec  5 13:50:45 2025
+-----------------------------------------------------------------------------------------+
| pymtml 9.8.7   MTML 2.2.1-simulator   Driver Version: 3.3.9-server   MUSA Version: 4.3  |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MPC M. |
|=========================================+========================+======================|
|   0  MTT S5000                     N/A  |   00000000:2A:00.0 N/A |                  305 |
| 31%   51C    P2            123W /  240W |    3072MiB /  16384MiB |     61%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
|   1  X10000                        N/A  |   00000000:3C:00.0 N/A |                  713 |
| 37%   52C    P6            134W /  270W |    6144MiB /  24576MiB |     71%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A              17      C   /opt/trainer                               N/A |
|    0   N/A  N/A              18      C   game                                       N/A |
+-----------------------------------------------------------------------------------------+""",
    (DIVIDED, "-i 0"): """\
Fri Dec  5 13:50:45 2025
+-----------------------------------------------------------------------------------------+
| pymtml 9.8.7   MTML 2.2.0-simulator   Driver Version: 3.3.5-server   MUSA Version: 4.3  |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MPC M. |
|=========================================+========================+======================|
|   0  MTT S3000                     N/A  |   00000000:3B:00.0 N/A |                  N/A |
| N/A   58C    P0            140W /  250W |   13108MiB /  32768MiB |     50%      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MPC instances:                                                                          |
| GPU MPC  Name               Memory-Usage            Util                                |
|=========================================================================================|
|   0   0  4c+16gb             7168MiB /  16384MiB      80%                               |
|   0   1  2c+8gb              2048MiB /   8192MiB      35%                               |
|   0   2  2c+8gb                 0MiB /   8192MiB       0%                               |
+-----------------------------------------------------------------------------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A              17      C   /opt/trainer                               N/A |
|    0   N/A  N/A              18      C   game                                       N/A |
|    0     0  N/A              19      C   /opt/part                                  N/A |
+-----------------------------------------------------------------------------------------+""",
    (
        DISTINCT,
        "-L",
    ): """\
GPU 0: MTT S5000 (UUID: %s)
GPU 1: X10000 (UUID: %s)"""
    % (ONE, OTHER),
    (DIVIDED, "-L"): """\
GPU 0: MTT S3000 (UUID: d62bf705-3be0-87d6-c1e8-801d9ffeea3d)
  MPC 4c+16gb     Device  0: (UUID: 93805612-625b-12ea-4d9b-719cdb41117f)
  MPC 2c+8gb      Device  1: (UUID: bdbb08bd-228b-1bf3-4390-602119a4ed9c)
  MPC 2c+8gb      Device  2: (UUID: 43195da2-a2fd-214f-bbb7-07ec2ef8a39c)
GPU 1: MTT S3000 (UUID: 8dbd7249-8d91-74f0-fe06-aa33a47f4e43)""",
    (DISTINCT, "-B"): "No excluded devices found.",
    (DISTINCT, "-q -d PIDS -i 0"): """\
==============PYMTML LOG==============

Timestamp                                              : Fri Dec  5 13:50:45 2025
Driver Version                                         : 3.3.9-server
MTML Version                                           : 2.2.1-simulator
MUSA Version                                           : 4.3

Attached GPUs                                          : 2
GPU 00000000:2A:00.0
    Processes
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 17
            Type                          : C
            Name                          : /opt/trainer
            Used GPU Memory               : N/A
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 18
            Type                          : C
            Name                          : game
            Used GPU Memory               : N/A""",
    (DISTINCT, "-q -d VOLTAGE,PIDS -i 1"): """\
==============PYMTML LOG==============

Timestamp                                              : Fri Dec  5 13:50:45 2025
Driver Version                                         : 3.3.9-server
MTML Version                                           : 2.2.1-simulator
MUSA Version                                           : 4.3

Attached GPUs                                          : 2
GPU 00000000:3C:00.0
    Voltage
        Graphics                                       : 806.000 mV
    Processes                                          : None""",
    (DISTINCT, "-q -d ACCOUNTING -i 1"): """\
==============PYMTML LOG==============

Timestamp                                              : Fri Dec  5 13:50:45 2025
Driver Version                                         : 3.3.9-server
MTML Version                                           : 2.2.1-simulator
MUSA Version                                           : 4.3

Attached GPUs                                          : 2
GPU 00000000:3C:00.0
    Accounting Mode                                    : Disabled
    Accounting Mode Buffer Size                        : N/A
    Accounted Processes                                : None""",
    (DISTINCT, "-q -d POWER -i 1"): """\
==============PYMTML LOG==============

Timestamp                                              : Fri Dec  5 13:50:45 2025
Driver Version                                         : 3.3.9-server
MTML Version                                           : 2.2.1-simulator
MUSA Version                                           : 4.3

Attached GPUs                                          : 2
GPU 00000000:3C:00.0
    GPU Power Readings
        Average Power Draw                             : 134.00 W
        Instantaneous Power Draw                       : 134.00 W
        Current Power Limit                            : 270.00 W
        Requested Power Limit                          : 270.00 W
        Default Power Limit                            : 290.00 W
        Min Power Limit                                : N/A
        Max Power Limit                                : N/A
    Power Samples
        Duration                                       : N/A
        Number of Samples                              : N/A
        Max                                            : N/A
        Min                                            : N/A
        Avg                                            : N/A
    GPU Memory Power Readings
        Average Power Draw                             : N/A
        Instantaneous Power Draw                       : N/A
    Module Power Readings
        Average Power Draw                             : N/A
        Instantaneous Power Draw                       : N/A
        Current Power Limit                            : N/A
        Requested Power Limit                          : N/A
        Default Power Limit                            : N/A
        Min Power Limit                                : N/A
        Max Power Limit                                : N/A""",
    (DISTINCT, "-q -u"): """\
==============PYMTML LOG==============

Timestamp                                              : Fri Dec  5 13:50:45 2025
Driver Version                                         : 3.3.9-server
MTML Version                                           : 2.2.1-simulator
MUSA Version                                           : 4.3

HIC Info                                               : N/A
Attached Units                                         : 0""",
    (DISTINCT, "-q -x -u"): """\
<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_unit_v13.dtd">
<nvidia_smi_log>
\t<timestamp>Fri Dec  5 13:50:45 2025</timestamp>
\t<driver_version>3.3.9-server</driver_version>
\t<cuda_version>4.3</cuda_version>
\t<hic_info>
\t</hic_info>
\t<attached_units>0</attached_units>
</nvidia_smi_log>""",
    (DISTINCT, "--query-gpu=timestamp,index -i 1"): """\
timestamp, index
2025/12/05 13:50:45.250, 1""",
    (
        DISTINCT,
        "--query-compute-apps=gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,name,used_memory",
    ): """\
gpu_name, gpu_bus_id, gpu_serial, gpu_uuid, pid, process_name, used_gpu_memory [MiB]
MTT S5000, 00000000:2A:00.0, MYAAAA0000000001, %s, 17, /opt/trainer, [N/A]
MTT S5000, 00000000:2A:00.0, MYAAAA0000000001, %s, 18, game, [N/A]"""
    % (ONE, ONE),
    (
        DISTINCT,
        "--query-retired-pages=timestamp,gpu_name,retired_pages.address,retired_pages.timestamp,retired_pages.cause",
    ): """\
timestamp, gpu_name, retired_pages.address, retired_pages.timestamp, retired_pages.cause
2025/12/05 13:50:45.250, MTT S5000, 0x0000000000012000, 1735689600, Single Bit ECC
2025/12/05 13:50:45.250, MTT S5000, 0x0000000000034000, 1735776000, Single Bit ECC
2025/12/05 13:50:45.250, MTT S5000, 0x0000000000056000, 1738368000, Double Bit ECC
2025/12/05 13:50:45.250, MTT S5000, 0x0000000000078000, 1738454400, Double Bit ECC
2025/12/05 13:50:45.250, MTT S5000, 0x000000000009a000, 1738540800, Double Bit ECC
2025/12/05 13:50:45.250, X10000, 0x00000000000bc000, 1740787200, Single Bit ECC
2025/12/05 13:50:45.250, X10000, 0x00000000000de000, 1740873600, Double Bit ECC
2025/12/05 13:50:45.250, X10000, 0x00000000000ef000, 1740960000, Double Bit ECC""",
    (
        DISTINCT,
        "--query-supported-clocks=gpu_uuid,mem,gr",
    ): """\
gpu_uuid, memory [MHz], graphics [MHz]
%s, [N/A], [N/A]
%s, [N/A], [N/A]"""
    % (ONE, OTHER),
    (
        DISTINCT,
        "--query-accounted-apps=vgpu_instance,pid,gpu_utilization,mem_util,max_memory_usage,time,gpu_util",
    ): "vgpu_instance, pid, gpu_utilization [%], mem_utilization [%], max_memory_usage [MiB], time [ms],"
    " gpu_utilization [%]",
    (DISTINCT, "pmon -c 1 -s mu -o DT"): """\
#Date        Time         gpu         pid   type     fb   ccpm     sm    mem    enc    dec    jpg    ofa    command
#YYYYMMDD    HH:MM:SS     Idx           #    C/G     MB     MB      %      %      %      %      %      %    name
 20251205    13:50:45       0         17     C      -      -     12      -      -      -      -      -    trainer
 20251205    13:50:45       0         18     C      -      -      3      -      -      -      -      -    game
 20251205    13:50:45       1          -     -      -      -      -      -      -      -      -      -    -""",
    (DISTINCT, "dmon -c 1 -s puvmet"): """\
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa  pviol  tviol     fb   bar1   ccpm  sbecc  dbecc\
    pci  rxpci  txpci
# Idx      W      C      C      %      %      %      %      %      %      %   bool     MB     MB     MB   errs   errs\
   errs   MB/s   MB/s
    0    123     51     72     61     66     22     23      -      -      -      -   3072      -      -    101    305\
     17      -      -
    1    134     52     78     71     77     82     83      -      -      -      -   6144      -      -    509    713\
     19      -      -""",
    (DISTINCT, "dmon -c 1 -s p -o DT"): """\
#Date        Time         gpu    pwr  gtemp  mtemp
#YYYYMMDD    HH:MM:SS     Idx      W      C      C
 20251205    13:50:45       0    123     51     72
 20251205    13:50:45       1    134     52     78""",
    (DISTINCT, "dmon -c 1 -s c --format csv,nounit -o T -i 1"): """\
#Time, gpu, mclk, pclk
 13:50:45, 1, 2102, 1402""",
    (
        DISTINCT,
        "mtlink -s -p -R -e -c -i 0 -l 1",
    ): """\
GPU 0: MTT S5000 (UUID: %s)
\t Link 1: Downgrade, 56 GB/s, GPU 1 (00000000:3C:00.0)
\t Link 1: 00000000:3C:00.0
\t Link 1: Remote Device 00000000:3C:00.0: Link 0
\t Link 1: Replay Errors: N/A
\t Link 1: Recovery Errors: N/A
\t Link 1: CRC Errors: N/A
\t Link 1, P2P is supported: true
\t Link 1, P2P atomics supported: false"""
    % ONE,
    (
        DISTINCT,
        "mtlink -s -i 1",
    ): """\
GPU 1: X10000 (UUID: %s)
\t Link 0: Up, 58 GB/s, GPU 0 (00000000:2A:00.0)
\t Link 1: Downgrade, 58 GB/s, GPU 0 (00000000:2A:00.0)
\t Link 2: Down, 58 GB/s, GPU 0 (00000000:2A:00.0)"""
    % OTHER,
    (
        DISTINCT,
        "nvlink -s -R -i 0",
    ): """\
GPU 0: MTT S5000 (UUID: %s)
\t Link 0: 56.000 GB/s
\t Link 0: Remote Device 00000000:3C:00.0: Link 1
\t Link 1: 56.000 GB/s
\t Link 1: Remote Device 00000000:3C:00.0: Link 0
\t Link 2: <inactive>
\t Link 2: Remote Device 00000000:3C:00.0: Link 2"""
    % ONE,
    (DISTINCT, "mtlink -c -i 0 -l 3"): "GPU 0: MTT S5000 (UUID: %s)\n\t Invalid Link" % ONE,
    (
        DISTINCT,
        "topo -m",
    ): """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tMT2\t0-9\t0\t\tN/A
GPU1\tMT2\t X \t10-19\t1\t\tN/A
%s  MT#  = Connection traversing a bonded set of # MtLinks"""
    % topo.LEGEND,
    (DISTINCT, "topo -p2p w"): """\
 \tGPU0\tGPU1
 GPU0\tX\tGNS
 GPU1\tGNS\tX

Legend:

  X    = Self
  OK   = Status Ok
  CNS  = Chipset not supported
  GNS  = GPU not supported
  TNS  = Topology not supported
  NS   = Not supported
  U    = Unknown""",
    (
        "s5000x8",
        "topo -n 4 -i 1",
    ): "Device 1 is connected by way of an on-CPU interconnect link between PCIe host bridges"
    " to device(s): 0, 2, 3",
    (DISTINCT, "topo -p -i 0,1"): "Device 0 is connected to device 1 by way of an single on-board PCIe switch.",
    (DISTINCT, "topo -n 0 -i 1"): "Device 1 is connected by way of an single on-board PCIe switch to device(s): 0",
    (DIVIDED, "topo -n 3 -i 0"): "Device 0 is not connected to other devices by way of a PCIe host bridge.",
    (DIVIDED, "topo -n 4 -i 0"): "Device 0 is connected by way of an on-CPU interconnect link between PCIe host bridges"
    " to device(s): 1",
    (DISTINCT, "topo -c 9"): "The GPUs that have an affinity with CPU 9 are:\n0",
    (DISTINCT, "topo -c 10"): "The GPUs that have an affinity with CPU 10 are:\n1",
    (DISTINCT, "topo -c 20"): "No GPUs were found to have an affinity with CPU 20.",
    (DIVIDED, "topo -c 31"): "The GPUs that have an affinity with CPU 31 are:\n0, 1",
    (DISTINCT, "topo -C -i 1"): "NUMA IDs of closest CPU: 1",
    (DISTINCT, "topo -M -i 1"): "NUMA IDs of closest memory: 1",
    (DISTINCT, "clocks -som 1"): """\
Setting sparse operation mode is not supported for GPU 00000000:2A:00.0.
Treating as warning and moving on.
Setting sparse operation mode is not supported for GPU 00000000:3C:00.0.
Treating as warning and moving on.
All done.""",
    (DISTINCT, "clocks --sync-boost-remove 0 -i 1"): """\
Synchronous boost is not supported for GPU 00000000:3C:00.0.
Treating as warning and moving on.
All done.""",
    (DISTINCT, "clocks --sync-boost-list -i 1"): """\
Synchronous boost is not supported for GPU 00000000:3C:00.0.
Treating as warning and moving on.
All done.""",
    (DISTINCT, "clocks --sync-boost-add -i 1"): """\
Synchronous boost is not supported for GPU 00000000:3C:00.0.
Treating as warning and moving on.
All done.""",
    (DISTINCT, "clocks -som 2"): "Option 2 is invalid for -som.",
    (DISTINCT, "clocks --sync-boost-remove -1"): "Option -1 is invalid for --sync-boost-remove.",
    (DISTINCT, "mig -lgi"): "No MPC-enabled devices found.",
    (DIVIDED, "mig -lgip"): """\
+-------------------------------------------------------------------------------+
| GPU instance profiles:                                                        |
| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                                Free/Total   GiB              CE    JPEG  OFA  |
|===============================================================================|
|   0  MPC 8c+32gb          0     N/A/1      32.00      N/A      8    N/A   N/A |
|                                                            N/A   N/A   N/A    |
+-------------------------------------------------------------------------------+
|   0  MPC 4c+16gb          1     N/A/2      16.00      N/A      4    N/A   N/A |
|                                                            N/A   N/A   N/A    |
+-------------------------------------------------------------------------------+
|   0  MPC 2c+8gb           2     N/A/4      8.00       N/A      2    N/A   N/A |
|                                                            N/A   N/A   N/A    |
+-------------------------------------------------------------------------------+
|   0  MPC 1c+4gb           3     N/A/8      4.00       N/A      1    N/A   N/A |
|                                                            N/A   N/A   N/A    |
+-------------------------------------------------------------------------------+""",
    (DIVIDED, "mig -lgi"): """\
+---------------------------------------------------------+
| GPU instances:                                          |
| GPU   Name               Profile  Instance   Placement  |
|                            ID       ID       Start:Size |
|=========================================================|
|   0  MPC 4c+16gb            1        0          N/A     |
+---------------------------------------------------------+
|   0  MPC 2c+8gb             2        1          N/A     |
+---------------------------------------------------------+
|   0  MPC 2c+8gb             2        2          N/A     |
+---------------------------------------------------------+""",
    (DIVIDED, "mig -lcip -gi 1,0"): """\
+--------------------------------------------------------------------------------------+
| Compute instance profiles:                                                           |
| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |
|       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  |
|         ID                                                          CE    JPEG       |
|======================================================================================|
|   0      0       MPC 4c+16gb        N/A     0/1           4       N/A   N/A   N/A    |
|                                                                     N/A   N/A        |
+--------------------------------------------------------------------------------------+
|   0      1       MPC 2c+8gb         N/A     0/1           2       N/A   N/A   N/A    |
|                                                                     N/A   N/A        |
+--------------------------------------------------------------------------------------+""",
    (DIVIDED, "mig -lci -gi 2"): """\
+--------------------------------------------------------------------+
| Compute instances:                                                 |
| GPU     GPU       Name             Profile   Instance   Placement  |
|       Instance                       ID        ID       Start:Size |
|         ID                                                         |
|====================================================================|
|   0      2       MPC 2c+8gb         N/A       N/A         N/A      |
+--------------------------------------------------------------------+""",
    (HOST, "vgpu -q -i 0"): """\
GPU 00000000:5E:00.0
    Active vGPUs                          : 3
    vGPU ID                               : 0
        vGPU Name                         : MT vGPU S3000-1108
        vGPU Type                         : mtgpu-1108
        vGPU UUID                         : 1b64b790-af9f-c403-ec5b-9922fe84ac53
        FB Memory Usage
            Total                         : 8192 MiB
            Used                          : 2048 MiB
            Free                          : 6144 MiB
    vGPU ID                               : 1
        vGPU Name                         : MT vGPU S3000-1104
        vGPU Type                         : mtgpu-1104
        vGPU UUID                         : 2ef321fc-b2ad-9c4a-eef7-3aed24a85c2f
        FB Memory Usage
            Total                         : 4096 MiB
            Used                          : 1024 MiB
            Free                          : 3072 MiB
    vGPU ID                               : 2
        vGPU Name                         : MT vGPU S3000-1116
        vGPU Type                         : mtgpu-1116
        vGPU UUID                         : 82d57b37-64e4-e36e-5275-d029c3ceb56c
        FB Memory Usage
            Total                         : 16384 MiB
            Used                          : 6144 MiB
            Free                          : 10240 MiB""",
    # 28 of 32 GiB are given away.
    (HOST, "vgpu -c -i 0"): """\
GPU 00000000:5E:00.0
    MT vGPU S3000-1101
    MT vGPU S3000-1102
    MT vGPU S3000-1104""",
    (HOST, "vgpu -s -i 1"): """\
GPU 00000000:AF:00.0
    MT vGPU S3000-1101
    MT vGPU S3000-1102
    MT vGPU S3000-1104
    MT vGPU S3000-1108
    MT vGPU S3000-1116
    MT vGPU S3000-1132""",
    (HOST, "vgpu -i 1"): "GPU 00000000:AF:00.0\n    Active vGPUs                          : 0",
}
FAILING = {"clocks -som 2": 2, "clocks --sync-boost-remove -1": 2}


@pytest.mark.parametrize("machine, arguments", list(ANSWERS), ids=lambda part: os.path.basename(part))
def test_an_answer(machine, arguments):
    with simulated.machine(machine):
        result = invoke(*arguments.split())
    assert text_of(result.lines) == ANSWERS[machine, arguments]
    assert (result.status, result.stderr) == (FAILING.get(arguments, 0), "")


AFFINITY = "mtmlDeviceGetCpuAffinityWithinNode=TIMEOUT,mtmlDeviceGetMemoryAffinityWithinNode=TIMEOUT"
CONFIGURATIONS = "mtmlDeviceGetSupportedMpcConfigurations=TIMEOUT"
FIRST_LINK = "GPU 0: MTT S5000 (UUID: %s)\n\t Link 0" % ONE

# (machine, what fails, arguments): (exit status, what is printed)
FAILURES = {
    (DISTINCT, "mtmlDeviceGetMtLinkRemoteDevice=TIMEOUT", "mtlink -s -p -R -i 0 -l 0"): (
        0,
        FIRST_LINK
        + ": Up, 56 GB/s, remote Timeout\n\t Link 0: Timeout\n\t Link 0: Remote Device Timeout: Link Timeout",
    ),
    (DISTINCT, "mtmlDeviceGetPciInfo=TIMEOUT", "mtlink -s -p -i 0 -l 0"): (
        0,
        FIRST_LINK + ": Up, 56 GB/s, GPU 1 (N/A)\n\t Link 0: N/A",
    ),
    (DISTINCT, "mtmlDeviceGetMtLinkLayouts=TIMEOUT", "mtlink -R -i 0 -l 0"): (
        0,
        FIRST_LINK + ": Remote Device 00000000:3C:00.0: Link N/A",
    ),
    (DISTINCT, "mtmlDeviceCountMtLinkLayouts=TIMEOUT", "mtlink -R -i 0 -l 0"): (
        0,
        FIRST_LINK + ": Remote Device 00000000:3C:00.0: Link N/A",
    ),
    (DISTINCT, "mtmlDeviceGetMtLinkState=TIMEOUT", "mtlink -s -i 0 -l 0"): (
        0,
        FIRST_LINK + ": Timeout, 56 GB/s, GPU 1 (00000000:3C:00.0)",
    ),
    (DISTINCT, "mtmlDeviceGetMtLinkState=TIMEOUT", "nvlink -s -i 0 -l 0"): (0, FIRST_LINK + ": Timeout"),
    (DISTINCT, "mtmlDeviceGetMtLinkCapStatus=TIMEOUT", "mtlink -c -i 0 -l 0"): (
        0,
        FIRST_LINK + ", P2P is supported: Timeout\n\t Link 0, P2P atomics supported: Timeout",
    ),
    (DISTINCT, "mtmlDeviceGetMtLinkSpec=TIMEOUT", "nvlink -s -i 0"): (3, FIRST_LINK[:-6] + "MtLink: Timeout"),
    (DISTINCT, "mtmlDeviceGetMtLinkSpec=NOT_SUPPORTED", "mtlink -s -i 0"): (3, FIRST_LINK[:-6] + "MtLink: N/A"),
    (DISTINCT, "mtmlDeviceGetMtLinkSpec=NOT_SUPPORTED", "nvlink -s -i 0"): (0, ""),
    (DISTINCT, "mtmlDeviceGetTopologyLevel=TIMEOUT", "topo -p -i 0,1"): (
        0,
        "The path between device 0 and device 1 is not known: Timeout",
    ),
    (DISTINCT, "mtmlDeviceGetTopologyLevel=TIMEOUT", "topo -n 5 -i 0"): (255, "Failed to display the nearest GPUs"),
    (DISTINCT, AFFINITY, "topo -c 1"): (0, "The processors next to device 0 are not known: Timeout"),
    (DISTINCT, AFFINITY.replace("TIMEOUT", "NOT_SUPPORTED"), "topo -c 1"): (
        0,
        "No GPUs were found to have an affinity with CPU 1.",
    ),
    (DISTINCT, AFFINITY, "topo -C -i 0"): (0, "NUMA IDs of closest CPU: Timeout"),
    (DISTINCT, AFFINITY, "topo -M -i 0"): (0, "NUMA IDs of closest memory: N/A"),
    (DISTINCT, "mtmlVpuGetEncoderSessionStates=TIMEOUT", "--query-gpu=encoder.stats.averageFps,index"): (
        0,
        "encoder.stats.averageFps, index\n[Timeout], 0\n[Timeout], 1",
    ),
    (DISTINCT, "mtmlGpuGetTemperature=TIMEOUT", "dmon -s p -c 1 --format csv,noheader,nounit"): (
        0,
        " 0, 123, -, 72\n 1, 134, -, 78",
    ),
    (HOST, "mtmlDeviceGetActiveVirtDeviceUuids=TIMEOUT,mtmlDeviceCountActiveVirtDevices=TIMEOUT", "vgpu -i 0"): (
        0,
        "GPU 00000000:5E:00.0\n    Active vGPUs                          : Timeout",
    ),
    (HOST, "mtmlDeviceGetSupportedVirtTypes=TIMEOUT,mtmlDeviceCountSupportedVirtTypes=TIMEOUT", "vgpu -s -i 0"): (
        0,
        "GPU 00000000:5E:00.0\n    Timeout",
    ),
    (DIVIDED, CONFIGURATIONS, "mig -lgip"): (
        10,
        "Unable to get the configurations of GPU  0: Timeout\nFailed to list GPU instance profiles: Timeout",
    ),
    (DIVIDED, "mtmlDeviceGetSupportedMpcProfiles=TIMEOUT", "mig -lgip"): (
        10,
        "Unable to get the instance profiles of GPU  0: Timeout\nFailed to list GPU instance profiles: Timeout",
    ),
    (DIVIDED, CONFIGURATIONS, "mig -cgi 1,1"): (
        10,
        "Unable to get the configurations of GPU  0: Timeout\nFailed to create GPU instances: Timeout",
    ),
    (DIVIDED, "mtmlDeviceGetMpcProfileInfo=TIMEOUT", "-L"): (
        0,
        """\
GPU 0: MTT S3000 (UUID: d62bf705-3be0-87d6-c1e8-801d9ffeea3d)
  MPC Timeout     Device  0: (UUID: 93805612-625b-12ea-4d9b-719cdb41117f)
  MPC Timeout     Device  1: (UUID: bdbb08bd-228b-1bf3-4390-602119a4ed9c)
  MPC Timeout     Device  2: (UUID: 43195da2-a2fd-214f-bbb7-07ec2ef8a39c)
GPU 1: MTT S3000 (UUID: 8dbd7249-8d91-74f0-fe06-aa33a47f4e43)""",
    ),
    (DISTINCT, "mtmlDeviceGetUUID=TIMEOUT", "--query-gpu=index,uuid -i nix"): (6, "No devices were found"),
    (DISTINCT, "mtmlDeviceGetPciInfo=TIMEOUT", "--query-gpu=index -i 3C:00.0"): (6, "No devices were found"),
    (DIVIDED, "", "mig -cgi 1,1"): (
        19,
        "Unable to create GPU instances on GPU  0: In use by another client\n"
        "Failed to create GPU instances: In use by another client",
    ),
    (DIVIDED, "", "mig -cgi 1,2,2"): (0, "GPU instances of GPU  0 are already those of configuration 8-422"),
    (DIVIDED, "", "-mig 1 -i 0"): (0, "MPC Mode is already Enabled for GPU 00000000:3B:00.0.\nAll done."),
    # What is asked for in a wrong way
    (DIVIDED, "", "mig -cgi nope"): (
        2,
        "Unable to create a GPU instance on GPU  0 using profile nope: Invalid Argument\n"
        "Failed to create GPU instances: Invalid Argument",
    ),
    (DIVIDED, "", "mig -cgi 3"): (
        23,
        "Unable to create a GPU instance on GPU  0 using profile 3: Insufficient Resources\n"
        "Failed to create GPU instances: Insufficient Resources",
    ),
    (DIVIDED, "", "mig -cci 0"): (
        3,
        "Unable to create a compute instance on GPU  0: Not Supported\n"
        "Failed to create compute instances: Not Supported",
    ),
    (DIVIDED, "", "mig -dci"): (
        3,
        "Unable to destroy a compute instance on GPU  0: Not Supported\n"
        "Failed to destroy compute instances: Not Supported",
    ),
    (DIVIDED, "", "mig -lgi -dgi"): (2, "Options -lgi and -dgi can not be combined."),
    (DIVIDED, "", "mig -dgi -lgi -lci"): (2, "Options -lgi and -lci can not be combined."),
    (DIVIDED, "", "mig -lgi -gi 7"): (6, "No GPU instances found: Not Found"),
    (DIVIDED, "", "mig -lcip -gi 7"): (6, "No compute instance profiles found: Not Found"),
    (DIVIDED, "", "mig -lci -gi 7"): (6, "No compute instances found: Not Found"),
    (DIVIDED, "", "mig -lci -gi 0,x"): (2, "Invalid GPU instance ID: 0,x"),
    (DIVIDED, "", "mig -dgi -gi 1"): (
        3,
        "Unable to destroy GPU instance ID  1 from GPU  0: Not Supported\n"
        "Failed to destroy GPU instances: Not Supported",
    ),
    (DISTINCT, "", "mtlink -l x -s"): (2, '"x" is no number of a link.'),
    (DISTINCT, "", "mtlink -l -1 -s"): (2, '"-1" is no number of a link.'),
    (DISTINCT, "", "topo -c -1"): (2, '"-1" is no number of a processor.'),
    (DISTINCT, "", "topo -n 6 -i 0"): (255, "Failed to display the nearest GPUs"),
    (DISTINCT, "", "topo -m -i 0"): (
        255,
        "The -i command line argument must be used in conjunction with -n or -p.",
    ),
    (DISTINCT, "", "dmon -d 0"): (2, "Collection delay/interval should be between 1 second and 600 seconds"),
    (DISTINCT, "", "dmon -d 601"): (2, "Collection delay/interval should be between 1 second and 600 seconds"),
    (DISTINCT, "", "pmon -d 11"): (2, "Collection delay/interval should be between 1 second and 10 seconds"),
    (DISTINCT, "", "dmon -c 0"): (2, "Invalid value for number of samples to be displayed"),
    (DISTINCT, "", "encodersessions -l 0"): (2, "Loop frequency must be greater than 0."),
}


@pytest.mark.parametrize("machine, faults, arguments", list(FAILURES), ids=lambda part: os.path.basename(part)[:60])
def test_what_fails(machine, faults, arguments):
    with simulated.machine(machine, faults=faults):
        result = invoke(*arguments.split())
    assert (result.status, text_of(result.lines)) == FAILURES[machine, faults, arguments]
    assert result.stderr.count("\n") <= 1


@pytest.mark.parametrize(
    "faults, first, second",
    [
        ("0.mtmlDeviceGetMtLinkLayouts=TIMEOUT", "N/A", "MT2"),
        ("1.mtmlDeviceGetMtLinkLayouts=NOT_SUPPORTED", "MT2", "PIX"),
        ("0.mtmlDeviceGetMtLinkState=TIMEOUT", "N/A", "N/A"),
        ("mtmlDeviceGetMtLinkLayouts=NOT_SUPPORTED,mtmlDeviceGetTopologyLevel=TIMEOUT", "N/A", "N/A"),
    ],
)
def test_each_card_says_how_it_reaches_the_others(faults, first, second):
    """A row is what its card says, where the other one says something else, too."""
    with simulated.machine(DISTINCT, faults=faults):
        rows = [line.split("\t")[:3] for line in invoke("topo", "-m").lines[1:3]]
    assert rows == [["GPU0", " X ", first], ["GPU1", second, " X "]]


def test_each_card_says_which_others_it_reaches():
    with simulated.machine(DISTINCT, set="1.p2p_read=CHIPSET_NOT_SUPPORTED"):
        assert invoke("topo", "-p2p", "r").lines[1:3] == [" GPU0\tX\tOK\t", " GPU1\tCNS\tX\t"]


def test_the_longest_delays(monkeypatch):
    """What is refused begins one second later."""
    monkeypatch.setattr(scroll, "repeat", lambda machine, seconds, sample: delays.append(seconds))
    delays = []
    with simulated.machine(DISTINCT):
        assert invoke("dmon", "-d", "600").status == invoke("pmon", "-d", "10").status == 0
    assert delays == [600, 10]


@pytest.mark.parametrize("command, lines", [("dmon", 2), ("pmon", 3)])
def test_samples_go_on_until_as_many_as_were_asked_for(command, lines, monkeypatch):
    """Below one head; without -c until somebody interrupts."""

    def repeat(machine, seconds, sample):
        for first in (True, False, False, False):
            sample(first)

    monkeypatch.setattr(scroll, "repeat", repeat)
    with simulated.machine(DISTINCT):
        for options, samples_taken in (([], 4), (["-c", "1"], 1), (["-c", "3"], 3)):
            result = invoke(command, *options)
            assert (result.status, len(result.lines)) == (0, 2 + lines * samples_taken)
            assert [line[:5] for line in result.lines if line.startswith("#")] == ["# gpu", "# Idx"]


@pytest.mark.parametrize("room", [1, 2, 8, 9, 10])
def test_a_table_in_place_ends_where_the_terminal_does(room, monkeypatch):
    """The last line stays empty, and one says how many are left out."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((80, room)))
    with simulated.machine(DISTINCT), devices.Machine() as here:
        text = table._in_place(table.Screen(Looked_at()), here, here.cards)
    begin, lines, end = text[:3], text[3:-3].split("\x1b[K\r\n"), text[-3:]
    assert (begin, end) == ("\x1b[H", "\x1b[J")
    assert room == 10 or lines[-1].endswith(" more lines")
    assert [line[:7] for line in lines] == {
        1: ["... 9 m"],
        2: ["... 9 m"],
        8: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "... 3 m"],
        9: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "|   0  ", "... 2 m"],
        10: ["+- pymt", "| GPU N", "|   0 M", "|   1 X", "+------", "| GPU  ", "|   0  ", "|   0  ", "+------"],
    }.get(room)


def test_a_terminal_that_does_not_tell_its_size(monkeypatch):
    """It has 91 columns and 24 lines."""
    monkeypatch.setattr(shutil, "get_terminal_size", os.terminal_size)
    with simulated.machine("s5000x8"), devices.Machine() as here:
        lines = table._in_place(table.Screen(Looked_at()), here, here.cards).split("\x1b[K\r\n")
    assert (len(lines), len(lines[1]), lines[-1][:-3]) == (23, 91, "... 28 more lines")


def test_a_remark_on_processes_takes_the_lines_it_needs(tmp_path, monkeypatch):
    (tmp_path / "empty" / "1" / "fd").mkdir(parents=True)
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "empty"))
    lines = screen(DISTINCT, 24, monkeypatch).splitlines()
    assert lines[-3:] == ["| No running processes |", "| found                |", "+----------------------+"]


class Missing(pymtml.NVMLError_LibraryNotFound):
    """What the loader raises, which names what was tried."""

    def __str__(self):
        return "Library Not Found: tried a: b"


NO_LIBRARY = (
    "pymtml couldn't find libmtml.so.2 library in your system. Please make sure that the Moore Threads driver is "
    "properly installed and present in your system.\n"
    "PYMTML_LIBRARY may name the file; `pymtml doctor` says what was tried.\n"
)
NO_NVIDIA_LIBRARY = (
    "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver "
    "is properly installed and present in your system.\nPlease also try adding directory that contains "
    "libnvidia-ml.so to your system PATH.\n"
)
NO_DRIVER = (
    "%s has failed because it couldn't communicate with the %s driver. Make sure that the latest %s driver is installed"
    " and running.\n\n"
)
DENIED, UNLOADED = pymtml.NVMLError_NoPermission(), pymtml.NVMLError_DriverNotLoaded()
WHY = "`pymtml doctor` says why, and what to do about it\n"


@pytest.mark.parametrize(
    "error, name, status, text, hint",
    [
        (DENIED, "pymtml", 4, "Failed to initialize MTML: Insufficient Permissions\n", WHY),
        (
            DENIED,
            "nvidia-smi",
            4,
            "Failed to initialize NVML: Insufficient Permissions\n",
            WHY,
        ),
        (pymtml.NVMLError_Unknown(), "pymtml", 255, "Failed to initialize MTML: Unknown Error\n", WHY),
        (
            UNLOADED,
            "pymtml",
            9,
            NO_DRIVER % ("pymtml", "Moore Threads", "Moore Threads"),
            WHY,
        ),
        (UNLOADED, "nvidia-smi", 9, NO_DRIVER % ("NVIDIA-SMI", "NVIDIA", "NVIDIA"), WHY),
        (Missing(), "pymtml", 12, NO_LIBRARY, "tried a: b; `pymtml doctor` says more\n"),
        (Missing(), "nvidia-smi", 12, NO_NVIDIA_LIBRARY, "tried a: b; `pymtml doctor` says more\n"),
    ],
)
def test_a_library_that_cannot_be_used(error, name, status, text, hint, monkeypatch):
    def init():
        raise error

    monkeypatch.setattr(pymtml, "nvmlInit", init)
    result = invoke("-L", name=name)
    assert (result.status, result.stdout, result.stderr) == (status, text, "%s: %s" % (name, hint))


def test_cards_that_cannot_be_counted():
    with simulated.machine(DISTINCT, faults="mtmlLibraryCountDevice=DRIVER_FAILURE"):
        result = invoke("-L")
    error = "pymtml: cannot count the devices: Unknown Error; `pymtml doctor` says more\n"
    assert (result.status, result.stdout, result.stderr) == (255, "", error)


class Looked_at:
    """An output that is a terminal."""

    is_terminal = True


# (machine, columns of the terminal): the table there
SCREENS = {
    (DISTINCT, 88): """\
Fri Dec  5 13:50:45 2025
+--------------------------------------------------------------------------+
| pymtml 9.8.7       Driver Version: 3.3.9-server       MUSA Version: 4.3  |
+-----------------------------------------+------------------------+-------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A |   Util|
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage |    ECC|
|=========================================+========================+=======|
|   0  MTT S5000                     N/A  |   00000000:2A:00.0 N/A |   61% |
| 31%   51C    P2            123W /  240W |    3072MiB /  16384MiB |   305 |
+-----------------------------------------+------------------------+-------+
|   1  X10000                        N/A  |   00000000:3C:00.0 N/A |   71% |
| 37%   52C    P6            134W /  270W |    6144MiB /  24576MiB |   713 |
+-----------------------------------------+------------------------+-------+

+--------------------------------------------------------------------------+
| Processes:                                                               |
|  GPU      PID  Type  Process name                                        |
|==========================================================================|
|    0       17     C  /opt/trainer                                        |
|    0       18     C  game                                                |
+--------------------------------------------------------------------------+""",
    (DISTINCT, 80): """\
+- pymtml 9.8.7  MUSA Version: 4.3  Driver Version: 3.3.9-server --- 13:50:45 -+
| GPU Name          Fan  Temp Perf Pwr:Usage/Cap     Memory-Usage  Util    ECC |
|   0 MTT S5000     31%   51C   P2   123W / 240W    3072/16384MiB   61%    305 |
|   1 X10000        37%   52C   P6   134W / 270W    6144/24576MiB   71%    713 |
+------------------------------------------------------------------------------+
| GPU       PID Type GPU-Memory Process name                                   |
|   0        17 C           N/A /opt/trainer                                   |
|   0        18 C           N/A game                                           |
+------------------------------------------------------------------------------+""",
    (DIVIDED, 80): """\
+- pymtml 9.8.7  MUSA Version: 4.3  Driver Version: 3.3.5-server --- 13:50:45 -+
| GPU Name          Fan  Temp Perf Pwr:Usage/Cap     Memory-Usage  Util    ECC |
|   0 MTT S3000     N/A   58C   P0   140W / 250W   13108/32768MiB   50%    N/A |
|  .0 4c+16gb                                       7168/16384MiB   80%        |
|  .1 2c+8gb                                         2048/8192MiB   35%        |
|  .2 2c+8gb                                            0/8192MiB    0%        |
|   1 MTT S3000     N/A   44C   P0    58W / 250W    1967/32768MiB    9%    N/A |
+------------------------------------------------------------------------------+
| GPU       PID Type GPU-Memory Process name                                   |
|   0        17 C           N/A /opt/trainer                                   |
|   0        18 C           N/A game                                           |
| 0.0        19 C           N/A /opt/part                                      |
+------------------------------------------------------------------------------+""",
    (DISTINCT, 72): """\
+- pymtml 9.8.7  MUSA Version: 4.3 ------------------------- 13:50:45 -+
| GPU Name       Fan  Temp Pwr:Usage/Cap     Memory-Usage  Util    ECC |
|   0 MTT S5000  31%   51C   123W / 240W    3072/16384MiB   61%    305 |
|   1 X10000     37%   52C   134W / 270W    6144/24576MiB   71%    713 |
+----------------------------------------------------------------------+
| GPU       PID Type GPU-Memory Process name                           |
|   0        17 C           N/A /opt/trainer                           |
|   0        18 C           N/A game                                   |
+----------------------------------------------------------------------+""",
    (DISTINCT, 60): """\
+- pymtml 9.8.7  MUSA Version: 4.3 ------------- 13:50:45 -+
| GPU Name       Temp Pwr:Usage/Cap     Memory-Usage  Util |
|   0 MTT S5000   51C   123W / 240W    3072/16384MiB   61% |
|   1 X10000      52C   134W / 270W    6144/24576MiB   71% |
+----------------------------------------------------------+
| GPU       PID Type GPU-Memory Process name               |
|   0        17 C           N/A /opt/trainer               |
|   0        18 C           N/A game                       |
+----------------------------------------------------------+""",
    (DISTINCT, 50): """\
+- pymtml 9.8.7  MUSA Version: 4.3 --- 13:50:45 -+
| GPU  Temp Pwr:Usage/Cap     Memory-Usage  Util |
|   0   51C   123W / 240W    3072/16384MiB   61% |
|   1   52C   134W / 270W    6144/24576MiB   71% |
+------------------------------------------------+
| GPU       PID Type Process name                |
|   0        17 C    /opt/trainer                |
|   0        18 C    game                        |
+------------------------------------------------+""",
    (DISTINCT, 36): """\
+- pymtml 9.8.7 -------- 13:50:45 -+
| GPU  Temp     Memory-Usage  Util |
|   0   51C    3072/16384MiB   61% |
|   1   52C    6144/24576MiB   71% |
+----------------------------------+
| GPU       PID Type Process name  |
|   0        17 C    /opt/trainer  |
|   0        18 C    game          |
+----------------------------------+""",
    (DISTINCT, 24): """\
+- pymt... - 13:50:45 -+
| GPU     Memory-Usage |
|   0    3072/16384MiB |
|   1    6144/24576MiB |
+----------------------+
| GPU       PID Typ... |
|   0        17 C    . |
|   0        18 C    . |
+----------------------+""",
    (DISTINCT, 20): """\
+- pymt... - 13:50:4
| GPU     Memory-Usa
|   0    3072/16384M
|   1    6144/24576M
+-------------------
| GPU       PID Typ.
|   0        17 C
|   0        18 C
+-------------------""",
}


def screen(machine, columns, monkeypatch):
    """The table on a terminal of so many columns."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    with simulated.machine(machine), devices.Machine() as here:
        return table.Screen(Looked_at()).text(here, here.cards)


@pytest.mark.parametrize("machine, columns", list(SCREENS), ids=lambda part: os.path.basename(str(part)))
def test_a_table_on_a_terminal(machine, columns, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert text_of(screen(machine, columns, monkeypatch).split("\n")) == SCREENS[machine, columns]


HEADS = {
    ("pymtml", 77): "+- pymtml 9.8.7  MUSA Version: 4.3 ------------------------------ 13:50:45 -+",
    ("pymtml", 78): "+- pymtml 9.8.7  MUSA Version: 4.3  Driver Version: 3.3.9-server - 13:50:45 -+",
    ("nvidia-smi", 60): "+- NVIDIA-SMI 3.3.9-server  CUDA Version: 4.3 -- 13:50:45 -+",
}


@pytest.mark.parametrize("name, columns", list(HEADS))
def test_as_many_versions_as_there_is_room_for(name, columns, monkeypatch):
    monkeypatch.setenv("PYMTML_COMMAND_NAME", name)
    assert screen(DISTINCT, columns, monkeypatch).splitlines()[0] == HEADS[name, columns]


def test_a_line_for_each_card_up_to_80_columns(monkeypatch):
    """From there on it is nvidia-smi's table, with the time above."""
    assert screen(DISTINCT, 81, monkeypatch).startswith("Fri Dec  5 13:50:45 2025       \n+-----")


@pytest.mark.parametrize(
    "own, driver, line",
    [
        ("1", "1", "pymtml 1       MTML 2.2.1-simulator       Driver Version: 1       MUSA Version: 4.3"),
        (
            "9.8.7",
            "3.3.9-server.12345",
            "pymtml 9.8.7  MTML 2.2.1-simulator  Driver Version: 3.3.9-server.12345  MUSA Version...",
        ),
    ],
)
def test_blanks_between_versions(own, driver, line, monkeypatch):
    """Seven at most, two at least."""
    monkeypatch.setattr(pymtml, "__version__", own)
    with simulated.machine(DISTINCT, set="machine.driver_version=" + driver):
        assert invoke().lines[2] == "| %s |" % line.ljust(87)


def test_what_a_card_does_not_tell_and_what_failed(monkeypatch):
    monkeypatch.setattr(pymtml, "nvmlDeviceGetComputeMode", lambda device: pymtml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)
    faults = "mtmlGpuGetTemperature=TIMEOUT,mtmlDeviceGetFanSpeed=NOT_SUPPORTED,mtmlMemoryGetUsed=TIMEOUT"
    with simulated.machine(DISTINCT, faults=faults, set="0.ecc_mode=DISABLE"):
        assert invoke().lines[8:11] == [
            "|   0  MTT S5000                     N/A  |   00000000:2A:00.0 N/A |                  Off |",
            "| N/A  ERR!    P2            123W /  240W |       ERR! /      ERR! |     61%Exclusive_... |",
            "|                                         |                        |                  N/A |",
        ]


@pytest.mark.parametrize(
    "celsius, slowdown, color",
    [(77, "88", ""), (78, "88", cells.YELLOW), (87, "88", cells.YELLOW), (88, "88", cells.RED)]
    + [(79, "0", ""), (80, "0", cells.YELLOW), (89, "0", cells.YELLOW), (90, "0", cells.RED)],
)
def test_how_hot_a_card_is(celsius, slowdown, color):
    """By its own limit; 90 degrees where it has none."""
    with simulated.machine(DISTINCT, set="0.gpu_temperature=%d;0.slowdown_temperature=%s" % (celsius, slowdown)):
        with devices.Machine() as here:
            cell = cells.temperature(here.cards[0])
    assert (cell.text, cell.color) == ("%dC" % celsius, color)


def test_long_names_keep_their_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "profile", lambda instance: "a-name-of-16-ch.")
    with simulated.machine(DIVIDED):
        assert invoke("-i", "0").lines[17] == (
            "|   0   0  a-name-of-1...      7168MiB /  16384MiB      80%".ljust(90) + "|"
        )
    (tmp_path / "17" / "cmdline").write_text("/opt/" + "0123456789" * 6 + "\0")
    row = screen(DISTINCT, 88, monkeypatch).splitlines()[-3]
    assert row == "|    0       17     C  ...%s |" % ("0123456789" * 6)[-48:]


@pytest.mark.parametrize("columns, blanks", [(91, 18), (80, 4)])
def test_what_is_colored(columns, blanks, monkeypatch):
    """The number of uncorrected errors, and not the blanks before it."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = screen(DISTINCT, columns, monkeypatch)
    assert text.count("\x1b") == 4
    for number in ("305", "713"):
        assert " " * blanks + "\x1b[31m%s\x1b[0m |" % number in text


def test_processes_of_a_card_that_does_not_tell_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "none"))
    assert "|   0  not known: Not Supported    |" in screen(DISTINCT, 36, monkeypatch)
    with simulated.machine(DISTINCT):
        assert "\n    Processes                                          : N/A\n" in invoke("-q").stdout


def test_encoder_sessions(monkeypatch):
    """A head above each ten lines; the seconds of -l lie between samples."""
    waited = []

    def repeat(machine, seconds, sample):
        waited.append(seconds)
        for first in (True, False, False, False):
            sample(first)

    monkeypatch.setattr(encodersessions, "repeat", repeat)
    with simulated.machine(DISTINCT):
        result = invoke("encodersessions", "-l", "7")
    head = [
        "# GPU Session    Process   Codec       H       V Average     Average",
        "# Idx      Id         Id    Type     Res     Res     FPS Latency(us)",
    ]
    sample = [
        "    0       0       5001   H.264    1920    1080      59        1500",
        "    0       2       5002    HEVC    1280     720      27        2500",
        "    1       -          -       -       -       -       -           -",
    ]
    assert (result.status, result.lines) == (0, head + 3 * sample + sample[:1] + head + sample[1:])
    assert waited == [7]


def test_codecs_of_encoder_sessions(monkeypatch):
    monkeypatch.setattr(encodersessions, "repeat", lambda machine, seconds, sample: sample(True))
    form = "id=%d pid=1 width=2 height=3 fps=4 bitrate=5 latency=6 codec=%s state=ACTIVE"
    sessions = ", ".join(form % pair for pair in enumerate(("AV1", "HEVC", "AVC", "VP9")))
    with simulated.machine(DISTINCT, set="0.encoder_sessions=" + sessions):
        lines = invoke("encodersessions", "-i", "0").lines
    assert [line.split()[3] for line in lines[2:]] == ["AV1", "HEVC", "H.264", "-"]


def test_the_table_under_both_names():
    """Below the versions it differs in these words only."""
    with simulated.machine(DIVIDED):
        ours, theirs = invoke().lines, invoke(name="nvidia-smi").lines
    assert theirs[2].split() == "| NVIDIA-SMI 3.3.5-server Driver Version: 3.3.5-server CUDA Version: 4.3 |".split()
    renamed = [line.replace("MPC instances:", "MIG devices:  ").replace("MPC", "MIG") for line in ours]
    assert theirs[3:] == renamed[3:] != ours[3:]


@pytest.mark.parametrize("code, version", [(4030, "4.3"), (5000, "5.0"), (12040, "12.4"), (12990, "12.99")])
def test_versions_as_nvml_encodes_them(code, version, monkeypatch):
    monkeypatch.setattr(pymtml, "nvmlSystemGetCudaDriverVersion", lambda: code)
    assert devices.musa_version() == version


@pytest.mark.parametrize(
    "name, shown", [("/opt/trainer", "trainer"), ("/opt/", "-"), (devices.nobody_tells(), "-"), ("x" * 20, "x" * 15)]
)
def test_a_program_without_its_folders(name, shown):
    assert pmon.command(types.SimpleNamespace(name=name)) == shown


@pytest.mark.parametrize("link, number", [(0, 4), (1, 3), (2, "N/A")])
def test_the_number_of_a_link_at_its_other_end(link, number):
    """By the layout that starts with it."""
    layouts = [types.SimpleNamespace(localLinkId=here, remoteLinkId=there) for here, there in ((0, 4), (1, 3))]
    card = types.SimpleNamespace(ask=lambda function, *_: 2 if "Count" in function.__name__ else layouts)
    assert mtlink.remote_link(card, None, link) == number
    assert mtlink.remote_link(types.SimpleNamespace(ask=lambda *_: 0), None, link) == "N/A"


def test_memory_of_processes(monkeypatch):
    """No driver tells it so far. A mebibyte that is begun counts."""
    real = pymtml.nvmlDeviceGetComputeRunningProcesses

    def with_memory(device):
        found = real(device)
        for process in found:
            process.usedGpuMemory = (process.pid << 20) + 1
        return found

    monkeypatch.setattr(pymtml, "nvmlDeviceGetComputeRunningProcesses", with_memory)
    monkeypatch.setenv("NO_COLOR", "1")
    compact = screen(DISTINCT, 80, monkeypatch).splitlines()
    assert compact[-2] == "|   0        18 C         19MiB game".ljust(79) + "|"
    with simulated.machine(DIVIDED):
        assert invoke().lines[-2] == "|    0     0  N/A              19      C   /opt/part%s20MiB |" % (" " * 32)
        assert invoke("pmon", "-c", "1", "-s", "m").lines[-2].split() == ["0", "19", "C", "20", "-", "part"]
        rows = invoke("--query-compute-apps=used_memory,pid", "--format=csv,noheader").rows()
        assert rows == [["18 MiB", "17"], ["19 MiB", "18"], ["20 MiB", "19"]]
        lines = [line.strip() for line in invoke("-q", "-d", "PIDS", "-i", "0").lines]
        assert lines[-7:-1] == [
            "GPU instance ID                   : 0",
            "Compute instance ID               : N/A",
            "Process ID                        : 19",
            "Type                          : C",
            "Name                          : /opt/part",
            "Used GPU Memory               : 20 MiB",
        ]
        document = ElementTree.fromstring(invoke("-q", "-x").stdout)
        assert [[element.text for element in process] for process in document.iter("process_info")][1:] == [
            ["N/A", "N/A", "18", "C", "game", "19 MiB"],
            ["0", "N/A", "19", "C", "/opt/part", "20 MiB"],
        ]
        assert json.loads(invoke("--json").stdout)["devices"][0]["processes"]["list"][1:] == [
            {"pid": 18, "type": "C", "name": "game", "instance": None, "memory_bytes": (18 << 20) + 1},
            {"pid": 19, "type": "C", "name": "/opt/part", "instance": 0, "memory_bytes": (19 << 20) + 1},
        ]


def test_throughput_and_supported_clocks(monkeypatch):
    """MTML tells neither so far."""
    through = {pymtml.NVML_PCIE_UTIL_TX_BYTES: 4096, pymtml.NVML_PCIE_UTIL_RX_BYTES: 9216}
    monkeypatch.setattr(pymtml, "nvmlDeviceGetPcieThroughput", lambda device, counter: through[counter])
    monkeypatch.setattr(pymtml, "nvmlDeviceGetSupportedMemoryClocks", lambda device: [2100, 1000])
    monkeypatch.setattr(pymtml, "nvmlDeviceGetSupportedGraphicsClocks", lambda device, memory: [memory - 1, 50])
    with simulated.machine(DISTINCT):
        assert invoke("dmon", "-c", "1", "-s", "t").lines[2].split() == ["0", "9", "4"]
        clocks = invoke("--query-supported-clocks=mem,gr", "--format=csv,noheader,nounits", "-i", "0").rows()
        text = invoke("-q", "-i", "0").stdout
    assert clocks == [["2100", "2099"], ["2100", "50"], ["1000", "999"], ["1000", "50"]]
    for key, value in (("Tx", "4096"), ("Rx", "9216")):
        assert "        %s Throughput                                  : %s KB/s\n" % (key, value) in text


REASONS = {"gpu_idle": 1, "applications_clocks_setting": 2, "sw_power_cap": 4, "hw_slowdown": 8, "sync_boost": 16}
REASONS.update(sw_thermal_slowdown=32, hw_thermal_slowdown=64, hw_power_brake_slowdown=128)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reasons_for_slow_clocks(reason, monkeypatch):
    """MTML tells none so far. The bits are those of NVML."""
    monkeypatch.setattr(pymtml, "nvmlDeviceGetCurrentClocksEventReasons", lambda device: REASONS[reason])
    names = sorted(REASONS)
    with simulated.machine(DISTINCT):
        query = "--query-gpu=" + ",".join("clocks_event_reasons." + name for name in names)
        (row,) = invoke(query, "--format=csv,noheader", "-i", "0").rows()
    assert dict(zip(names, row)) == {name: "Active" if name == reason else "Not Active" for name in names}


WRITES_FILES = [[], ["-q"], ["-q", "-x"], ["--json"], ["--query-gpu=index,uuid"], ["--query-compute-apps=pid"]]
WRITES_FILES += [["dmon", "-c", "2"], ["pmon", "-c", "1"]]


@pytest.mark.parametrize("arguments", WRITES_FILES, ids=" ".join)
def test_a_file_has_what_stdout_would_have(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "_wait", lambda due, wakeup: None)
    file = tmp_path / "file"
    with simulated.machine(DISTINCT):
        shown = invoke(*arguments).stdout
        result = invoke(*(arguments + ["-f", str(file)]))
    assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert file.read_text() == shown != ""


def test_a_file_is_written_sample_by_sample(tmp_path):
    """Whoever reads it while it grows sees whole samples; it is there from the first one on, and closed at the end."""
    file = tmp_path / "file"
    with samples.Output(str(file)) as output:
        assert not file.exists() and not output.is_terminal
        for number in range(1, 3):
            output.write("\udcff中\n")
            assert file.read_bytes() == "\\udcff中\n".encode() * number
    assert output._file.closed


def test_a_file_that_cannot_be_written(tmp_path):
    nowhere, nonsense = str(tmp_path / "none" / "file"), str(tmp_path / "a\0b")
    with pytest.raises(ValueError) as error:
        open(nonsense)
    with simulated.machine(DISTINCT):
        for name, why in ((nowhere, "No such file or directory"), (nonsense, str(error.value))):
            result = invoke("-f", name)
            said = "pymtml: cannot write %s: %s\n" % (name.replace("\0", "\\x00"), why)
            assert (result.status, result.stdout, result.stderr) == (255, "", said)


def test_parts_of_a_divided_card():
    with simulated.machine(DIVIDED):
        result = invoke("-q", "-i", "0")
        document = ElementTree.fromstring(invoke("-q", "-x", "-i", "0").stdout)
    lines = text_of(result.lines).split("\n")
    start = lines.index("    MPC Mode")
    assert "\n".join(lines[start : start + 25]) == """\
    MPC Mode
        Current                                        : Enabled
        Pending                                        : Enabled
    MPC Instance
        Index                                          : 0
        GPU Instance ID                                : 0
        Profile                                        : 4c+16gb
        UUID                                           : 93805612-625b-12ea-4d9b-719cdb41117f
        FB Memory Usage
            Total                                      : 16384 MiB
            Used                                       : 7168 MiB
            Free                                       : 9216 MiB
        Utilization
            GPU                                        : 80 %
            Memory                                     : 33 %
    MPC Instance
        Index                                          : 1
        GPU Instance ID                                : 1
        Profile                                        : 2c+8gb
        UUID                                           : bdbb08bd-228b-1bf3-4390-602119a4ed9c
        FB Memory Usage
            Total                                      : 8192 MiB
            Used                                       : 2048 MiB
            Free                                       : 6144 MiB
        Utilization"""
    part = document.findall("gpu/mig_devices/mig_device")[1]
    expected = ["index 1", "gpu_instance_id 1", "compute_instance_id N/A", "multiprocessor_count 2"]
    expected += [name + "_count N/A" for name in ("copy_engine", "encoder", "decoder", "ofa", "jpg")]
    expected += ["sram_uncorrectable N/A", "total 8192 MiB", "reserved N/A", "used 2048 MiB", "free 6144 MiB"]
    expected += ["total N/A", "used N/A", "free N/A"]  # of BAR1
    assert ["%s %s" % (element.tag, element.text) for element in part.iter() if not len(element)] == expected


def test_all_sections_at_once():
    """Each line that one of them shows."""
    with simulated.machine(DISTINCT):
        texts = [invoke("-q", "-d", names).lines for names in (",".join(language.SECTIONS),) + language.SECTIONS]
    assert set(texts[0]) == {line for lines in texts[1:] for line in lines} and len(texts[0]) > 200


@pytest.mark.parametrize("machine", [DISTINCT, DIVIDED, HOST], ids=os.path.basename)
def test_the_two_names_differ_in_these_words_only(machine):
    """Of -q: Moore Threads' words and NVIDIA's."""
    with simulated.machine(machine):
        ours, theirs = invoke("-q").stdout, invoke("-q", name="nvidia-smi").stdout
    ours = re.sub("MTML Version .*\n", "", ours)
    for own, other in (("PYMTML LOG", "NVSMI LOG"), ("MUSA Version", "CUDA Version"), ("MPC Mode", "MIG Mode")):
        assert own in ours and own not in theirs
        ours = ours.replace(own, other)
    ours = ours.replace("MPC Instance", "MIG Device")
    assert ours == theirs.replace(": MIG-", ": ")


APART = ["0.board=1", "0.pcie_switch=1", "0.switch_group=1", "0.host_bridge=1"]
# By how many of these numbers differ: (what the matrix says, what sentences say, how many differ and what -n takes,
# what --json says)
LEVELS = [
    ("PIX", "an single on-board PCIe switch", 0, "internal"),
    ("PIX", "a single PCIe switch", 1, "single"),
    ("PXB", "multiple PCIe switches", 2, "multiple"),
    ("PHB", "a PCIe host bridge", 3, "hostbridge"),
    ("NODE", "an on-CPU interconnect link between PCIe host bridges", 4, "node"),
    ("SYS", "an SMP interconnect link between NUMA nodes", 5, "system"),
]


@pytest.mark.parametrize("cell, words, number, name", LEVELS)
def test_a_topology_level_in_all_its_words(cell, words, number, name):
    nodes = "1.numa_node=1;0.numa_node=%d" % (number < 5)
    with simulated.machine(DISTINCT, set=";".join(APART[:number] + [nodes])):
        rows = [line.split("\t") for line in invoke("topo", "-mp").lines[1:3]]
        path = invoke("topo", "-p", "-i", "0,1").stdout
        near = invoke("topo", "-n", str(number), "-i", "0").stdout
        nearer = invoke("topo", "-n", str(number - 1), "-i", "1").stdout
        (pair,) = json.loads(invoke("--json", "-i", "1").stdout)["devices"][0]["topology"]
    assert [row[:3] for row in rows] == [["GPU0", " X ", cell], ["GPU1", cell, " X "]]
    assert path == "Device 0 is connected to device 1 by way of %s.\n\n" % words
    assert near == "Device 0 is connected by way of %s to device(s): 1\n\n" % words
    if number:
        before = LEVELS[number - 1][1]
        assert nearer == "Device 1 is not connected to other devices by way of %s.\n\n" % before
    assert (pair["device"], pair["level"]) == (0, name)


@pytest.mark.parametrize(
    "status, word", [("OK", "OK"), ("CHIPSET_NOT_SUPPORTED", "CNS"), ("GPU_NOT_SUPPORTED", "GNS"), ("UNKNOWN", "U")]
)
def test_whether_cards_reach_each_other(status, word):
    other = "GNS" if status == "OK" else "OK"
    machine = "*.p2p_read=%s;*.p2p_write=%s" % (status, "GPU_NOT_SUPPORTED" if status == "OK" else "OK")
    with simulated.machine(DISTINCT, set=machine):
        lines = {letter: invoke("topo", "-p2p", letter).lines for letter in "rwnap"}
        (pair,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"][0]["topology"]
    cells = {letter: [line.split("\t") for line in lines[letter][:3]] for letter in lines}
    for letter, cell in (("r", word), ("w", other), ("n", "OK"), ("a", "NS"), ("p", "NS")):
        head = ["", "GPU0", "GPU1", ""]
        wanted = [head, ["GPU0", "X", cell, ""], ["GPU1", cell, "X", ""]]
        assert [[part.strip() for part in row] for row in cells[letter]] == wanted, letter
    assert (pair["read"], pair["write"]) == (word == "OK", other == "OK")


def test_processors_and_nodes_are_written_as_ranges():
    machine = "0.cpu_affinity=0-2,60-70,127,4095;0.memory_affinity=0,2-3;1.cpu_affinity="
    with simulated.machine(DISTINCT, set=machine):
        rows = [line.split("\t")[3:] for line in invoke("topo", "-m").lines[1:3]]
        assert rows == [["0-2,60-70,127,4095", "0,2-3", "", "N/A"], ["N/A", "1", "", "N/A"]]
        assert invoke("topo", "-M", "-i", "0").stdout == "NUMA IDs of closest memory: 0,2-3\n"
        assert invoke("topo", "-c", "4095").stdout == "The GPUs that have an affinity with CPU 4095 are:\n0\n\n"
        assert "were found" in invoke("topo", "-c", "4094").stdout
        report = json.loads(invoke("--json", "-i", "0").stdout)
    assert report["devices"][0]["affinity"] == {"cpus": "0-2,60-70,127,4095", "nodes": "0,2-3"}


# --json of the second card
SECOND_CARD = {
    "index": 1,
    "name": "X10000",
    "brand": "MTT",
    "uuid": OTHER,
    "serial_number": "MYBBBB0000000002",
    "firmware_version": "4.3.2",
    "minor_number": 1,
    "gpu_path": "/dev/mtgpu.1",
    "primary_path": "/dev/dri/card2",
    "render_path": "/dev/dri/renderD130",
    "slot_id": 9,
    "slot_name": "SLOT9",
    "cores": 13,
    "compute_capability": "3.1",
    "performance_state": 6,
    "virtualization": "none",
    "pci": {
        "bus_id": "00000000:3C:00.0",
        "domain": 0,
        "bus": 60,
        "device": 0,
        "device_id": "0x04001ED5",
        "subsystem_id": "0x04021ED5",
        "generation": 2,
        "max_generation": 4,
        "width": 2,
        "max_width": 8,
        "replays": 19,
    },
    "memory": {
        "total_bytes": 25769803776,
        "used_bytes": 6442450944,
        "free_bytes": 19327352832,
        "system_used_bytes": 1073741824,
        "type": "GDDR6",
        "vendor": "Micron",
        "bus_width_bits": 384,
        "bandwidth_gigabytes_per_second": 640,
        "speed_megabits_per_second": 20002,
    },
    "utilization": {
        "gpu_percent": 71,
        "memory_percent": 77,
        "encoder_percent": 82,
        "decoder_percent": 83,
        "engines": {"geometry_percent": 73, "2d_percent": 74, "3d_percent": 75, "compute_percent": 76},
    },
    "temperature": {"gpu_celsius": 52, "memory_celsius": 78, "slowdown_celsius": 91, "shutdown_celsius": 98},
    "power": {
        "draw_milliwatts": 134000,
        "limit_milliwatts": 270000,
        "default_limit_milliwatts": 290000,
        "gpu_millivolts": 806,
    },
    "clocks": {
        "graphics_megahertz": 1402,
        "max_graphics_megahertz": 1752,
        "memory_megahertz": 2102,
        "max_memory_megahertz": 2502,
        "video_megahertz": 1102,
        "max_video_megahertz": 1202,
    },
    "codec": {
        "max_encoder_sessions": 15,
        "max_decoder_sessions": 30,
        "encoder_sessions": 0,
        "encoder_frames_per_second": 0,
    },
    "affinity": {"cpus": "10-19", "nodes": "1"},
    "mpc": {"enabled": None, "instances": [], "reasons": {"enabled": "Not Supported"}},
    "ecc": {
        "enabled": True,
        "pending": False,
        "corrected_volatile": 509,
        "corrected_aggregate": 611,
        "uncorrected_volatile": 713,
        "uncorrected_aggregate": 815,
    },
    "retired_pages": {
        "pending": True,
        "single_bit": ["0x00000000000bc000"],
        "double_bit": ["0x00000000000de000", "0x00000000000ef000"],
    },
    "fans": {"count": 2, "speeds": [{"target_percent": 37, "rpm": 1370}, {"target_percent": 39, "rpm": 1390}]},
    "mtlink": {
        "version": 20000,
        "bandwidth_gigabytes_per_second": 58,
        "count": 3,
        "links": [
            {"link": 0, "state": "up", "remote": 0},
            {"link": 1, "state": "downgrade", "remote": 0},
            {"link": 2, "state": "down", "remote": 0},
        ],
    },
    "topology": [{"device": 0, "level": "internal", "mtlinks": 2, "read": True, "write": False}],
    "displays": [{"type": "DP", "max_width": 3840, "max_height": 2160, "max_refresh_hertz": 60.0}],
    "processes": {"list": [], "unseen": 0},
}


def test_json_of_a_card():
    with simulated.machine(DISTINCT):
        result = invoke("--json", "-i", "1")
    report = json.loads(result.stdout)
    (card,) = report.pop("devices")
    assert card == SECOND_CARD
    assert report == {
        "schema": 1,
        "host": platform.node(),
        "timestamp": "2025/12/05 13:50:45.250",
        "pymtml_version": "9.8.7",
        "library_version": "2.2.1-simulator",
        "driver_version": "3.3.9-server",
        "musa_version": "4.3",
        "device_count": 2,
    }


def test_json_of_an_instance():
    with simulated.machine(DIVIDED):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert card["mpc"]["enabled"] is True and len(card["mpc"]["instances"]) == 3
    instance = card["mpc"]["instances"][1]
    assert instance["profile"] == {"name": "2c+8gb", "cores": 2, "memory_bytes": 8589934592}
    assert (instance["index"], instance["uuid"]) == (1, "bdbb08bd-228b-1bf3-4390-602119a4ed9c")
    assert instance["memory"]["used_bytes"] == 2147483648 and instance["utilization"]["gpu_percent"] == 35
    assert instance["codec"]["max_encoder_sessions"] == 4 and instance["gpu_path"] == "/dev/mtgpu.3"


def test_json_of_a_library_that_cannot_be_used():
    with simulated.machine("no-driver"):
        result = invoke("--json")
    assert json.loads(result.stdout) == {
        "schema": 1,
        "host": platform.node(),
        "error": " ".join((NO_DRIVER % ("pymtml", "Moore Threads", "Moore Threads")).split()),
        "status": 9,
    }
    assert (result.status, result.stderr) == (9, "")


def test_a_brand_of_somebody_else_s():
    with simulated.machine(DISTINCT, set="1.brand=UNKNOWN"):
        cards = json.loads(invoke("--json").stdout)["devices"]
        assert [card["brand"] for card in cards] == ["MTT", "unknown"]
        assert "    Product Brand                                      : Unknown\n" in invoke("-q", "-i", "1").stdout


def test_json_of_processes_that_nothing_tells(tmp_path, monkeypatch):
    monkeypatch.setenv("PYMTML_PROC_ROOT", str(tmp_path / "none"))
    with simulated.machine(DISTINCT):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    reasons = {"list": "Not Supported", "unseen": "Not Supported"}
    assert card["processes"] == {"list": None, "unseen": None, "reasons": reasons}


def test_paths_that_cannot_be_asked_for():
    with simulated.machine(DISTINCT, faults="mtmlDeviceGetP2PStatus=TIMEOUT"):
        lines = invoke("topo", "-p2p", "r").lines
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert lines[1:3] == [" GPU0\tX\tU\t", " GPU1\tU\tX\t"]
    (pair,) = card["topology"]
    assert (pair["read"], pair["reasons"]) == (None, {"read": "Timeout", "write": "Timeout"})


@pytest.mark.parametrize("status, word", [(3, "TNS"), (4, "U"), (5, "NS"), (6, "U"), (77, "U")])
def test_what_mtml_does_not_say_of_paths(status, word, monkeypatch):
    """As NVML numbers it, and what nobody has numbered."""
    monkeypatch.setattr(pymtml, "nvmlDeviceGetP2PStatus", lambda device, other, index: status)
    with simulated.machine(DISTINCT):
        assert invoke("topo", "-p2p", "p").lines[1] == " GPU0\tX\t%s\t" % word


def test_displays_that_nothing_counts_are_not_known():
    with simulated.machine(DISTINCT, faults="mtmlDeviceCountDisplayInterface=NOT_SUPPORTED"):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert (card["displays"], card["reasons"]["displays"]) == (None, "Not supported")


def test_mpc_as_it_is_and_as_it_will_be(monkeypatch):
    """NVML tells both, in this order."""
    monkeypatch.setattr(pymtml, "nvmlDeviceGetMigMode", lambda device: [1, 0])
    with simulated.machine(DIVIDED):
        (card,) = json.loads(invoke("--json", "-i", "1").stdout)["devices"]
        assert card["mpc"] == {"enabled": True, "instances": []}
        assert invoke("-i", "1").lines[10].endswith("Enabled |")
        assert invoke("mig", "-lgi", "-i", "1").stdout == "No GPU instances found: Not Found\n"


def test_kinds_of_memory_and_displays():
    machine = "0.memory_type=LPDDR4;0.displays=VGA 1x2@3, EDP 4x5@6, LVDS 7x8@9, HDMI 10x11@12, DP 13x14@15"
    with simulated.machine(DISTINCT, set=machine):
        (card,) = json.loads(invoke("--json", "-i", "0").stdout)["devices"]
    assert card["memory"]["type"] == "LPDDR4"
    assert [tuple(display.values()) for display in card["displays"]] == [
        ("VGA", 1, 2, 3.0),
        ("eDP", 4, 5, 6.0),
        ("LVDS", 7, 8, 9.0),
        ("HDMI", 10, 11, 12.0),
        ("DP", 13, 14, 15.0),
    ]


@pytest.mark.parametrize(
    "mode, words, role",
    [(0, "None", "none"), (1, "Pass-Through", "passthrough"), (2, "VGPU", "guest"), (3, "Host VGPU", "host")]
    + [(4, "Host VSGA", "4"), (9, "9", "9")],
)
def test_roles_of_virtualization(mode, words, role, monkeypatch):
    """As NVML numbers them."""
    monkeypatch.setattr(pymtml, "nvmlDeviceGetVirtualizationMode", lambda device: mode)
    with simulated.machine(DISTINCT):
        assert "        Virtualization Mode                            : %s\n" % words in invoke("-q", "-i", "0").stdout
        assert json.loads(invoke("--json", "-i", "0").stdout)["devices"][0]["virtualization"] == role
