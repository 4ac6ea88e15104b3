# Of each word what its digits give: a module of Taichi 1.7, by `ti.aot.Module(ti.vulkan)`, whose kernel's task this is.
import taichi as ti

ti.init(arch=ti.vulkan, offline_cache=False)


@ti.func
def digits(given: ti.u32) -> ti.u32:
    word = given
    s = ti.u32(0)
    while word != 0:
        d = word % 4
        if d == 0:
            s += 1
        elif d == 3:
            s += 5 + (word & 7)
        else:
            s += word & 7
        word = word // 4
    return s


@ti.kernel
def sums(words: ti.types.ndarray(dtype=ti.u32, ndim=1), results: ti.types.ndarray(dtype=ti.u32, ndim=1)):
    for i in range(64):
        results[i] = digits(words[i])


module = ti.aot.Module(ti.vulkan)
arrays = {"words": ti.ndarray(ti.u32, 64), "results": ti.ndarray(ti.u32, 64)}
module.add_kernel(sums, template_args=arrays)
module.save("taichi-module")
