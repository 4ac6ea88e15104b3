"""Draws by another project's Vulkan programs, and compares what two drivers draw.

    vulkan.py build FOLDER OUT      compiles hardware/worked/source, which lies in FOLDER, to OUT
    vulkan.py draw OUT PICTURES     one file of RGBA bytes for each case, by the driver that the Vulkan loader chooses
    vulkan.py compare A B           the differences of two such folders; status 1 if a case differs by more than it may

Needs Python, a C compiler, Vulkan's headers and glslangValidator.
"""

import os
import subprocess
import sys

# The folder may be the repository's own.
sys.dont_write_bytecode = True
from compare import compare

# Cases: name, largest difference of a channel, pixels that may differ by more, least number of colours if it is one.
CASES = [
    ("clear", 1, 0, 1),
    ("triangle", 1, 0),
    ("discard", 1, 0),
    ("lines", 1, 0),
    ("blend", 1, 0),
    ("blendconst", 1, 0),
    ("logicop", 1, 0),
    ("blendload", 1, 0),
    ("depth", 1, 0),
    ("stencil", 1, 0),
    ("texdepth", 1, 0),
    ("indirect", 1, 0),
    ("msaa", 1, 0),
    ("mrt", 1, 0),
    ("twopass", 1, 0),
    ("instanced", 1, 0),
    ("occlusion", 1, 0),
    ("blit", 1, 0),
    ("copyimage", 1, 0),
    ("clearimage", 1, 0, 1),
]


def build(folder, out):
    os.makedirs(out, exist_ok=True)
    program = ["gcc", "-O1", os.path.join(folder, "vkgfx.c"), "-o", os.path.join(out, "vkgfx"), "-ldl", "-lm"]
    subprocess.run(program, check=True)
    shaders = os.path.join(folder, "shaders")
    for shader in os.listdir(shaders):
        made = os.path.join(out, shader + ".spv")
        compiler = ["glslangValidator", "-V", os.path.join(shaders, shader), "-o", made]
        subprocess.run(compiler, check=True, stdout=subprocess.DEVNULL)


def draw(built, pictures):
    """Each case in a process of its own; the device's name, as the first of them says it."""
    os.makedirs(pictures, exist_ok=True)
    for number, (case, *_) in enumerate(CASES):
        command = [os.path.join(built, "vkgfx"), case, os.path.join(pictures, case)]
        environment = dict(os.environ, VKGFX_SH=built)
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        if number == 0:
            print(done.stderr.splitlines()[0], flush=True)
        if done.returncode:
            print(f"FAIL {case}: status {done.returncode}\n{done.stderr}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "draw":
        draw(sys.argv[2], sys.argv[3])
    else:
        sys.exit(0 if compare(CASES, sys.argv[2], sys.argv[3]) else 1)
