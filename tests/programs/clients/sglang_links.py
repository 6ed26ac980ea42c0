"""Three ways in which serving programs find out whether GPUs are joined directly.

sglang asks for the peer-to-peer status of every pair; others walk the links, to the maximum that NVML names, and
compare the PCI ids at their far ends; sglang's MUSA branch imports pymtml itself and compares UUIDs.
"""

import json
import sys

import pynvml

import pymtml


def by_status(handles):
    pairs = []
    for i, handle in enumerate(handles):
        for j in range(i + 1, len(handles)):
            try:
                status = pynvml.nvmlDeviceGetP2PStatus(handle, handles[j], pynvml.NVML_P2P_CAPS_INDEX_NVLINK)
            except pynvml.NVMLError:
                continue
            if status == pynvml.NVML_P2P_STATUS_OK:
                pairs.append([i, j])
    return pairs


def by_walking(handles):
    own = {pynvml.nvmlDeviceGetPciInfo(handle).busId: i for i, handle in enumerate(handles)}
    pairs, hidden = set(), 0
    for i, handle in enumerate(handles):
        for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
            try:
                if pynvml.nvmlDeviceGetNvLinkState(handle, link) != pynvml.NVML_FEATURE_ENABLED:
                    continue
                peer = own.get(pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link).busId)
            except pynvml.NVMLError_NotSupported:
                break
            except pynvml.NVMLError:
                hidden += 1
                continue
            if peer is not None:
                pairs.add((min(i, peer), max(i, peer)))
    return [list(pair) for pair in sorted(pairs)], hidden


def by_pymtml():
    """Through MTML's own names, which do not tell of peers that a container hides."""
    pymtml.mtmlLibraryInit()
    try:
        devices = [pymtml.mtmlLibraryInitDeviceByIndex(i) for i in range(pymtml.mtmlLibraryCountDevice())]
        uuids = {pymtml.mtmlDeviceGetUUID(device): i for i, device in enumerate(devices)}
        pairs = set()
        for i, device in enumerate(devices):
            for link in range(pymtml.mtmlDeviceGetMtLinkSpec(device).linkNum):
                if pymtml.mtmlDeviceGetMtLinkState(device, link) != pymtml.MTML_MTLINK_STATE_UP:
                    continue
                try:
                    peer = uuids[pymtml.mtmlDeviceGetUUID(pymtml.mtmlDeviceGetMtLinkRemoteDevice(device, link))]
                except pymtml.MTMLError:
                    continue
                pairs.add((min(i, peer), max(i, peer)))
        return [list(pair) for pair in sorted(pairs)]
    finally:
        pymtml.mtmlLibraryShutDown()


if __name__ == "__main__":
    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    walked, hidden = by_walking(handles)
    shown = {"status": by_status(handles), "walked": walked, "hidden": hidden}
    pynvml.nvmlShutdown()
    if "--mtml" in sys.argv:
        shown["mtml"] = by_pymtml()
    print(json.dumps(shown))
