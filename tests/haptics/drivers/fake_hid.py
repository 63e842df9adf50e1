"""A fake of the package hidapi: a SpaceMouse whose cap a test pushes."""

import struct


class FakeHid:
    """Stands for the module hid: what `enumerate` lists, and one device that gives the reports it was fed."""

    def __init__(self, interfaces=None, refuses=False):
        motion = {"path": b"1", "vendor_id": 0x256F, "product_id": 0xC635, "product_string": "SpaceMouse Compact",
                  "usage_page": 1, "usage": 8}  # fmt: skip
        self.interfaces = [motion] if interfaces is None else interfaces
        self.refuses, self.queue, self.error, self.opened = refuses, [], None, False

    def enumerate(self):
        return self.interfaces

    def device(self):
        return self

    def open_path(self, path):
        if self.refuses:
            raise OSError("open failed")
        self.path, self.opened = path, True

    def set_nonblocking(self, on):
        assert on

    def read(self, most):
        if not self.opened:
            raise ValueError("not open")
        if self.error is not None:
            raise self.error
        return list(self.queue.pop(0)) if self.queue else []

    def close(self):
        self.opened = False

    def push(self, *translation):
        self.queue.append(b"\x01" + struct.pack("<3h", *translation))

    def twist(self, *rotation):
        self.queue.append(b"\x02" + struct.pack("<3h", *rotation))
