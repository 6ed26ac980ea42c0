"""The driver's files as genuine drivers write them, byte for byte, with numbers of our own."""

import pytest
from mtml_simulator import driver_files

S5000 = "device:    (3, 131)\n\tPid \t VPid \t Total \t   2D \t   TA \t   3D \t  CMP \t  TRANSFER \t PidName\n"
ROW = "       6021        44 \t  61% \t  58% \t   0% \t   0% \t   3% \t 100% \t a trainer\n"
STATUS = """Driver Status:   OK
Device ID: 1:1
Firmware Status: NOT RESPONDING (Poll failing)
Server Errors:   5
HWR Event Count: 7
CRR Event Count: 0
SLR Event Count: 0
WGP Error Count: 0
TRP Error Count: 0
FWF Event Count: 0
APM Event Count: 0
GPU Overall Utilisation:      64%
\tGEOM Utilisation:     8%
\t3D Utilisation:       16%
\tCOMP Utilisation:  32%
\t2D Utilisation:       4%
"""
TO_2_7 = STATUS.replace("Server", "Sercer").replace("COMP Utilisation: ", "COMPUTE Utilisation:")
FAULT = dict(firmware="NOT RESPONDING (Poll failing)", counts={"Server Errors": 5, "HWR Event Count": 7}, number=1)
MEMORY = """MemoryUsageAllocGPUMemLMA\t\t52428800
MemoryUsageAllocGPUMemLMAMax\t\t1073741824
MemoryUsageMappedGPUMemLMA\t\t0
MemoryUsageMappedGPUMemLMAMax\t\t0
MemoryUsageAllocSystemMem\t\t\t4096
MemoryUsageAllocSystemMemMax\t\t4096
"""
INTERRUPTS = """int status:
target 0     host_irq: 88    received_int_times: 12    completed_int_times: 12    last_claim_int_id: 64   
target 1     host_irq: 89    received_int_times: 1234567 completed_int_times: 1234567 last_claim_int_id: 65   
"""  # noqa: W291
OLDER = driver_files.HEADS_OF_2_7


@pytest.mark.parametrize(
    "written, text",
    [
        (driver_files.process_table(device=(3, 131)), S5000),
        (
            driver_files.process_table(
                driver_files.process_row(6021, 44, (61, 58, 0, 0, 3, 100), "a trainer"), device=(3, 131)
            ),
            S5000 + ROW,
        ),
        (driver_files.process_table(heads=OLDER)[20:], S5000[20:].replace("CMP", "CDM").replace("TRANSFER", "TDM")),
        (driver_files.status(64, (8, 4, 16, 32), **FAULT), STATUS),
        (driver_files.status(64, (8, 4, 16, 32), older=True, **FAULT), TO_2_7),
        (driver_files.memory(50 << 20, 4096, 1 << 30), MEMORY),
        (driver_files.int_status(88, (12, 1234567)), INTERRUPTS),
        (driver_files.version("5.2.0-server"), "package version:5.2.0-server\n"),
        (driver_files.vram_info(24 << 30), "MemTotal\t: 0x600000000\n"),
    ],
)
def test_text(written, text):
    assert written.decode() == text


RECORD = """
01 00 00 01 b8 00 00 00 6a 1f 0c 52 83 d7 4b e9 9c 41 d2 0e 75 b8 a6 00 01 00 00 00 06 00 00 01
0b 00 00 00 00 00 00 00 01 02 a4 6a 00 00 00 00 00 00 b5 00 00 00 00 00 85 17 00 00 00 00 00 00
6e 6f 20 61 6e 73 77 65 72 0a
"""


def test_record():
    record = driver_files.event_record(
        0x01000006, "no answer", "warn", "system", seconds=0x6AA40201, bus=0xB5, pid=6021
    )
    assert record == bytes.fromhex(RECORD).ljust(256, b"\0")
    assert driver_files.event_record(1, "x" * 200)[64:192] == b"x" * 127 + b"\0"
    uuid = "6a1f0c52-83d7-4be9-9c41-d20e75b8a6ff"
    header = "58494400 0000 0100 0100 0000 00000000 6a1f0c5283d74be99c41d20e75b8a6ff"
    assert driver_files.persisted_records([record], uuid) == bytes.fromhex(header) + record[8:192]


def test_ring():
    records = [driver_files.event_record(number) for number in range(51)]
    assert driver_files.event_report(records) == b"".join(records[1:])
    assert driver_files.event_report() == b""
