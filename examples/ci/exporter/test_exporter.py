import subprocess
import sys
import urllib.request

import pytest


@pytest.fixture
def scrape(mtml_simulator):
    """Start the exporter as it is started in production; a function that reads its /metrics."""
    exporter = subprocess.Popen([sys.executable, "exporter.py", "0"], stdout=subprocess.PIPE, universal_newlines=True)
    url = "http://127.0.0.1:%s/metrics" % exporter.stdout.readline().strip()
    yield lambda: urllib.request.urlopen(url).read().decode().splitlines()
    exporter.kill()
    exporter.communicate()


def test_break_and_heal(mtml_simulator, scrape):
    assert 'gpu_up{gpu="3"} 1' in scrape()
    mtml_simulator.set("3.gpu_temperature", 99)
    assert 'gpu_temperature_celsius{gpu="3"} 99' in scrape()
    mtml_simulator.lose(3)
    text = scrape()
    assert 'gpu_up{gpu="3"} 0' in text and not [
        line for line in text if line.startswith('gpu_temperature_celsius{gpu="3"')
    ]
    assert len([line for line in text if line.endswith("} 1")]) == 7
    mtml_simulator.heal(3)
    assert 'gpu_temperature_celsius{gpu="3"} 99' in scrape()
