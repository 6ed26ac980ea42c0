from unittest import mock

import gmi_parser

GPU = {
    "Index": 0,
    "Utilization": {"Gpu": "42%"},
    "FB Memory Usage": {"Used": "1024MiB"},
    "Temperature": {"GPU Current Temp": "34C"},
    "Power Readings": {"Power Draw": "367.49W"},
}


def test_metrics():
    with mock.patch.object(gmi_parser, "query", return_value={"GPU": [GPU]}):
        metrics = gmi_parser.collect([0])
    assert metrics[0] == {"utilization": 42, "memory_used": 1024, "temperature": 34, "power": 367.49}
