"""Sums by OpenCL and by OpenGL ES, and compares with Python's: a group's numbers through shared memory, and all groups' by an atomic.

    compute.py opencl      by the first device of the first platform
    compute.py gles        by the driver that EGL chooses

A line `ok NAME` for each; status 1 if a number is wrong. Needs Python, and libOpenCL or libEGL and libGLESv2: nothing is built.
"""

import ctypes
import sys

# The folder may be the repository's own.
sys.dont_write_bytecode = True

GROUP = 64
GROUPS = 8
COUNT = GROUP * GROUPS

OPENCL = b"""
__kernel void sums(__global const uint *numbers, __global uint *of_groups, __global volatile uint *all) {
    __local uint part[64];
    uint own = get_local_id(0);
    part[own] = numbers[get_global_id(0)] * 3u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 32; step > 0; step /= 2) {
        if (own < step) part[own] += part[own + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own == 0) { of_groups[get_group_id(0)] = part[0]; atomic_add(all, part[0]); }
}
"""

GLES = b"""#version 310 es
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Numbers { uint numbers[]; };
layout(std430, binding = 1) buffer Sums { uint all; uint of_groups[]; };
shared uint part[64];
void main() {
    uint own = gl_LocalInvocationID.x;
    part[own] = numbers[gl_GlobalInvocationID.x] * 3u;
    barrier();
    for (uint step = 32u; step > 0u; step /= 2u) {
        if (own < step) part[own] += part[own + step];
        barrier();
    }
    if (own == 0u) { of_groups[gl_WorkGroupID.x] = part[0]; atomicAdd(all, part[0]); }
}
"""


def numbers():
    return [(7 * index * index + 11) % 1009 for index in range(COUNT)]


def wanted():
    """The sum of all, and those of the groups."""
    parts = [3 * sum(numbers()[first : first + GROUP]) for first in range(0, COUNT, GROUP)]
    return sum(parts), parts


def words(values):
    return (ctypes.c_uint * len(values))(*values)


def judge(name, whole, parts):
    good = (whole, list(parts)) == wanted()
    print(f"ok {name}" if good else f"FAIL {name}: {whole} {list(parts)}, wanted {wanted()}")
    return good


def opencl():
    cl = ctypes.CDLL("libOpenCL.so.1")
    pointer = ctypes.c_void_p
    for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel", "clCreateBuffer"):
        getattr(cl, name).restype = pointer

    def check(status, what):
        if status:
            sys.exit(f"{what}: {status}")

    platform, device, error = pointer(), pointer(), ctypes.c_int()
    check(cl.clGetPlatformIDs(1, ctypes.byref(platform), None), "no platform")
    check(cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None), "no device")
    text = ctypes.create_string_buffer(256)
    cl.clGetDeviceInfo(device, 0x102B, ctypes.c_size_t(256), text, None)
    print(text.value.decode())
    context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
    check(error.value, "no context")
    queue = pointer(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), ctypes.byref(error)))
    check(error.value, "no queue")
    source = ctypes.c_char_p(OPENCL)
    made = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, ctypes.byref(error)))
    check(cl.clBuildProgram(made, 0, None, None, None, None), "the program does not build")
    kernel = pointer(cl.clCreateKernel(made, b"sums", ctypes.byref(error)))
    check(error.value, "no kernel")
    results = (words([0] * GROUPS), words([0]))
    buffers = []
    for index, values in enumerate((words(numbers()), *results)):
        # Readable and writable, with a copy of what is given.
        size = ctypes.c_size_t(ctypes.sizeof(values))
        buffer = pointer(cl.clCreateBuffer(context, ctypes.c_ulong(1 | 1 << 5), size, values, ctypes.byref(error)))
        check(error.value, "no buffer")
        check(cl.clSetKernelArg(kernel, index, ctypes.c_size_t(ctypes.sizeof(buffer)), ctypes.byref(buffer)), "an argument")
        buffers.append(buffer)
    whole, group = ctypes.c_size_t(COUNT), ctypes.c_size_t(GROUP)
    check(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(whole), ctypes.byref(group), 0, None, None), "the kernel")
    for buffer, values in zip(buffers[1:], results):
        size = ctypes.c_size_t(ctypes.sizeof(values))
        check(cl.clEnqueueReadBuffer(queue, buffer, 1, ctypes.c_size_t(0), size, values, 0, None, None), "reading")
    return judge("opencl", results[1][0], results[0])


def gles():
    from gl import context, gl, name_of

    print(context((3, 1)))
    made, shader = gl.glCreateProgram(), gl.glCreateShader(0x91B9)
    source = ctypes.c_char_p(GLES)
    gl.glShaderSource(shader, 1, ctypes.byref(source), None)
    gl.glCompileShader(shader)
    gl.glAttachShader(made, shader)
    gl.glLinkProgram(made)
    linked = ctypes.c_int()
    gl.glGetProgramiv(made, 0x8B82, ctypes.byref(linked))
    if not linked.value:
        sys.exit("the program does not link")
    gl.glUseProgram(made)
    for index, values in enumerate((words(numbers()), words([0] * (1 + GROUPS)))):
        gl.glBindBufferBase(0x90D2, index, name_of(gl.glGenBuffers))
        gl.glBufferData(0x90D2, ctypes.c_ssize_t(ctypes.sizeof(values)), values, 0x88E4)
    gl.glDispatchCompute(GROUPS, 1, 1)
    gl.glMemoryBarrier(0xFFFFFFFF)
    gl.glFinish()
    gl.glMapBufferRange.restype = ctypes.c_void_p
    size = ctypes.c_ssize_t(4 * (1 + GROUPS))
    mapped = gl.glMapBufferRange(0x90D2, ctypes.c_ssize_t(0), size, 1)
    if not mapped:
        sys.exit("the sums can't be read")
    found = (ctypes.c_uint * (1 + GROUPS)).from_address(mapped)
    return judge("gles", found[0], found[1:])


if __name__ == "__main__":
    ways = {"opencl": opencl, "gles": gles}
    if len(sys.argv) != 2 or sys.argv[1] not in ways:
        sys.exit(__doc__)
    sys.exit(0 if ways[sys.argv[1]]() else 1)
