"""Frames of programs that draw in a window: weston shows them without a display, and its own program stores what is there.

    frames.py draw FOLDER      one file of RGBA bytes for each case, by the driver that the environment chooses
    frames.py compare A B      the differences of two such folders; status 1 if a case differs by more than it may

The programs' clock stands still (libfaketime), so what they move stays where it begins, and each frame is the same.
Needs weston, glmark2-es2-wayland, vkmark and faketime.
"""

import glob
import os
import signal
import struct
import subprocess
import sys
import time
import zlib

# The folder may be the repository's own.
sys.dont_write_bytecode = True
from compare import compare

WIDTH, HEIGHT = 256, 192
GL = ["glmark2-es2-wayland", "-s", "192x128", "-b"]
VULKAN = ["vkmark", "--winsys", "wayland", "-s", "192x128", "-b"]

# Cases: name, largest difference of a channel, pixels that may differ by more; the program.
PROGRAMS = {
    ("gl-build", 2, 0): GL + ["build:use-vbo=true"],
    ("gl-texture", 2, 0): GL + ["texture:texture-filter=linear"],
    ("gl-shading", 2, 0): GL + ["shading:shading=phong"],
    ("gl-bump", 2, 0): GL + ["bump:bump-render=normals"],
    ("gl-effect2d", 2, 0): GL + ["effect2d:kernel=0,1,0;1,-4,1;0,1,0;"],
    ("vk-vertex", 2, 0): VULKAN + ["vertex"],
    ("vk-texture", 2, 0): VULKAN + ["texture"],
    ("vk-shading", 2, 0): VULKAN + ["shading:shading=phong"],
    ("vk-effect2d", 2, 0): VULKAN + ["effect2d:kernel=edge"],
    ("vk-cube", 2, 0): VULKAN + ["cube"],
}
CASES = list(PROGRAMS)
# Longest that a program may take until its window shows something.
PATIENCE = 240


def png_pixels(data):
    """RGBA bytes of a PNG of 8 bits a channel that is not interlaced."""
    at, image = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8 : at + 18])
        elif kind == b"IDAT":
            image += data[at + 8 : at + 8 + length]
        at += length + 12
    channels = {2: 3, 6: 4}[colour]
    raw, row, pixels = zlib.decompress(image), bytearray(width * channels), bytearray()
    for line in range(height):
        start = line * (width * channels + 1)
        above, row = row, bytearray(raw[start + 1 : start + 1 + width * channels])
        for at in range(len(row)):
            left = row[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            row[at] = (row[at] + predicted(raw[start], left, above[at], corner)) & 255
        for at in range(0, len(row), channels):
            pixels += row[at : at + 3] + b"\xff"
    return bytes(pixels)


def predicted(kind, left, above, corner):
    """What a filter of PNG adds to a byte."""
    if kind == 4:
        estimate = left + above - corner
        return min((left, above, corner), key=lambda value: abs(estimate - value))
    return [0, left, above, (left + above) // 2][kind]


def shot(folder):
    """What the output shows now."""
    for old in glob.glob(os.path.join(folder, "*.png")):
        os.remove(old)
    subprocess.run(["weston-screenshooter"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with open(glob.glob(os.path.join(folder, "*.png"))[0], "rb") as file:
        return png_pixels(file.read())


def until(found, what):
    """Asks once a second."""
    for _ in range(PATIENCE):
        answer = found()
        if answer:
            return answer
        time.sleep(1)
    print(f"FAIL {what}: nothing in {PATIENCE} s", flush=True)
    return None


def draw(folder):
    os.makedirs(folder, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = runtime = os.path.join(folder, "run")
    os.makedirs(runtime, mode=0o700, exist_ok=True)
    os.environ["WAYLAND_DISPLAY"] = "frames"
    options = ["--backend=headless", "--renderer=gl", "--shell=kiosk-shell.so", "--debug", "--socket=frames", "--idle-time=0"]
    size = [f"--width={WIDTH}", f"--height={HEIGHT}", "--no-config"]
    with open(os.path.join(folder, "weston.log"), "w") as log:
        weston = subprocess.Popen(["weston"] + options + size, stdout=log, stderr=log)
    until(lambda: os.path.exists(os.path.join(runtime, "frames")), "weston")
    time.sleep(2)
    empty = shot(folder)
    for case, command in PROGRAMS.items():
        name = case[0]
        log = os.path.join(folder, name + ".log")
        with open(log, "w") as output:
            program = subprocess.Popen(["faketime", "-f", "2020-01-01 00:00:00"] + command, stdout=output, stderr=output, start_new_session=True)

        def shown():
            now = shot(folder)
            time.sleep(1)
            return now if now != empty and now == shot(folder) and len(set(zip(*[iter(now)] * 4))) > 2 else None

        pixels = until(shown, name)
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        if pixels is None:
            print(open(log).read(), flush=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(pixels or empty)
        until(lambda: shot(folder) == empty, name + " ends")
    weston.terminate()
    for line in open(os.path.join(folder, "weston.log")):
        if "GL renderer" in line:
            print(line.strip(), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(sys.argv[2])
    else:
        sys.exit(0 if compare(CASES, sys.argv[2], sys.argv[3]) else 1)
