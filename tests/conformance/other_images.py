"""Other images for tests of ImageDecoder, in formats that keep every pixel: what a decoder has to
give is what was encoded here.

    data, pixels = other_images.draw(rng, "bmp", size)    # bytes [size], pixels [h, w, 3] in RGB
"""
import struct
import zlib

import numpy as np

MOST = 40  # pixels of a side


def bmp(pixels):
    height, width, _ = pixels.shape
    row = -(-width * 3 // 4) * 4
    rows = np.zeros((height, row), np.uint8)
    rows[:, :width * 3] = pixels[::-1, :, ::-1].reshape(height, -1)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, rows.size, 2835, 2835, 0, 0)
    return struct.pack("<2sIHHI", b"BM", 54 + rows.size, 0, 0, 54) + info + rows.tobytes()


def pnm(pixels):
    height, width, _ = pixels.shape
    return b"P6\n%d %d\n255\n" % (width, height) + pixels.tobytes()


def png(pixels):
    def chunk(kind, data):
        sum_ = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", sum_)

    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def tiff(pixels):
    height, width, _ = pixels.shape
    short, long = 3, 4
    bits, data_at = 8, 14  # where the bits of each colour lie, and the pixels
    entries = [(256, long, 1, width), (257, long, 1, height), (258, short, 3, bits),
               (259, short, 1, 1), (262, short, 1, 2), (273, long, 1, data_at), (277, short, 1, 3),
               (278, long, 1, height), (279, long, 1, pixels.size)]
    data = pixels.tobytes() + bytes(pixels.size % 2)
    table = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    head = struct.pack("<2sHIHHH", b"II", 42, data_at + len(data), 8, 8, 8)
    return head + data + struct.pack("<H", len(entries)) + table + struct.pack("<I", 0)


FORMATS = {"bmp": bmp, "pnm": pnm, "png": png, "tiff": tiff}


def draw(rng, form, size):
    """An image that takes `size` bytes at most, with zeros behind it."""
    while True:
        height, width = rng.integers(1, MOST + 1, 2)
        pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
        data = FORMATS[form](pixels)
        if len(data) <= size:
            return np.frombuffer(data.ljust(size, b"\0"), np.uint8), pixels
