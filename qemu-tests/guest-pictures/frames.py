"""Frames of programs that move what they draw: glmark2, vkmark and vkcube, as two drivers draw them.

    frames.py draw FOLDER      one file of RGBA bytes for each case, by the driver that the environment chooses
    frames.py compare A B      the differences of two such folders; status 1 if a case differs by more than it may

weston shows the windows, without a display. frames.c lets the programs' clock go by their frames, so that a frame has the same number
and the same picture on each driver. Needs weston, glmark2-es2-wayland, glmark2-data, vkmark, vkcube, Mesa's drivers, a C compiler.
"""

import os
import re
import struct
import subprocess
import sys
import time
import zlib

# The folder may be the repository's own.
sys.dont_write_bytecode = True
from compare import compare

HERE = os.path.dirname(os.path.abspath(__file__))
# The frame that is kept, from 1: what moves has moved.
FRAME = 3
GL = ["glmark2-es2-wayland", "-s", "128x96", "-b"]
VKMARK = ["vkmark", "--winsys", "headless", "-s", "128x96", "-b"]
VKCUBE = ["vkcube", "--wsi", "wayland", "--width", "160", "--height", "120", "--c", str(FRAME + 1)]

# Programs by case: the case is its name, the largest difference of a channel, and pixels that may differ by more.
PROGRAMS = {
    ("glmark2-build", 2, 0): GL + ["build:use-vbo=true"],
    ("glmark2-texture", 2, 0): GL + ["texture:texture-filter=mipmap"],
    ("glmark2-shading", 2, 48): GL + ["shading:shading=phong"],
    ("glmark2-bump", 2, 16): GL + ["bump:bump-render=height"],
    ("glmark2-effect2d", 2, 0): GL + ["effect2d:kernel=0,1,0;1,-4,1;0,1,0;"],
    ("glmark2-pulsar", 2, 0): GL + ["pulsar:quads=5:texture=false:light=false"],
    ("glmark2-desktop", 2, 0): GL + ["desktop:effect=blur:windows=2"],
    ("glmark2-buffer", 2, 0): GL + ["buffer:columns=20:rows=5"],
    ("glmark2-ideas", 2, 0): GL + ["ideas"],
    ("glmark2-jellyfish", 2, 128): GL + ["jellyfish"],
    ("glmark2-shadow", 2, 16): GL + ["shadow"],
    ("vkmark-vertex", 2, 0): VKMARK + ["vertex:duration=1"],
    ("vkmark-shading", 2, 0): VKMARK + ["shading:duration=1:shading=phong"],
    ("vkmark-effect2d", 2, 0): VKMARK + ["effect2d:duration=1:kernel=edge"],
    # Without anisotropy, whose samples drivers place differently (docs/linux.md).
    ("vkmark-texture", 2, 0): VKMARK + ["texture:duration=1:anisotropy=0"],
    # Not `desktop`, whose windows begin at random places.
    ("vkmark-clear", 2, 0, 1): VKMARK + ["clear:duration=1"],
    ("vkmark-cube", 3, 0): VKMARK + ["cube:duration=1"],
    ("vkcube", 2, 0): VKCUBE,
}
CASES = list(PROGRAMS)
# Longest that a program may take, and that weston may take to begin, in seconds.
LIMIT = 300


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
    """The byte that a filter of PNG predicts."""
    if kind == 4:
        estimate = left + above - corner
        return min((left, above, corner), key=lambda value: abs(estimate - value))
    return [0, left, above, (left + above) // 2][kind]


def start_weston(folder):
    """Starts weston without a display, and waits until programs can connect."""
    os.environ["XDG_RUNTIME_DIR"] = runtime = os.path.join(folder, "run")
    os.makedirs(runtime, mode=0o700, exist_ok=True)
    os.environ["WAYLAND_DISPLAY"] = "frames"
    options = ["--backend=headless", "--renderer=gl", "--no-config", "--socket=frames", "--idle-time=0", "--width=320", "--height=240"]
    with open(os.path.join(folder, "weston.log"), "w") as log:
        weston = subprocess.Popen(["weston"] + options, stdout=log, stderr=log)
    for _ in range(LIMIT):
        if os.path.exists(os.path.join(runtime, "frames")):
            return weston
        time.sleep(1)
    sys.exit("FAIL weston: it does not begin")


def draw(folder):
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, "frames.so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", os.path.join(HERE, "frames.c"), "-o", library], check=True)
    weston = start_weston(folder)
    for (case, *_), command in PROGRAMS.items():
        file = os.path.join(folder, case)
        environment = dict(os.environ, LD_PRELOAD=library, FRAMES_FILE=file, FRAMES_LAST=str(FRAME))
        if not case.startswith("glmark2"):
            # Mesa's layer counts from 0.
            layer = f"output_dir={folder},frames={FRAME - 1}"
            environment.update(VK_INSTANCE_LAYERS="VK_LAYER_MESA_screenshot", VK_LAYER_MESA_SCREENSHOT_CONFIG=layer)
        begun = time.monotonic()
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        picture = os.path.join(folder, f"{FRAME - 1}.png")
        if os.path.exists(picture):
            with open(picture, "rb") as png, open(file, "wb") as pixels:
                pixels.write(png_pixels(png.read()))
            os.remove(picture)
        if done.returncode or not os.path.exists(file):
            print(f"FAIL {case}: status {done.returncode}\n{done.stdout}", flush=True)
            open(file, "wb").close()
        device = re.search(r"(GL_RENDERER|Device Name|Selected GPU \d+): *(.*)", done.stdout)
        print(f"{case}: {device.group(2) if device else 'no device'}, {time.monotonic() - begun:.1f} s", flush=True)
    weston.terminate()
    weston.wait()


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        draw(sys.argv[2])
    else:
        sys.exit(0 if compare(CASES, sys.argv[2], sys.argv[3]) else 1)
