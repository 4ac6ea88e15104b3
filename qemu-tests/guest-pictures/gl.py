"""Draws through OpenGL ES without a window, and compares what two drivers draw.

    gl.py draw FOLDER      one file of RGBA bytes for each case, by the driver that EGL chooses
    gl.py compare A B      the differences of two such folders; status 1 if a case differs by more than it may

Needs Python and libEGL, libGLESv2: nothing is built.
"""

import ctypes
import os
import sys

# The folder may be the repository's own.
sys.dont_write_bytecode = True
from compare import compare

SIDE = 64

# Cases: name, largest difference of a channel inside of primitives, pixels on edges that may differ by more.
CASES = [("triangle", 1, 0), ("texture", 2, 0), ("framebuffer", 2, 64), ("blend", 2, 0), ("stencil", 1, 0), ("points", 1, 0), ("again", 1, 0)]

VERTEX = b"""
attribute vec4 position; attribute vec4 colour; varying vec4 v;
void main() { gl_Position = position; gl_PointSize = 7.0; v = colour; }
"""
FRAGMENT = b"""
precision highp float; varying vec4 v;
void main() { gl_FragColor = v; }
"""
TEXTURED = b"""
precision highp float; varying vec4 v; uniform sampler2D t;
void main() { gl_FragColor = texture2D(t, v.xy); }
"""


def load(name):
    return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)


egl = load("libEGL.so.1")
gl = load("libGLESv2.so.2")


def context(version=(2, 0)):
    """A current context of OpenGL ES without a surface; the renderer's name."""
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    get = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(get)
    display = ctypes.c_void_p(get(0x31DD, None, None))  # EGL_PLATFORM_SURFACELESS_MESA
    if not egl.eglInitialize(display, None, None):
        sys.exit("no display")
    egl.eglBindAPI(0x30A0)
    wanted = (ctypes.c_int * 5)(0x3040, 4, 0x3033, 1, 0x3038)  # ES 2, pixel buffers
    config, count = ctypes.c_void_p(), ctypes.c_int()
    egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
    egl.eglCreateContext.restype = ctypes.c_void_p
    wanted = (ctypes.c_int * 5)(0x3098, version[0], 0x30FB, version[1], 0x3038)
    made = ctypes.c_void_p(egl.eglCreateContext(display, config, None, wanted))
    if not egl.eglMakeCurrent(display, None, None, made):
        sys.exit("no context")
    gl.glGetString.restype = ctypes.c_char_p
    return gl.glGetString(0x1F01).decode()


def name_of(make):
    name = ctypes.c_uint()
    make(1, ctypes.byref(name))
    return name.value


def program(fragment):
    made = gl.glCreateProgram()
    for kind, text in ((0x8B31, VERTEX), (0x8B30, fragment)):
        shader = gl.glCreateShader(kind)
        source = ctypes.c_char_p(text)
        gl.glShaderSource(shader, 1, ctypes.byref(source), None)
        gl.glCompileShader(shader)
        gl.glAttachShader(made, shader)
    gl.glBindAttribLocation(made, 0, b"position")
    gl.glBindAttribLocation(made, 1, b"colour")
    gl.glLinkProgram(made)
    linked = ctypes.c_int()
    gl.glGetProgramiv(made, 0x8B82, ctypes.byref(linked))
    if not linked.value:
        sys.exit("the program does not link")
    gl.glUseProgram(made)
    return made


def texture(side, pixels):
    made = name_of(gl.glGenTextures)
    gl.glBindTexture(0x0DE1, made)
    gl.glTexImage2D(0x0DE1, 0, 0x1908, side, side, 0, 0x1908, 0x1401, pixels)
    for setting, value in ((0x2801, 0x2601), (0x2800, 0x2601), (0x2802, 0x812F), (0x2803, 0x812F)):
        gl.glTexParameteri(0x0DE1, setting, value)
    return made


def target(image=None):
    """A framebuffer of the usual size with depth and stencil: on a renderbuffer, or on a texture."""
    gl.glBindFramebuffer(0x8D40, name_of(gl.glGenFramebuffers))
    if image is None:
        gl.glBindRenderbuffer(0x8D41, name_of(gl.glGenRenderbuffers))
        gl.glRenderbufferStorage(0x8D41, 0x8058, SIDE, SIDE)
        gl.glFramebufferRenderbuffer(0x8D40, 0x8CE0, 0x8D41, bound_renderbuffer())
    else:
        gl.glFramebufferTexture2D(0x8D40, 0x8CE0, 0x0DE1, image, 0)
    gl.glBindRenderbuffer(0x8D41, name_of(gl.glGenRenderbuffers))
    gl.glRenderbufferStorage(0x8D41, 0x88F0, SIDE, SIDE)
    for attachment in (0x8D00, 0x8D20):
        gl.glFramebufferRenderbuffer(0x8D40, attachment, 0x8D41, bound_renderbuffer())
    if gl.glCheckFramebufferStatus(0x8D40) != 0x8CD5:
        sys.exit("the framebuffer is not complete")
    gl.glViewport(0, 0, SIDE, SIDE)
    clear(0.25, 0.5, 0.75, 1.0)


def bound_renderbuffer():
    bound = ctypes.c_int()
    gl.glGetIntegerv(0x8CA7, ctypes.byref(bound))
    return bound.value


def clear(*colour):
    gl.glClearColor(*(ctypes.c_float(part) for part in colour))
    gl.glClear(0x4500)


def draw(mode, vertices):
    """Vertices are pairs of a position (x, y, z) and a colour."""
    for index, part in enumerate(zip(*vertices)):
        numbers = [number for vertex in part for number in vertex]
        size = len(part[0])
        array = (ctypes.c_float * len(numbers))(*numbers)
        gl.glBindBuffer(0x8892, name_of(gl.glGenBuffers))
        gl.glBufferData(0x8892, ctypes.c_ssize_t(4 * len(numbers)), array, 0x88E4)
        gl.glVertexAttribPointer(index, size, 0x1406, 0, 0, None)
        gl.glEnableVertexAttribArray(index)
    gl.glDrawArrays(mode, 0, len(vertices))


TRIANGLE = [((-0.79, -0.77, 0.1), (1, 0, 0, 1)), ((0.83, -0.61, 0.1), (0, 1, 0, 1)), ((0.13, 0.87, 0.1), (0, 0, 1, 1))]


def quad(colours=((0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1), (1, 1, 0, 1)), z=0.0, side=0.9):
    corners = ((-side, -side, z), (side, -side, z), (-side, side, z), (side, side, z))
    return list(zip(corners, colours))


def draw_triangle():
    program(FRAGMENT)
    draw(4, TRIANGLE)


def checks(side):
    pixels = bytearray()
    for at in range(side * side):
        x, y = at % side, at // side
        pixels += bytes((32 * x, 32 * y, 255 if (x ^ y) & 1 else 0, 255))
    return bytes(pixels)


def draw_texture():
    texture(8, checks(8))
    program(TEXTURED)
    draw(5, quad())


def draw_framebuffer():
    """A triangle on a texture, which is then drawn smaller in front of a quad, behind another."""
    image = texture(SIDE, None)
    target(image)
    draw_triangle()
    target()
    gl.glEnable(0x0B71)
    program(FRAGMENT)
    draw(5, quad([(1, 1, 1, 1)] * 4, 0.5))
    draw(5, quad([(0, 0, 0, 1)] * 4, -0.5, 0.2))
    gl.glBindTexture(0x0DE1, image)
    program(TEXTURED)
    draw(5, quad(z=0.0, side=0.7))
    gl.glDisable(0x0B71)


def draw_blend():
    gl.glEnable(0x0BE2)
    gl.glBlendFunc(0x0302, 0x0303)
    gl.glEnable(0x0C11)
    gl.glScissor(8, 16, 40, 32)
    program(FRAGMENT)
    draw(5, quad([(1, 0, 0, 0.5)] * 4))
    draw(4, [(place, (*colour[:3], 0.25)) for place, colour in TRIANGLE])
    gl.glDisable(0x0BE2)
    gl.glDisable(0x0C11)


def draw_stencil():
    """A quad where a triangle has been."""
    gl.glEnable(0x0B90)
    gl.glStencilFunc(0x0207, 1, 255)
    gl.glStencilOp(0x1E00, 0x1E00, 0x1E01)
    gl.glColorMask(0, 0, 0, 0)
    program(FRAGMENT)
    draw(4, TRIANGLE)
    gl.glColorMask(1, 1, 1, 1)
    gl.glStencilFunc(0x0202, 1, 255)
    draw(5, quad([(1, 1, 0, 1)] * 4))
    gl.glDisable(0x0B90)


def draw_points():
    program(FRAGMENT)
    draw(0, [((x / 4.0 + 0.11, y / 4.0 + 0.07, 0), (x & 1, y & 1, 0.5, 1)) for x in range(-3, 4) for y in range(-3, 4)])


def draw_again():
    """Passes over what others have left: its colours, and its depths, which are tested against."""
    gl.glEnable(0x0B71)
    program(FRAGMENT)
    draw(4, TRIANGLE)
    gl.glFinish()
    draw(5, quad([(1, 1, 1, 1)] * 4, 0.5, 0.6))
    gl.glFinish()
    draw(5, quad([(0, 0, 0, 1)] * 4, -0.5, 0.2))
    gl.glDisable(0x0B71)


def picture(case):
    target()
    globals()["draw_" + case]()
    pixels = ctypes.create_string_buffer(4 * SIDE * SIDE)
    gl.glReadPixels(0, 0, SIDE, SIDE, 0x1908, 0x1401, pixels)
    error = gl.glGetError()
    if error:
        sys.exit(f"{case}: error {error:#x}")
    return pixels.raw


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        print(context(), flush=True)
        os.makedirs(sys.argv[2], exist_ok=True)
        for case, _, _ in CASES:
            with open(os.path.join(sys.argv[2], case), "wb") as file:
                file.write(picture(case))
    else:
        sys.exit(0 if compare(CASES, sys.argv[2], sys.argv[3]) else 1)
