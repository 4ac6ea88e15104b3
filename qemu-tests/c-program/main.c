// Calls what the example in C does not, and prints a line for each part that does what eitri.h says. It is built and booted with the
// other files of examples/c, which stands alone so that it can be copied: so the two programs begin alike.

#include "eitri.h"

// As in examples/c, with memory beside the GPU's that its platform lends.
#define REGISTERS 0x0b000000
#define REGISTER_BYTES 0x200000
#define MEMORY 0x50000000
#define MEMORY_BYTES (32 << 20)
#define LENT (MEMORY + MEMORY_BYTES)
#define LENT_BYTES (64 << 10)
#define CONSOLE 0x09000000
#define SECOND 1000000000ull
#define SIDE 32

extern const unsigned char firmware[], firmware_end[];
extern const unsigned char double_program[], double_program_end[];
extern const unsigned char vertex_program[], vertex_program_end[];
extern const unsigned char fragment_program[], fragment_program_end[];

static unsigned char device_memory[EITRI_DEVICE_BYTES(MEMORY_BYTES)] __attribute__((aligned(16)));
static EitriDevice *gpu;
static EitriQueue queue;
static EitriSpace space;

static void print(const char *text)
{
    for (; *text; text++)
        *(volatile uint32_t *)CONSOLE = (unsigned char)*text;
}

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

// Says which call failed, and why; nothing is right then.
static int call_failed(int line, EitriStatus status)
{
    char digits[5] = {(char)('0' + line / 1000 % 10), (char)('0' + line / 100 % 10), (char)('0' + line / 10 % 10),
                      (char)('0' + line % 10), 0};
    if (status == EITRI_STATUS_OK)
        return 0;
    print("line ");
    print(digits);
    print(": ");
    print(eitri_error_text(gpu));
    print("\n");
    return 1;
}
#define TRY(call)                       \
    do {                                \
        if (call_failed(__LINE__, call)) \
            return 1;                   \
    } while (0)

static int wrong(int is_wrong, const char *what)
{
    print(what);
    print(is_wrong ? ": WRONG\n" : ": right\n");
    return is_wrong;
}

// Records commands, and runs them to their end.
static EitriStatus run(void (*record)(EitriRecorder *, void *), void *context)
{
    EitriCommands commands;
    EitriFence fence;
    EitriStatus status = eitri_create_commands(gpu, space, &commands);
    if (status == EITRI_STATUS_OK)
        status = eitri_record(gpu, commands, record, context);
    if (status == EITRI_STATUS_OK)
        status = eitri_submit(gpu, queue, commands, &fence);
    if (status == EITRI_STATUS_OK)
        status = eitri_wait(gpu, fence, SECOND);
    if (status == EITRI_STATUS_OK)
        status = eitri_destroy_commands(gpu, commands);
    return status;
}

// Words that commands write, and times.
struct words {
    EitriBuffer buffer;
    EitriQueries times;
};

static void record_words(EitriRecorder *recorder, void *context)
{
    const struct words *it = context;
    const uint32_t two[] = {7, 8};
    eitri_cmd_reset_queries(recorder, it->times, 0, 2);
    eitri_cmd_write_timestamp(recorder, it->times, 0);
    eitri_cmd_fill_buffer(recorder, it->buffer, 0, 32, 5);
    eitri_cmd_barrier(recorder, EITRI_ACCESS_COPIES, EITRI_ACCESS_COPIES);
    eitri_cmd_update_buffer(recorder, it->buffer, 8, two, sizeof two);
    eitri_cmd_barrier(recorder, EITRI_ACCESS_COPIES, EITRI_ACCESS_COPIES | EITRI_ACCESS_CPU);
    eitri_cmd_write_timestamp(recorder, it->times, 1);
    eitri_cmd_copy_query_results(recorder, it->times, 1, 1, it->buffer, 32);
}

static int words_and_times(void)
{
    struct words it;
    struct {
        uint32_t words[8];
        uint64_t time;
    } found;
    EitriQueryResult times[2];
    TRY(eitri_create_buffer(gpu, space, 64, &it.buffer));
    TRY(eitri_create_queries(gpu, space, 2, &it.times));
    TRY(eitri_get_query_results(gpu, it.times, 0, times, 2));
    int bad = times[0].is_there || times[1].is_there;
    TRY(run(record_words, &it));
    TRY(eitri_read_buffer(gpu, it.buffer, 0, &found, sizeof found));
    for (int i = 0; i < 8; i++)
        bad |= found.words[i] != (i == 2 ? 7u : i == 3 ? 8u : 5u);
    TRY(eitri_get_query_results(gpu, it.times, 0, times, 2));
    bad |= !times[0].is_there || !times[1].is_there || times[1].value < times[0].value || times[1].value != found.time;
    TRY(eitri_reset_queries(gpu, it.times, 0, 1));
    TRY(eitri_get_query_results(gpu, it.times, 0, times, 2));
    bad |= times[0].is_there || !times[1].is_there;
    TRY(eitri_destroy_queries(gpu, it.times));
    TRY(eitri_destroy_buffer(gpu, it.buffer));
    return wrong(bad, "words and times");
}

// The dispatch of a buffer of 64 numbers.
struct doubling {
    EitriPipeline pipeline;
    EitriSet set;
    EitriEvent before, after;
};

static EitriStatus make_doubling(struct doubling *it, EitriBuffer numbers)
{
    const size_t bytes = (size_t)(double_program_end - double_program);
    EitriStatus status = eitri_create_pipeline(gpu, space, double_program, bytes, &it->pipeline);
    if (status == EITRI_STATUS_OK)
        status = eitri_create_set(gpu, it->pipeline, 0, &it->set);
    if (status == EITRI_STATUS_OK)
        status = eitri_bind_buffer(gpu, it->set, 0, numbers, 0, 256);
    return status;
}

static void dispatch(EitriRecorder *recorder, const struct doubling *it)
{
    eitri_cmd_bind_pipeline(recorder, it->pipeline);
    eitri_cmd_bind_set(recorder, it->set);
    eitri_cmd_dispatch(recorder, 1, 1, 1);
}

static void record_doubling(EitriRecorder *recorder, void *context)
{
    dispatch(recorder, context);
    eitri_cmd_barrier(recorder, EITRI_ACCESS_SHADERS, EITRI_ACCESS_CPU);
}

// A buffer in memory of ours: the GPU doubles what lies there.
static int imported_buffer(void)
{
    volatile uint32_t *numbers = (volatile uint32_t *)LENT;
    struct doubling it;
    EitriBuffer buffer;
    int bad = 0;
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i + 3;
    TRY(eitri_import_buffer(gpu, space, LENT, 4096, &buffer));
    TRY(make_doubling(&it, buffer));
    TRY(run(record_doubling, &it));
    for (uint32_t i = 0; i < 64; i++)
        bad |= numbers[i] != 2 * (i + 3);
    bad |= eitri_import_buffer(gpu, space, MEMORY - 4096, 4096, &buffer) == EITRI_STATUS_OK;
    return wrong(bad, "an imported buffer");
}

// Sums over bytes of a dump that the sink was given.
struct dump {
    uint64_t bytes;
    uint32_t first;
};

static uint32_t take(void *context, const void *data, size_t bytes)
{
    struct dump *it = context;
    if (it->bytes == 0 && bytes >= 4)
        for (int i = 3; i >= 0; i--)
            it->first = it->first << 8 | ((const unsigned char *)data)[i];
    it->bytes += bytes;
    return 0;
}

static uint32_t refuse(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 1;
}

static void record_waiting(EitriRecorder *recorder, void *context)
{
    const struct doubling *it = context;
    eitri_cmd_wait_event(recorder, it->before);
    dispatch(recorder, it);
    eitri_cmd_barrier(recorder, EITRI_ACCESS_SHADERS, EITRI_ACCESS_CPU);
    eitri_cmd_set_event(recorder, it->after);
    eitri_cmd_reset_event(recorder, it->before);
}

// A job waits for an event; it is dumped where it does, and goes on.
static int events_and_dumps(void)
{
    uint32_t numbers[64], before = 2, after = 2, dumped[3], more;
    struct doubling it;
    struct dump dump = {0}, whole = {0};
    const EitriSink sink = {.context = &dump, .put = take}, other = {.context = &whole, .put = take}, no = {.put = refuse};
    EitriBuffer buffer;
    EitriCommands commands;
    EitriFence fence;
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    TRY(eitri_create_buffer(gpu, space, sizeof numbers, &buffer));
    TRY(eitri_write_buffer(gpu, buffer, 0, numbers, sizeof numbers));
    TRY(make_doubling(&it, buffer));
    TRY(eitri_create_event(gpu, space, &it.before));
    TRY(eitri_create_event(gpu, space, &it.after));
    TRY(eitri_create_commands(gpu, space, &commands));
    TRY(eitri_record(gpu, commands, record_waiting, &it));
    TRY(eitri_submit(gpu, queue, commands, &fence));
    int bad = eitri_wait_or_dump(gpu, fence, SECOND / 100, &sink, &dumped[0]) != EITRI_STATUS_PENDING;
    bad |= eitri_wait_or_dump(gpu, fence, SECOND / 100, &no, &dumped[1]) != EITRI_STATUS_PENDING;
    bad |= dumped[0] != EITRI_DUMP_WHOLE || dump.bytes < 4096 || dump.first != 0x464c457f;
    bad |= dumped[1] != EITRI_DUMP_CUT;
    TRY(eitri_dump(gpu, &fence, &other));
    bad |= whole.bytes < 4096 || eitri_dump(gpu, NULL, &no) != EITRI_STATUS_REFUSED;
    TRY(eitri_get_event(gpu, it.after, &more));
    bad |= more != 0;
    TRY(eitri_set_event(gpu, it.before));
    TRY(eitri_wait_or_dump(gpu, fence, SECOND, &sink, &dumped[2]));
    TRY(eitri_get_event(gpu, it.before, &before));
    TRY(eitri_get_event(gpu, it.after, &after));
    TRY(eitri_reset_event(gpu, it.after));
    TRY(eitri_get_event(gpu, it.after, &more));
    TRY(eitri_read_buffer(gpu, buffer, 0, numbers, sizeof numbers));
    bad |= dumped[2] != EITRI_DUMP_NONE || before != 0 || after != 1 || more != 0;
    for (uint32_t i = 0; i < 64; i++)
        bad |= numbers[i] != 2 * i;
    TRY(eitri_destroy_commands(gpu, commands));
    TRY(eitri_destroy_event(gpu, it.before));
    TRY(eitri_destroy_event(gpu, it.after));
    return wrong(bad, "events and dumps");
}

static void record_nothing(EitriRecorder *recorder, void *context)
{
    (void)recorder, (void)context;
}

// A queue waits for another, which waits for the CPU.
static int semaphores(void)
{
    uint32_t numbers[64];
    uint64_t value;
    struct doubling it;
    EitriQueue other_queue;
    EitriSpace other;
    EitriSemaphore semaphore;
    EitriBuffer buffer;
    EitriCommands commands, nothing;
    EitriFence first, second;
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    TRY(eitri_create_queue(gpu, 1, &other_queue, &other));
    TRY(eitri_create_buffer(gpu, space, sizeof numbers, &buffer));
    TRY(eitri_write_buffer(gpu, buffer, 0, numbers, sizeof numbers));
    TRY(make_doubling(&it, buffer));
    TRY(eitri_create_semaphore(gpu, 3, &semaphore));
    TRY(eitri_map_semaphore(gpu, semaphore, space, 0));
    TRY(eitri_map_semaphore(gpu, semaphore, other, 1));
    TRY(eitri_create_commands(gpu, space, &commands));
    TRY(eitri_record(gpu, commands, record_doubling, &it));
    TRY(eitri_create_commands(gpu, other, &nothing));
    TRY(eitri_record(gpu, nothing, record_nothing, NULL));
    const EitriPoint points[] = {{semaphore, 4}, {semaphore, 5}};
    const EitriSubmit waits = {.waits = &points[1], .wait_count = 1};
    const EitriSubmit signals = {.waits = &points[0], .wait_count = 1, .signals = &points[1], .signal_count = 1};
    // This queue's space may only read the semaphore.
    int bad = eitri_submit_with(gpu, queue, commands, &signals, &first) == EITRI_STATUS_OK;
    TRY(eitri_submit_with(gpu, queue, commands, &waits, &first));
    TRY(eitri_submit_with(gpu, other_queue, nothing, &signals, &second));
    bad |= eitri_wait(gpu, first, SECOND / 100) != EITRI_STATUS_PENDING;
    bad |= eitri_wait_semaphore(gpu, semaphore, 4, SECOND / 100) != EITRI_STATUS_PENDING;
    TRY(eitri_signal_semaphore(gpu, semaphore, 4));
    TRY(eitri_wait_semaphore(gpu, semaphore, 5, SECOND));
    TRY(eitri_wait(gpu, first, SECOND));
    TRY(eitri_wait(gpu, second, SECOND));
    TRY(eitri_get_semaphore_value(gpu, semaphore, &value));
    TRY(eitri_read_buffer(gpu, buffer, 0, numbers, sizeof numbers));
    bad |= value != 5;
    for (uint32_t i = 0; i < 64; i++)
        bad |= numbers[i] != 2 * i;
    TRY(eitri_destroy_semaphore(gpu, semaphore));
    TRY(eitri_destroy_commands(gpu, nothing));
    TRY(eitri_destroy_queue(gpu, other_queue));
    return wrong(bad, "semaphores");
}

// Images that are copied, cleared and scaled.
struct pictures {
    EitriBuffer buffer;
    EitriImage image, half, shown;
};

static void record_pictures(EitriRecorder *recorder, void *context)
{
    const struct pictures *it = context;
    const EitriRegion all = {.image = it->image, .width = SIDE, .height = SIDE};
    const EitriRegion half = {.image = it->half, .width = SIDE / 2, .height = SIDE / 2};
    const EitriRegion corner = {.image = it->half, .x = SIDE / 2 - 1, .y = SIDE / 2 - 1, .width = 1, .height = 1};
    const EitriRegion second = {.image = it->image, .level = 1, .width = 1, .height = 1};
    const EitriRegion first = {.image = it->image, .width = 1, .height = 1};
    const float color[] = {0, 1, 0, 1};
    const uint32_t written = EITRI_ACCESS_ATTACHMENTS | EITRI_ACCESS_COPIES;
    eitri_cmd_clear_image(recorder, it->shown, color);
    eitri_cmd_copy_buffer_to_image(recorder, it->buffer, 0, 0, &all);
    eitri_cmd_barrier(recorder, written, written | EITRI_ACCESS_SHADERS);
    eitri_cmd_blit_image(recorder, &all, &half, 0);
    eitri_cmd_generate_levels(recorder, it->image);
    eitri_cmd_barrier(recorder, written, written);
    eitri_cmd_copy_image_to_buffer(recorder, &corner, it->buffer, 0, 0);
    eitri_cmd_copy_image_to_buffer(recorder, &second, it->buffer, 4, 0);
    eitri_cmd_copy_image(recorder, &corner, &first);
    eitri_cmd_barrier(recorder, written, EITRI_ACCESS_CPU);
}

static int images(void)
{
    static uint32_t texels[SIDE * SIDE];
    const EitriImageInfo info = {.format = "R8G8B8A8_UNORM", .width = SIDE, .height = SIDE, .levels = 2};
    const EitriImageInfo half = {.format = "R8G8B8A8_UNORM", .width = SIDE / 2, .height = SIDE / 2};
    const EitriImageInfo linear = {.format = "R8G8B8A8_UNORM", .width = SIDE, .height = SIDE, .linear = 1};
    const EitriPlacement place = {.bus_address = LENT + 8192, .bytes = 8192, .offset = 64, .row_bytes = 192};
    struct pictures it;
    EitriScanOut shown;
    uint32_t found[2];
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        texels[i] = 0xff000000 | i << 8 | (i & 1 ? 255 : 0);
    TRY(eitri_create_buffer(gpu, space, sizeof texels, &it.buffer));
    TRY(eitri_write_buffer(gpu, it.buffer, 0, texels, sizeof texels));
    TRY(eitri_create_image(gpu, space, &info, &it.image));
    TRY(eitri_create_image(gpu, space, &half, &it.half));
    TRY(eitri_import_image(gpu, space, &linear, &place, &it.shown));
    int bad = eitri_get_scan_out(gpu, it.image, &shown) != EITRI_STATUS_REFUSED;
    TRY(run(record_pictures, &it));
    // Rows of an imported image lie where they were placed.
    TRY(eitri_get_scan_out(gpu, it.shown, &shown));
    bad |= shown.bus_address != LENT + 8192 + 64 || shown.row_bytes != 192 || shown.width != SIDE || shown.height != SIDE;
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++)
            bad |= ((volatile uint32_t *)(shown.bus_address + y * shown.row_bytes))[x] != 0xff00ff00;
    // The nearest texel of four is the last of them; their mean has half of the red.
    TRY(eitri_read_buffer(gpu, it.buffer, 0, found, sizeof found));
    bad |= found[0] != texels[SIDE * SIDE - 1];
    bad |= (found[1] & 0xff) != 0x7f && (found[1] & 0xff) != 0x80;
    TRY(eitri_read_image(gpu, it.image, 0, 0, texels, sizeof texels));
    bad |= texels[0] != found[0];
    TRY(eitri_imported_image_changed(gpu, it.shown));
    TRY(eitri_destroy_image(gpu, it.shown));
    return wrong(bad, "images");
}

// A triangle that marks stencil, and a rectangle that is drawn where it has.
struct scene {
    EitriImage image, stencil;
    EitriBuffer corners, numbers;
    EitriGraphicsPipeline marks, marked;
    EitriQueries samples;
};

static void draw(EitriPass *pass, void *context)
{
    const struct scene *it = context;
    const float blue[] = {1, 0};
    const EitriDraw triangle = {.count = 3}, rectangle = {.count = 4, .first = 3};
    const EitriIndirectDraws indirect = {.buffer = it->numbers, .draws = 1, .stride = 16};
    eitri_pass_bind_vertices(pass, 0, it->corners, 0);
    eitri_pass_bind_pipeline(pass, it->marks);
    eitri_pass_push_constants(pass, 0, &blue[0], sizeof blue[0]);
    eitri_pass_draw(pass, &triangle);
    eitri_pass_bind_pipeline(pass, it->marked);
    eitri_pass_set_stencil_reference(pass, 5, 5);
    eitri_pass_push_constants(pass, 0, &blue[1], sizeof blue[1]);
    // The word behind the draw's numbers is 0.
    eitri_pass_begin_conditional(pass, it->numbers, 16, 0);
    eitri_pass_draw(pass, &rectangle);
    eitri_pass_end_conditional(pass);
    eitri_pass_begin_query(pass, it->samples, 0, 1);
    eitri_pass_draw_indirect(pass, &indirect);
    eitri_pass_end_query(pass);
    eitri_pass_write_timestamp(pass, it->samples, 1);
}

static void record_scene(EitriRecorder *recorder, void *context)
{
    const struct scene *it = context;
    const EitriColorAttachment color = {.image = it->image, .clear = {0, 1, 0, 1}};
    const EitriRendering rendering = {
        .colors = &color,
        .color_count = 1,
        .stencil = it->stencil,
        .stencil_clear = 9,
        .stencil_discard = 1,
    };
    eitri_cmd_render(recorder, &rendering, draw, context);
}

static EitriStatus make_pipeline(EitriGraphicsPipeline *pipeline, uint32_t topology, const EitriStencil *stencil)
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
        .topology = topology,
        .has_stencil = 1,
        .stencil = stencil,
    };
    return eitri_create_graphics_pipeline(gpu, space, &info, pipeline);
}

static int stencil_and_indirect_draws(void)
{
    static const float corners[] = {-1, -1, -1, 1, 1, 1, -1, -1, 1, -1, -1, 1, 1, 1};
    // Vertices, instances, the first of each; and the word of a condition.
    static const uint32_t numbers[] = {4, 1, 3, 0, 0};
    static uint8_t texels[SIDE * SIDE][4];
    const EitriImageInfo color = {.format = "R8G8B8A8_UNORM", .width = SIDE, .height = SIDE};
    const EitriImageInfo stencil = {.format = "S8_UINT", .width = SIDE, .height = SIDE};
    const EitriStencil marks = {.compare = EITRI_COMPARE_ALWAYS, .pass = EITRI_STENCIL_REPLACE, .write_mask = 255, .reference = 5};
    const EitriStencil marked = {.compare = EITRI_COMPARE_EQUAL, .compare_mask = 255, .reference = 1};
    struct scene it;
    EitriQueryResult samples[2];
    TRY(eitri_create_image(gpu, space, &color, &it.image));
    TRY(eitri_create_image(gpu, space, &stencil, &it.stencil));
    TRY(eitri_create_buffer(gpu, space, sizeof corners, &it.corners));
    TRY(eitri_write_buffer(gpu, it.corners, 0, corners, sizeof corners));
    TRY(eitri_create_buffer(gpu, space, sizeof numbers, &it.numbers));
    TRY(eitri_write_buffer(gpu, it.numbers, 0, numbers, sizeof numbers));
    TRY(eitri_create_queries(gpu, space, 2, &it.samples));
    TRY(make_pipeline(&it.marks, EITRI_TOPOLOGY_TRIANGLES, &marks));
    TRY(make_pipeline(&it.marked, EITRI_TOPOLOGY_TRIANGLE_STRIP, &marked));
    TRY(run(record_scene, &it));
    TRY(eitri_read_image(gpu, it.image, 0, 0, texels, sizeof texels));
    TRY(eitri_get_query_results(gpu, it.samples, 0, samples, 2));
    uint32_t red = 0, green = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        red += texels[i][0] == 255 && texels[i][1] == 0 && texels[i][2] == 0;
        green += texels[i][0] == 0 && texels[i][1] == 255 && texels[i][2] == 0;
    }
    int bad = red + green != SIDE * SIDE || red < SIDE * (SIDE - 1) / 2 || red > SIDE * (SIDE + 1) / 2;
    bad |= !samples[0].is_there || samples[0].value != red || !samples[1].is_there || samples[1].value == 0;
    return wrong(bad, "stencil and indirect draws");
}

int main(void)
{
    const EitriPlatform platform = {
        .registers = (void *)REGISTERS,
        .register_bytes = REGISTER_BYTES,
        .memory = (void *)MEMORY,
        .memory_bytes = MEMORY_BYTES,
        .memory_bus_address = MEMORY,
        .lent_bus_address = LENT,
        .lent_bytes = LENT_BYTES,
        .counter_hertz = counter_hertz(),
        .now = now,
    };
    EitriTilerHeap heap;
    TRY(eitri_open(device_memory, sizeof device_memory, &platform, firmware, (size_t)(firmware_end - firmware), &gpu));
    TRY(eitri_create_queue(gpu, 1, &queue, &space));
    if (words_and_times() || imported_buffer() || events_and_dumps() || semaphores())
        return 1;
    TRY(eitri_create_tiler_heap(gpu, queue, 1, 4, &heap));
    if (stencil_and_indirect_draws() || images())
        return 1;
    TRY(eitri_close(gpu));
    return 0;
}
