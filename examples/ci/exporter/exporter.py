"""An exporter: temperature of each card as Prometheus text; a card that does not answer is up 0, and has no value."""

import http.server
import sys

import pymtml as pynvml


def metrics():
    """The text of /metrics (str)."""
    lines = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        try:
            device = pynvml.nvmlDeviceGetHandleByIndex(index)
            degrees = pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU)
        except pynvml.NVMLError:
            lines.append('gpu_up{gpu="%d"} 0' % index)
        else:
            lines += ['gpu_up{gpu="%d"} 1' % index, 'gpu_temperature_celsius{gpu="%d"} %d' % (index, degrees)]
    return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = metrics().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    pynvml.nvmlInit()
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
