// Brings the GPU up from C, doubles 64 numbers on it, draws a triangle, and ends the machine with what came of it.

#include "eitri.h"

// The GPU's registers and memory for it, as `eitri boot --help` has them, and the data register of the console, a PL011.
#define REGISTERS 0x0b000000
#define REGISTER_BYTES 0x200000
#define MEMORY 0x50000000
#define MEMORY_BYTES (32 << 20)
#define CONSOLE 0x09000000
#define SECOND 1000000000ull
#define SIDE 32

extern const unsigned char firmware[], firmware_end[];
extern const unsigned char double_program[], double_program_end[];
extern const unsigned char vertex_program[], vertex_program_end[];
extern const unsigned char fragment_program[], fragment_program_end[];

static unsigned char device_memory[EITRI_DEVICE_BYTES(MEMORY_BYTES)] __attribute__((aligned(16)));
static EitriDevice *gpu;

static void print(const char *text)
{
    for (; *text; text++)
        *(volatile uint32_t *)CONSOLE = (unsigned char)*text;
}

static void print_number(uint32_t number)
{
    char digits[11] = {0};
    char *at = digits + 10;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    print(at);
}

// The generic timer: nanoseconds since it began to count. GPU and CPU share the counter.
static uint64_t counter_hertz(void)
{
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz;
}

static uint64_t now(void *context)
{
    uint64_t ticks, hertz = counter_hertz();
    (void)context;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks / hertz * SECOND + ticks % hertz * SECOND / hertz;
}

// Says what failed, if something did.
static int failed(const char *what, EitriStatus status)
{
    if (status == EITRI_STATUS_OK)
        return 0;
    print(what);
    print(": ");
    print(eitri_error_text(gpu));
    print("\n");
    return 1;
}

// A shader in one call: each of 64 numbers is doubled.
static int compute(void)
{
    uint32_t numbers[64];
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    EitriBinding binding = {.data = numbers, .bytes = sizeof numbers};
    EitriRun run = {
        .program = double_program,
        .program_bytes = (size_t)(double_program_end - double_program),
        .workgroups = {1, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .limit = SECOND,
    };
    if (failed("run", eitri_run(gpu, &run)))
        return 1;
    for (uint32_t i = 0; i < 64; i++)
        if (numbers[i] != 2 * i)
            return print("a number is wrong\n"), 1;
    print("doubled: ");
    for (int i = 0; i < 8; i++)
        print_number(numbers[i]), print(" ");
    print("...\n");
    return 0;
}

// What the triangle is drawn with.
struct scene {
    EitriImage image;
    EitriBuffer corners;
    EitriGraphicsPipeline pipeline;
};

static void draw(EitriPass *pass, void *context)
{
    const struct scene *scene = context;
    const float blue = 1.0f;
    const EitriDraw draw = {.count = 3};
    eitri_pass_bind_pipeline(pass, scene->pipeline);
    eitri_pass_bind_vertices(pass, 0, scene->corners, 0);
    eitri_pass_push_constants(pass, 0, &blue, sizeof blue);
    eitri_pass_draw(pass, &draw);
}

static void record(EitriRecorder *recorder, void *context)
{
    const struct scene *scene = context;
    EitriColorAttachment color = {.image = scene->image, .clear = {0, 0.5f, 0, 1}};
    EitriRendering rendering = {.colors = &color, .color_count = 1};
    eitri_cmd_render(recorder, &rendering, draw, context);
}

static EitriStatus make_pipeline(EitriSpace space, EitriGraphicsPipeline *pipeline)
{
    static const char *const color = "R8G8B8A8_UNORM";
    const EitriVertexBinding binding = {.stride = 2 * sizeof(float)};
    const EitriVertexAttribute attribute = {.format = "R32G32_SFLOAT"};
    const EitriGraphicsPipelineInfo info = {
        .vertex = vertex_program,
        .vertex_bytes = (size_t)(vertex_program_end - vertex_program),
        .fragment = fragment_program,
        .fragment_bytes = (size_t)(fragment_program_end - fragment_program),
        .bindings = &binding,
        .binding_count = 1,
        .attributes = &attribute,
        .attribute_count = 1,
        .colors = &color,
        .color_count = 1,
        .topology = EITRI_TOPOLOGY_TRIANGLES,
    };
    return eitri_create_graphics_pipeline(gpu, space, &info, pipeline);
}

// The same triangle in a pass of two parts, of which the second runs draws that were recorded before.
struct parts {
    struct scene scene;
    EitriCommands draws;
};

static void execute(EitriPass *pass, void *context)
{
    const struct parts *parts = context;
    eitri_pass_execute(pass, parts->draws);
}

static void record_parts(EitriRecorder *recorder, void *context)
{
    struct parts *parts = context;
    EitriColorAttachment color = {.image = parts->scene.image, .clear = {0, 0.5f, 0, 1}};
    EitriRendering rendering = {.colors = &color, .color_count = 1, .part = EITRI_PART_SUSPENDING};
    eitri_cmd_render(recorder, &rendering, NULL, NULL);
    rendering.part = EITRI_PART_RESUMING;
    eitri_cmd_render(recorder, &rendering, execute, parts);
}

static int in_parts(EitriQueue queue, EitriSpace space, const struct scene *scene, uint8_t expected[SIDE * SIDE][4])
{
    static const char *const format = "R8G8B8A8_UNORM";
    static uint8_t texels[SIDE * SIDE][4];
    const EitriImageInfo image = {.format = format, .width = SIDE, .height = SIDE};
    const EitriInherited inherited = {.colors = &format, .color_count = 1, .width = SIDE, .height = SIDE};
    struct parts parts = {.scene = *scene};
    EitriCommands commands;
    EitriFence fence;
    if (failed("image", eitri_create_image(gpu, space, &image, &parts.scene.image)) ||
        failed("draws", eitri_create_commands(gpu, space, &parts.draws)) ||
        failed("record", eitri_record_draws(gpu, parts.draws, &inherited, draw, &parts.scene)) ||
        failed("commands", eitri_create_commands(gpu, space, &commands)) ||
        failed("record", eitri_record(gpu, commands, record_parts, &parts)) ||
        failed("submit", eitri_submit(gpu, queue, commands, &fence)) ||
        failed("wait", eitri_wait(gpu, fence, SECOND)) ||
        failed("read", eitri_read_image(gpu, parts.scene.image, 0, 0, texels, sizeof texels)))
        return 1;
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int c = 0; c < 4; c++)
            if (texels[i][c] != expected[i][c])
                return print("a pass in parts draws something else\n"), 1;
    print("in parts: the same\n");
    return 0;
}

// A triangle over the lower left half of an image: magenta on green.
static int triangle(void)
{
    static const float corners[] = {-1, -1, -1, 1, 1, 1};
    static uint8_t texels[SIDE * SIDE][4];
    const EitriImageInfo image = {.format = "R8G8B8A8_UNORM", .width = SIDE, .height = SIDE};
    struct scene scene;
    EitriQueue queue;
    EitriSpace space;
    EitriTilerHeap heap;
    EitriCommands commands;
    EitriFence fence;
    if (failed("queue", eitri_create_queue(gpu, 1, &queue, &space)) ||
        failed("tiler", eitri_create_tiler_heap(gpu, queue, 1, 4, &heap)) ||
        failed("image", eitri_create_image(gpu, space, &image, &scene.image)) ||
        failed("corners", eitri_create_buffer(gpu, space, sizeof corners, &scene.corners)) ||
        failed("write", eitri_write_buffer(gpu, scene.corners, 0, corners, sizeof corners)) ||
        failed("pipeline", make_pipeline(space, &scene.pipeline)) ||
        failed("commands", eitri_create_commands(gpu, space, &commands)) ||
        failed("record", eitri_record(gpu, commands, record, &scene)) ||
        failed("submit", eitri_submit(gpu, queue, commands, &fence)) ||
        failed("wait", eitri_wait(gpu, fence, SECOND)) ||
        failed("read", eitri_read_image(gpu, scene.image, 0, 0, texels, sizeof texels)))
        return 1;
    uint32_t magenta = 0, green = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const uint8_t *it = texels[i];
        magenta += it[0] == 255 && it[1] == 0 && it[2] == 255 && it[3] == 255;
        green += it[0] == 0 && it[1] == 128 && it[2] == 0 && it[3] == 255;
    }
    print("triangle: ");
    print_number(magenta), print(" pixels magenta, "), print_number(green), print(" green\n");
    for (int y = 2; y < SIDE; y += 4, print("\n"))
        for (int x = 1; x < SIDE; x += 2)
            print(texels[y * SIDE + x][0] ? "#" : ".");
    // The long side goes through the centres of as many pixels as there are rows: they are one colour or the other.
    int good = magenta + green == SIDE * SIDE && magenta >= SIDE * (SIDE - 1) / 2 && magenta <= SIDE * (SIDE + 1) / 2;
    return good ? in_parts(queue, space, &scene, texels) : (print("the picture is wrong\n"), 1);
}

// What can't be is an answer, with a sentence.
static int refusals(void)
{
    EitriBuffer buffer = {0};
    EitriSpace nowhere = {42};
    if (eitri_create_buffer(gpu, nowhere, 64, &buffer) != EITRI_STATUS_GONE)
        return print("a space that is none was taken\n"), 1;
    print("refused: ");
    print(eitri_error_text(gpu));
    print("\n");
    return 0;
}

int main(void)
{
    const EitriPlatform platform = {
        .registers = (void *)REGISTERS,
        .register_bytes = REGISTER_BYTES,
        .memory = (void *)MEMORY,
        .memory_bytes = MEMORY_BYTES,
        .memory_bus_address = MEMORY,
        .counter_hertz = counter_hertz(),
        .now = now,
    };
    EitriInfo info;
    EitriStatus status = eitri_open(device_memory, sizeof device_memory, &platform, firmware,
                                    (size_t)(firmware_end - firmware), &gpu);
    if (failed("open", status) || failed("info", eitri_get_info(gpu, &info)))
        return 1;
    print(info.name);
    print("\n");
    return compute() || triangle() || refusals() || failed("close", eitri_close(gpu));
}
