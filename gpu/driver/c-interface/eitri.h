/* The driver for C. Generated from gpu/driver/c-interface by its test `header`: change the source, not this file.
 *
 * Every function answers an EitriStatus; eitri_error_text() says why. A device is used by one thread at a time. docs/c.md has the
 * steps from nothing to a triangle. */

#ifndef EITRI_H
#define EITRI_H

#include <stddef.h>
#include <stdint.h>

// The GPU's JOB line: its firmware wants attention.
#define EITRI_LINE_JOB 1

// The GPU's MMU line: page faults.
#define EITRI_LINE_MMU 2

// The GPU's GPU line: reset, power, caches, faults.
#define EITRI_LINE_GPU 4

// Bytes of the memory that eitri_open() takes, but for a map of the GPU's memory: see EITRI_DEVICE_BYTES().
#define EITRI_DEVICE_FIXED_BYTES 98304

// Shaders read and write buffers and images.
#define EITRI_ACCESS_SHADERS 1

// Copies and fills read and write.
#define EITRI_ACCESS_COPIES 2

// Passes read and write their attachments.
#define EITRI_ACCESS_ATTACHMENTS 4

// Draws read vertices and indices; draws and dispatches read their counts.
#define EITRI_ACCESS_DRAWS 8

// The CPU reads after the job.
#define EITRI_ACCESS_CPU 16

// There is no dump: nothing failed.
#define EITRI_DUMP_NONE 0

// The dump is whole.
#define EITRI_DUMP_WHOLE 1

// The dump ends early: the sink did not take it, or memory changed meanwhile.
#define EITRI_DUMP_CUT 2

// A use of an image: passes render to it.
#define EITRI_USE_ATTACHMENT 1

// Shaders sample it, or fetch its texels.
#define EITRI_USE_SAMPLED 2

// Shaders use it as a storage image.
#define EITRI_USE_STORAGE 4

// The host reads or writes it: eitri_read_image(), eitri_write_image().
#define EITRI_USE_HOST 8

// Comparisons of a reference with a value, by Vulkan's numbers: one that never holds.
#define EITRI_COMPARE_NEVER 0

// The reference is less.
#define EITRI_COMPARE_LESS 1

// Both are equal.
#define EITRI_COMPARE_EQUAL 2

// The reference is less or equal.
#define EITRI_COMPARE_LESS_OR_EQUAL 3

// The reference is greater.
#define EITRI_COMPARE_GREATER 4

// The two values differ.
#define EITRI_COMPARE_NOT_EQUAL 5

// The reference is greater or equal.
#define EITRI_COMPARE_GREATER_OR_EQUAL 6

// One that always holds.
#define EITRI_COMPARE_ALWAYS 7

// Operations on the value of stencil, by Vulkan's numbers: it stays.
#define EITRI_STENCIL_KEEP 0

// It becomes 0.
#define EITRI_STENCIL_ZERO 1

// It becomes the reference.
#define EITRI_STENCIL_REPLACE 2

// It becomes one more, 255 at most.
#define EITRI_STENCIL_INCREMENT_AND_CLAMP 3

// It becomes one less, 0 at least.
#define EITRI_STENCIL_DECREMENT_AND_CLAMP 4

// Its bits are inverted.
#define EITRI_STENCIL_INVERT 5

// It becomes one more, and 0 behind 255.
#define EITRI_STENCIL_INCREMENT_AND_WRAP 6

// It becomes one less, and 255 before 0.
#define EITRI_STENCIL_DECREMENT_AND_WRAP 7

// Outside of an image are the texels of its edge.
#define EITRI_WRAP_CLAMP_TO_EDGE 0

// The image is repeated.
#define EITRI_WRAP_REPEAT 1

// The image is repeated, each one mirrored.
#define EITRI_WRAP_MIRRORED_REPEAT 2

// Outside of an image is the sampler's border.
#define EITRI_WRAP_CLAMP_TO_BORDER 3

// The image is mirrored once; further outside are the texels of its edge.
#define EITRI_WRAP_MIRRORED_CLAMP_TO_EDGE 4

// Vertices make a point each.
#define EITRI_TOPOLOGY_POINTS 0

// Each two vertices make a line.
#define EITRI_TOPOLOGY_LINES 1

// A line goes from each vertex to the next.
#define EITRI_TOPOLOGY_LINE_STRIP 2

// Each three vertices make a triangle.
#define EITRI_TOPOLOGY_TRIANGLES 3

// Each vertex makes a triangle with the two after it.
#define EITRI_TOPOLOGY_TRIANGLE_STRIP 4

// Each two vertices that follow one another make a triangle with the first.
#define EITRI_TOPOLOGY_TRIANGLE_FAN 5

// No test of depth, and none is written.
#define EITRI_DEPTH_NONE 0

// What is nearer stays, and is written.
#define EITRI_DEPTH_LESS 1

// What is nearer or as near stays, and is written.
#define EITRI_DEPTH_LESS_OR_EQUAL 2

// What is as near is drawn, and nothing is written.
#define EITRI_DEPTH_EQUAL 3

// What is nearer is drawn, and nothing is written.
#define EITRI_DEPTH_LESS_READ_ONLY 4

// Colours are written as they are.
#define EITRI_BLEND_NONE 0

// Colours are mixed with what is there by their alpha.
#define EITRI_BLEND_ALPHA 1

// The same of colours that were multiplied with their alpha.
#define EITRI_BLEND_PREMULTIPLIED 2

// Colours are added to what is there.
#define EITRI_BLEND_ADD 3

// Front faces are left out.
#define EITRI_CULL_FRONT 1

// Back faces are left out.
#define EITRI_CULL_BACK 2

// The attachment holds `clear` at first.
#define EITRI_LOAD_CLEAR 0

// The attachment holds what it held.
#define EITRI_LOAD_LOAD 1

// The attachment may hold anything at first.
#define EITRI_LOAD_DONT_CARE 2

// The pass goes on with the one that was suspended last: nothing is loaded or cleared.
#define EITRI_PART_RESUMING 1

// The next pass goes on with this one: everything is kept, and nothing resolved.
#define EITRI_PART_SUSPENDING 2

// The vertices of a pass failed, or its tiler.
#define EITRI_PASS_VERTICES 0

// The fragments of a pass failed, or the writing of its tiles.
#define EITRI_PASS_FRAGMENTS 1

// No draw can be named: the pass has none there, or what failed is a clear of attachments.
#define EITRI_DRAWS_UNKNOWN 0

// The stream stood at an instruction that prepares or begins the draw.
#define EITRI_DRAWS_BY_INSTRUCTION 1

// Only these draws have the code that failed.
#define EITRI_DRAWS_BY_CODE 2

// Only these draws name the memory whose access failed.
#define EITRI_DRAWS_BY_ADDRESS 3

// The pass had begun these draws, and no more is known.
#define EITRI_DRAWS_BY_ORDER 4

// The draws before it had ended, and it is the only one that had begun: eitri_pass_draw_in_turn().
#define EITRI_DRAWS_BY_TURN 5

// What a call answers. What is not EITRI_STATUS_OK or EITRI_STATUS_PENDING has a sentence: eitri_error_text().
enum EitriStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It is done.
  EITRI_STATUS_OK = 0,
  // The job has not ended yet.
  EITRI_STATUS_PENDING = 1,
  // An argument can't be: a null pointer, a number that means nothing, memory that is too small.
  EITRI_STATUS_ARGUMENT = 2,
  // The device is not open, or a call is made from inside of another one's callback.
  EITRI_STATUS_STATE = 3,
  // The GPU is lost, or did not come up: close the device and open it again.
  EITRI_STATUS_LOST = 4,
  // The GPU's memory, or addresses in it, are used up.
  EITRI_STATUS_OUT_OF_MEMORY = 5,
  // There are as many queues, jobs or objects as the device has room for.
  EITRI_STATUS_OUT_OF_STORAGE = 6,
  // A handle is of something that was destroyed, or of nothing.
  EITRI_STATUS_GONE = 7,
  // A job in flight uses it: wait for the job.
  EITRI_STATUS_IN_USE = 8,
  // There is no room in the queue: wait for one of its jobs.
  EITRI_STATUS_BUSY = 9,
  // The queue has failed: destroy it and make another.
  EITRI_STATUS_QUEUE_FAILED = 10,
  // The job has failed.
  EITRI_STATUS_JOB_FAILED = 11,
  // The call asks for what can't be.
  EITRI_STATUS_REFUSED = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum EitriStatus EitriStatus;
#else
typedef uint32_t EitriStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A device: a GPU that is driven.
typedef struct EitriDevice EitriDevice;

// A pass that is being recorded. Good inside of the function that was given to eitri_cmd_render() alone.
typedef struct EitriPass EitriPass;

// Commands that are being recorded. Good inside of the function that was given to eitri_record() alone.
typedef struct EitriRecorder EitriRecorder;

// What the driver needs of the machine. What may be zero or null is marked so. The driver copies the structure; it calls the
// functions from inside of calls to it, on the caller's stack, and they must not call the driver themselves.
typedef struct EitriPlatform {
  // Handed to every function below. May be null.
  void *context;
  // The GPU's register window, mapped as device memory. Its power domain is on, and its clock runs.
  void *registers;
  // Bytes of the window; usually 2 MiB.
  size_t register_bytes;
  // Memory for the GPU, that nothing else uses: contiguous, aligned to 4096. Mapped non-cacheable; or cacheable, with `clean` and
  // `invalidate`; or cacheable on a machine whose GPU sees the CPU's caches (`coherent`).
  void *memory;
  // Bytes of the memory: a multiple of 4096.
  size_t memory_bytes;
  // Where the GPU has this memory: its physical address, a multiple of 4096.
  uint64_t memory_bus_address;
  // Memory beside it that eitri_import_buffer() and eitri_import_image() may give the GPU, a display's: its physical address.
  uint64_t lent_bus_address;
  // Bytes of it; 0: there is none.
  uint64_t lent_bytes;
  // Hertz of the system counter, CNTFRQ_EL0. 0 if it is not known.
  uint64_t counter_hertz;
  // How many times slower than usual the GPU is clocked; 0 is as 1.
  uint32_t slowdown;
  // Not 0: the GPU sees the CPU's caches, by ACE-Lite.
  uint32_t coherent;
  // Gives nanoseconds since some fixed moment; never goes back.
  uint64_t (*now)(void *context);
  // Sleeps until one of the lines `wanted` (EITRI_LINE_…) is high or `now` has reached `until`, and gives those that are high. It may
  // return early, with 0. Lines are levels: a handler disables the interrupt, and this function enables it again. May be null: then the
  // driver asks the GPU again and again.
  uint32_t (*wait)(void *context, uint32_t wanted, uint64_t until);
  // Writes back what the CPU's caches hold of this memory, to the point of coherency (DC CVAC). May be null: then the memory is not
  // cached, or `coherent`.
  void (*clean)(void *context, void *start, size_t bytes);
  // Drops what the CPU's caches hold of this memory (DC IVAC, or CIVAC where that is not allowed). May be null, as `clean`.
  void (*invalidate)(void *context, void *start, size_t bytes);
} EitriPlatform;

// What there is of a device.
typedef struct EitriInfo {
  // Its name, such as "Mali-G610", with a zero behind it; empty if it is not known.
  char name[32];
  // GPU_ID.
  uint32_t gpu_id;
  // Architecture: 10 to 13.
  uint32_t architecture;
  // Usable shader cores, a bit each.
  uint64_t cores;
  // Bytes of the GPU's memory that are taken now.
  uint64_t memory_in_use;
  // How often the GPU was lost, and started again by eitri_poll() or eitri_wait().
  uint64_t recoveries;
} EitriInfo;

// A queue of jobs.
typedef struct EitriQueue {
  // 0 names nothing.
  uint64_t id;
} EitriQueue;

// An address space of the GPU: what is made in it is seen by its queues, and by no others.
typedef struct EitriSpace {
  // 0 names nothing.
  uint64_t id;
} EitriSpace;

// A job that was submitted.
typedef struct EitriFence {
  // Its queue.
  struct EitriQueue queue;
  // The stream of the queue that ends it: 0 vertices, 1 fragments, 2 compute.
  uint32_t stream;
  // Its number on that stream.
  uint64_t point;
} EitriFence;

// Memory that shaders read and write.
typedef struct EitriBuffer {
  // 0 names nothing.
  uint64_t id;
} EitriBuffer;

// Bytes that eitri_run() binds to a binding of a shader.
typedef struct EitriBinding {
  // The set.
  uint32_t set;
  // The binding.
  uint32_t binding;
  // What it holds before, and after.
  void *data;
  // How many bytes.
  size_t bytes;
} EitriBinding;

// What eitri_run() runs.
typedef struct EitriRun {
  // The shader: what `eitri compile` wrote. It stays until the device is closed.
  const void *program;
  // Its bytes.
  size_t program_bytes;
  // Workgroups along x, y and z.
  uint32_t workgroups[3];
  // Push constants; null if there are none.
  const void *push;
  // Their bytes.
  size_t push_bytes;
  // What is bound.
  const struct EitriBinding *bindings;
  // How many bindings: at most 16.
  size_t binding_count;
  // The longest that it may take, in nanoseconds.
  uint64_t limit;
} EitriRun;

// A compute shader, where the GPU can run it.
typedef struct EitriPipeline {
  // 0 names nothing.
  uint64_t id;
} EitriPipeline;

// The resources that are bound to one set of a compute shader.
typedef struct EitriSet {
  // 0 names nothing.
  uint64_t id;
} EitriSet;

// Recorded commands, to be submitted as often as wanted.
typedef struct EitriCommands {
  // 0 names nothing.
  uint64_t id;
} EitriCommands;

// An event: the CPU and commands of its space set and reset it, and commands wait until it is set.
typedef struct EitriEvent {
  // 0 names nothing.
  uint64_t id;
} EitriEvent;

// A value that only grows, waited for and signalled by jobs of any queue and by the CPU.
typedef struct EitriSemaphore {
  // 0 names nothing.
  uint64_t id;
} EitriSemaphore;

// A value of a semaphore: reached when the semaphore has it, or a larger one.
typedef struct EitriPoint {
  // The semaphore.
  struct EitriSemaphore semaphore;
  // The value.
  uint64_t value;
} EitriPoint;

// The semaphores of a job: those that it waits for, and those that it signals.
typedef struct EitriSubmit {
  // What it waits for before it begins: at most 4.
  const struct EitriPoint *waits;
  // How many.
  size_t wait_count;
  // What it signals when it is over, whether it is done or has failed: at most 4. Each value is larger than those before it.
  const struct EitriPoint *signals;
  // How many.
  size_t signal_count;
} EitriSubmit;

// Results that commands write: times, and counts.
typedef struct EitriQueries {
  // 0 names nothing.
  uint64_t id;
} EitriQueries;

// The result of a query.
typedef struct EitriQueryResult {
  // Not 0: it is there.
  uint32_t is_there;
  // Ticks of the system's counter, or samples that passed.
  uint64_t value;
} EitriQueryResult;

// Where a dump goes: an ELF file for `eitri dump show` and `eitri dump replay`.
typedef struct EitriSink {
  // Handed to `put`. May be null.
  void *context;
  // Takes the next bytes of the file, and gives 0; anything else ends the dump.
  uint32_t (*put)(void *context, const void *data, size_t bytes);
} EitriSink;

// What an image of two dimensions is to be.
typedef struct EitriImageInfo {
  // Vulkan's name of its format, without VK_FORMAT_: "R8G8B8A8_UNORM", "D32_SFLOAT".
  const char *format;
  // Texels along x.
  uint32_t width;
  // Texels along y.
  uint32_t height;
  // Layers; 0 is as 1.
  uint32_t layers;
  // Levels, each half as large as the one before; 0 is as 1.
  uint32_t levels;
  // Samples of a texel: 1, 4, 8, 16; 2 from architecture 12 on. 0 is as 1.
  uint32_t samples;
  // Not 0: texels lie row by row, as a display reads them. With one sample alone.
  uint32_t linear;
  // All that the image is for, of EITRI_USE_ATTACHMENT and its like; 0: anything. What is rendered to and sampled, and nothing else,
  // is compressed without loss (AFBC) where its format allows that.
  uint32_t uses;
} EitriImageInfo;

// Texels that shaders sample and passes render to.
typedef struct EitriImage {
  // 0 names nothing.
  uint64_t id;
} EitriImage;

// Memory that the tiler of a queue works with.
typedef struct EitriTilerHeap {
  // 0 names nothing.
  uint64_t id;
} EitriTilerHeap;

// Memory of the caller's, and how the texels of an image lie in it.
typedef struct EitriPlacement {
  // Where the GPU has the memory: its physical address, a multiple of 4096, inside of what the platform lends (`lent_bus_address`).
  uint64_t bus_address;
  // Bytes of the memory, a multiple of 4096.
  uint64_t bytes;
  // Bytes of it before the first texel, a multiple of 64.
  uint32_t offset;
  // Bytes from one row of texels to the next, a multiple of 64; of an image that is not linear from one row of tiles to the next.
  uint32_t row_bytes;
} EitriPlacement;

// Where the rows of a picture lie.
typedef struct EitriScanOut {
  // Physical address of the first texel of the first row.
  uint64_t bus_address;
  // Bytes from one row to the next.
  uint64_t row_bytes;
  // Texels of a row.
  uint32_t width;
  // Rows.
  uint32_t height;
} EitriScanOut;

// Texels of some layers of a level of an image.
typedef struct EitriRegion {
  // The image.
  struct EitriImage image;
  // The level.
  uint32_t level;
  // The first layer.
  uint32_t layer;
  // Layers; 0 is as 1.
  uint32_t layers;
  // The first texel, in x and y.
  uint32_t x;
  // See `x`.
  uint32_t y;
  // Texels along x.
  uint32_t width;
  // Texels along y.
  uint32_t height;
} EitriRegion;

// A sampler. One that is all zeros takes the nearest texel of the first level, clamped to the edge.
typedef struct EitriSampler {
  // Not 0: texels are mixed where the image is made larger.
  uint32_t magnify_linear;
  // Not 0: texels are mixed where the image is made smaller.
  uint32_t minify_linear;
  // Not 0: levels are mixed.
  uint32_t levels_linear;
  // EITRI_WRAP_…, along each axis.
  uint32_t wrap[3];
  // Least level.
  float least_level;
  // Greatest level.
  float greatest_level;
  // Added to the level.
  float level_bias;
  // Probes along the longer axis, 2 to 16; 0 and 1 are none.
  uint32_t anisotropy;
  // Not 0: a reference is compared with texels, by `compare`.
  uint32_t compares;
  // EITRI_COMPARE_…: the reference, then the texel.
  uint32_t compare;
  // Not 0: coordinates count texels.
  uint32_t counts_texels;
  // The border, for EITRI_WRAP_CLAMP_TO_BORDER: four floats, or integers, by their bits.
  uint32_t border[4];
} EitriSampler;

// The resources that are bound to one set of a graphics pipeline, for each stage that has bindings in it.
typedef struct EitriGraphicsSet {
  // The set of the vertex stage; 0 if it has none.
  uint64_t vertex;
  // The set of the fragment stage; 0 if it has none.
  uint64_t fragment;
} EitriGraphicsSet;

// A buffer that the vertex shader's inputs are read from.
typedef struct EitriVertexBinding {
  // Its number.
  uint32_t binding;
  // Bytes from one element to the next.
  uint32_t stride;
  // 0: an element for each vertex. Otherwise one for each so many instances.
  uint32_t instances;
} EitriVertexBinding;

// An input of the vertex shader.
typedef struct EitriVertexAttribute {
  // Its location.
  uint32_t location;
  // The binding that it is read from.
  uint32_t binding;
  // Bytes from the start of an element.
  uint32_t offset;
  // Vulkan's name of its format in memory: "R32G32B32_SFLOAT".
  const char *format;
} EitriVertexAttribute;

// A test of stencil, of front or back faces. All numbers but `compare`, `fail`, `depth_fail` and `pass` are below 256.
typedef struct EitriStencil {
  // EITRI_COMPARE_…: how the reference has to compare with the value that is there.
  uint32_t compare;
  // EITRI_STENCIL_…, if it does not.
  uint32_t fail;
  // EITRI_STENCIL_…, if it does and the test of depth fails.
  uint32_t depth_fail;
  // EITRI_STENCIL_…, if both are passed.
  uint32_t pass;
  // Bits that are compared.
  uint32_t compare_mask;
  // Bits that are written.
  uint32_t write_mask;
  // What is compared: eitri_pass_set_stencil_reference() changes it.
  uint32_t reference;
} EitriStencil;

// What a graphics pipeline is. All that is 0 is as usual: no buffers, points, no tests.
typedef struct EitriGraphicsPipelineInfo {
  // The vertex shader: what `eitri compile` wrote. Programs stay until the pipeline is destroyed.
  const void *vertex;
  // Its bytes.
  size_t vertex_bytes;
  // The fragment shader; null if there is none.
  const void *fragment;
  // Its bytes.
  size_t fragment_bytes;
  // Buffers of vertices, and how many: at most 16.
  const struct EitriVertexBinding *bindings;
  // How many.
  size_t binding_count;
  // Inputs of the vertex shader: at most 16.
  const struct EitriVertexAttribute *attributes;
  // How many.
  size_t attribute_count;
  // Vulkan's names of the formats of the pass's colours, by location: at most 8.
  const char *const *colors;
  // How many.
  size_t color_count;
  // Not 0: the pass has depth.
  uint32_t has_depth;
  // EITRI_TOPOLOGY_…
  uint32_t topology;
  // EITRI_DEPTH_…
  uint32_t depth;
  // EITRI_BLEND_…, of all colours.
  uint32_t blend;
  // EITRI_CULL_…, or both.
  uint32_t cull;
  // Not 0: front faces have their vertices with the clock, as they are seen.
  uint32_t front_is_clockwise;
  // Samples of a pixel; 0 is as 1.
  uint32_t samples;
  // Not 0: the pass has stencil.
  uint32_t has_stencil;
  // The test of stencil of front faces, and of points and lines; null: there is none.
  const struct EitriStencil *stencil;
  // The test of stencil of back faces; null: it is that of front faces.
  const struct EitriStencil *stencil_back;
  // Not 0: the largest index begins anew.
  uint32_t primitive_restart;
  // Not 0: alpha becomes coverage.
  uint32_t alpha_to_coverage;
  // Not 0: the fragment shader runs for each sample.
  uint32_t sample_shading;
} EitriGraphicsPipelineInfo;

// Shaders of vertices and fragments, with the state of their draws.
typedef struct EitriGraphicsPipeline {
  // 0 names nothing.
  uint64_t id;
} EitriGraphicsPipeline;

// A colour that a pass renders to.
typedef struct EitriColorAttachment {
  // The image.
  struct EitriImage image;
  // Its level.
  uint32_t level;
  // Its layer.
  uint32_t layer;
  // EITRI_LOAD_…
  uint32_t load;
  // Not 0: what is rendered is not kept.
  uint32_t discard;
  // Red, green, blue and alpha at first, for EITRI_LOAD_CLEAR.
  float clear[4];
  // An image with one sample that gets the mean of the samples; 0: none.
  struct EitriImage resolve;
} EitriColorAttachment;

// What a pass renders to. All attachments have the same size and number of samples.
typedef struct EitriRendering {
  // Colours, by location: at most 8.
  const struct EitriColorAttachment *colors;
  // How many.
  size_t color_count;
  // Depth; 0: none.
  struct EitriImage depth;
  // EITRI_LOAD_…, of depth.
  uint32_t depth_load;
  // Not 0: depth is not kept.
  uint32_t depth_discard;
  // Depth at first, for EITRI_LOAD_CLEAR.
  float depth_clear;
  // EITRI_PART_…, of a pass in several parts: all have the same attachments, and each but the first resumes the one before. What
  // the pass loads or clears the first part does, what it resolves the last. 0: the pass is whole.
  uint32_t part;
  // Stencil; 0: none. The same image as depth where its format has both.
  struct EitriImage stencil;
  // EITRI_LOAD_…, of stencil.
  uint32_t stencil_load;
  // Not 0: stencil is not kept.
  uint32_t stencil_discard;
  // Stencil at first, for EITRI_LOAD_CLEAR: below 256.
  uint32_t stencil_clear;
} EitriRendering;

// Vertices and instances of a draw.
typedef struct EitriDraw {
  // Vertices, or indices.
  uint32_t count;
  // Instances; 0 is as 1.
  uint32_t instances;
  // The first vertex, or the first index.
  uint32_t first;
  // What is added to each index.
  int32_t vertex_offset;
  // The first instance.
  uint32_t first_instance;
  // Not 0: vertices are those that the indices name.
  uint32_t indexed;
} EitriDraw;

// Where vertices go: clip coordinates from -1 to 1 to `width` pixels from `x` on, and so on. A negative height turns the picture over.
typedef struct EitriViewport {
  // Left edge.
  float x;
  // Upper edge.
  float y;
  // Pixels along x.
  float width;
  // Pixels along y.
  float height;
  // Depth of what is nearest.
  float near;
  // Depth of what is furthest.
  float far;
} EitriViewport;

// Draws whose numbers lie in a buffer as Vulkan has them: count, instances, first and first instance; of indexed ones count, instances,
// first, vertex offset and first instance.
typedef struct EitriIndirectDraws {
  // The buffer.
  struct EitriBuffer buffer;
  // Where the first one stands, a multiple of 4.
  uint64_t offset;
  // The number of draws in the buffer; with `count`, the most that are drawn.
  uint32_t draws;
  // Bytes from one to the next, a multiple of 4.
  uint32_t stride;
  // The buffer of the word that says how many are drawn of them; 0: all are.
  struct EitriBuffer count;
  // Where that word stands, a multiple of 4.
  uint64_t count_offset;
  // Not 0: vertices are those that the indices name.
  uint32_t indexed;
} EitriIndirectDraws;

// The passes that may run draws: they have all of this alike.
typedef struct EitriInherited {
  // Vulkan's names of the formats of the colours, by location: at most 8.
  const char *const *colors;
  // How many.
  size_t color_count;
  // Pixels along x.
  uint32_t width;
  // Pixels along y.
  uint32_t height;
  // Samples of a pixel; 0 is as 1.
  uint32_t samples;
  // Not 0: there is depth.
  uint32_t has_depth;
  // Not 0: there is stencil.
  uint32_t has_stencil;
} EitriInherited;

// Where in its render passes a submission failed.
typedef struct EitriFailedPass {
  // Number of the pass in its submission, from 0 in the order of recording; clears, blits and resolves of images are passes, too.
  uint32_t pass;
  // How many passes may have failed, from `pass` on: those that ran side by side; 1: it is that pass.
  uint32_t passes;
  // EITRI_PASS_…
  uint32_t part;
  // What the draws were concluded from: EITRI_DRAWS_…
  uint32_t draws_known_by;
  // Number of the first draw that may have failed, from 0 in the order of recording; and of the last.
  uint32_t first_draw;
  // See `first_draw`.
  uint32_t last_draw;
  // How many between them may have failed; 1: it is that draw.
  uint32_t draws;
  // Not 0: `code_part` and `code_offset` say which instruction failed.
  uint32_t has_code;
  // The shader that it is of: EITRI_PASS_…
  uint32_t code_part;
  // Bytes from the start of the shader's code.
  uint32_t code_offset;
  // Not 0: `first_pixel` and `last_pixel` say which pixels were accessed, both in x and y.
  uint32_t has_pixels;
  // The first pixel.
  uint32_t first_pixel[2];
  // The last pixel.
  uint32_t last_pixel[2];
  // Level of the image.
  uint32_t level;
  // Layer of the image, or slice.
  uint32_t layer;
  // The pipeline of the draws, if all have the same; 0: they have several, or it is not known.
  struct EitriGraphicsPipeline pipeline;
} EitriFailedPass;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Brings the GPU up, and opens a device in `memory`, which is aligned to 16 and has EITRI_DEVICE_BYTES(memory of the platform) bytes.
// `firmware` is the vendor's mali_csffw.bin for this GPU. Memory and firmware stay until the device is closed.
//
// `*device` is written whenever `memory` is good: if the GPU does not come up, eitri_error_text() says why.
//
// # Safety
// What `platform` says is true; `memory` and `firmware` have these sizes, and nothing else writes to them.
EitriStatus eitri_open(void *memory,
                       size_t bytes,
                       const struct EitriPlatform *platform,
                       const void *firmware,
                       size_t firmware_bytes,
                       struct EitriDevice **device);

// Stops the GPU and closes the device. What was made of it is gone; its memory, and the GPU's, are the caller's again.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_close(struct EitriDevice *device);

// Says why the last call that answered neither EITRI_STATUS_OK nor EITRI_STATUS_PENDING did not, in one sentence or a few lines of
// UTF-8. The text stays until the next such call.
//
// # Safety
// `device` is null, or what eitri_open() gave.
const char *eitri_error_text(const struct EitriDevice *device);

// Says what the GPU is, and how it is.
//
// # Safety
// `device` is null, or what eitri_open() gave; `info` may be written to.
EitriStatus eitri_get_info(struct EitriDevice *device, struct EitriInfo *info);

// Looks at what the GPU reports, and does what is to be done; never waits. To be called when one of `*lines` (EITRI_LINE_…) is high
// or `*until`, by the platform's clock, has come (all ones: never), whichever is first. eitri_wait() does it by itself.
//
// # Safety
// `device` is null, or what eitri_open() gave; `lines` and `until` are null or may be written to.
EitriStatus eitri_poll(struct EitriDevice *device,
                       uint64_t now,
                       uint32_t *lines,
                       uint64_t *until);

// Makes a queue with an address space of its own. `priority`: 0 low, 1 medium, 2 high, 3 before everything.
//
// # Safety
// `device` is null, or what eitri_open() gave; `queue` and `space` may be written to.
EitriStatus eitri_create_queue(struct EitriDevice *device,
                               uint32_t priority,
                               struct EitriQueue *queue,
                               struct EitriSpace *space);

// Destroys a queue, with its address space. What was made in the space must be gone before, and no job of the queue be in flight.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_queue(struct EitriDevice *device,
                                struct EitriQueue queue);

// Ends the jobs of a queue that are in flight, and the queue with them.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_cancel(struct EitriDevice *device, struct EitriQueue queue);

// Waits for a job, for so many nanoseconds at most: EITRI_STATUS_OK if it is done, EITRI_STATUS_PENDING if it is not yet,
// EITRI_STATUS_JOB_FAILED with a text, EITRI_STATUS_GONE if nothing is known of it.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_wait(struct EitriDevice *device,
                       struct EitriFence fence,
                       uint64_t limit);

// Says what became of a job, as eitri_wait() does, without waiting.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_get_status(struct EitriDevice *device, struct EitriFence fence);

// Forgets a job that has failed: until then its failure takes the place of a job.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_discard(struct EitriDevice *device, struct EitriFence fence);

// Makes a buffer of so many bytes in an address space, full of zeros.
//
// # Safety
// `device` is null, or what eitri_open() gave; `buffer` may be written to.
EitriStatus eitri_create_buffer(struct EitriDevice *device,
                                struct EitriSpace space,
                                uint64_t bytes,
                                struct EitriBuffer *buffer);

// Makes a buffer of memory of the caller's: `bytes` from `bus_address` on, both multiples of 4096, inside of what the platform lends
// (`lent_bus_address`). It holds what it held. Caches of the CPU are the caller's to see to; eitri_read_buffer() and
// eitri_write_buffer() don't reach it.
//
// # Safety
// `device` is null, or what eitri_open() gave; `buffer` may be written to.
EitriStatus eitri_import_buffer(struct EitriDevice *device,
                                struct EitriSpace space,
                                uint64_t bus_address,
                                uint64_t bytes,
                                struct EitriBuffer *buffer);

// Destroys a buffer that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_buffer(struct EitriDevice *device, struct EitriBuffer buffer);

// Writes bytes into a buffer; `offset` is a multiple of 4.
//
// # Safety
// `device` is null, or what eitri_open() gave; `data` has so many bytes.
EitriStatus eitri_write_buffer(struct EitriDevice *device,
                               struct EitriBuffer buffer,
                               uint64_t offset,
                               const void *data,
                               size_t bytes);

// Reads bytes of a buffer; `offset` is a multiple of 4. What jobs that are done have written is seen.
//
// # Safety
// `device` is null, or what eitri_open() gave; `data` has so many bytes.
EitriStatus eitri_read_buffer(struct EitriDevice *device,
                              struct EitriBuffer buffer,
                              uint64_t offset,
                              void *data,
                              size_t bytes);

// Runs a compute shader once, and waits for it. Everything that it needs is made before and given back after.
//
// # Safety
// `device` is null, or what eitri_open() gave; what `run` leads to has the sizes that it says.
EitriStatus eitri_run(struct EitriDevice *device,
                      const struct EitriRun *run);

// Makes a pipeline of a compute shader that `eitri compile` wrote. The program stays until the pipeline is destroyed.
//
// # Safety
// `device` is null, or what eitri_open() gave; `program` has so many bytes; `pipeline` may be written to.
EitriStatus eitri_create_pipeline(struct EitriDevice *device,
                                  struct EitriSpace space,
                                  const void *program,
                                  size_t program_bytes,
                                  struct EitriPipeline *pipeline);

// Destroys a pipeline that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_pipeline(struct EitriDevice *device, struct EitriPipeline pipeline);

// Makes the set of this number of a pipeline's bindings, with nothing bound.
//
// # Safety
// `device` is null, or what eitri_open() gave; `set` may be written to.
EitriStatus eitri_create_set(struct EitriDevice *device,
                             struct EitriPipeline pipeline,
                             uint32_t number,
                             struct EitriSet *set);

// Destroys a set that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_set(struct EitriDevice *device, struct EitriSet set);

// Binds bytes of a buffer, from `offset` on (a multiple of 16), to a binding of a set. Commands that were recorded with the set are
// recorded again.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_bind_buffer(struct EitriDevice *device,
                              struct EitriSet set,
                              uint32_t binding,
                              struct EitriBuffer buffer,
                              uint64_t offset,
                              uint64_t bytes);

// Makes commands, with nothing recorded.
//
// # Safety
// `device` is null, or what eitri_open() gave; `commands` may be written to.
EitriStatus eitri_create_commands(struct EitriDevice *device,
                                  struct EitriSpace space,
                                  struct EitriCommands *commands);

// Destroys commands that are not in flight.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_commands(struct EitriDevice *device, struct EitriCommands commands);

// Records commands in place of what they held: `record` is called once, with `context`, and calls the eitri_cmd_… functions on the
// recorder. If one of those is refused, what follows is not recorded, and eitri_record() answers the first refusal.
//
// # Safety
// `device` is null, or what eitri_open() gave; `record` may be called with `context`, returns, and keeps no recorder.
EitriStatus eitri_record(struct EitriDevice *device,
                         struct EitriCommands commands,
                         void (*record)(struct EitriRecorder *recorder, void *context),
                         void *context);

// Uses a pipeline for the dispatches that follow.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_bind_pipeline(struct EitriRecorder *recorder, struct EitriPipeline pipeline);

// Uses a set for the dispatches that follow.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_bind_set(struct EitriRecorder *recorder, struct EitriSet set);

// Uses these push constants for the dispatches that follow; `bytes` is a multiple of 4.
//
// # Safety
// `recorder` is what the function that records was given; `data` has so many bytes.
EitriStatus eitri_cmd_push_constants(struct EitriRecorder *recorder,
                                     const void *data,
                                     size_t bytes);

// Runs so many workgroups.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_dispatch(struct EitriRecorder *recorder, uint32_t x, uint32_t y, uint32_t z);

// Runs as many workgroups as three words of a buffer say when the commands run.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_dispatch_indirect(struct EitriRecorder *recorder,
                                        struct EitriBuffer counts,
                                        uint64_t offset);

// Orders commands: what those before do (EITRI_ACCESS_…, or of several) comes before what those after do, and is seen by them.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_barrier(struct EitriRecorder *recorder,
                              uint32_t before,
                              uint32_t after);

// Copies bytes from one buffer to another, whatever they are multiples of. Parts of one buffer must not overlap.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_copy_buffer(struct EitriRecorder *recorder,
                                  struct EitriBuffer from,
                                  uint64_t from_offset,
                                  struct EitriBuffer to,
                                  uint64_t to_offset,
                                  uint64_t bytes);

// Submits commands to a queue: they run when those before them allow it. `fence` names the job.
//
// # Safety
// `device` is null, or what eitri_open() gave; `fence` may be written to.
EitriStatus eitri_submit(struct EitriDevice *device,
                         struct EitriQueue queue,
                         struct EitriCommands commands,
                         struct EitriFence *fence);

// Fills `bytes` of a buffer from `offset` on with a word; both are multiples of 4. EITRI_ACCESS_COPIES orders it.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_fill_buffer(struct EitriRecorder *recorder,
                                  struct EitriBuffer buffer,
                                  uint64_t offset,
                                  uint64_t bytes,
                                  uint32_t word);

// Writes bytes, which the commands keep, into a buffer at `offset`; both are multiples of 4. EITRI_ACCESS_COPIES orders it.
//
// # Safety
// `recorder` is what the function that records was given; `data` has so many bytes.
EitriStatus eitri_cmd_update_buffer(struct EitriRecorder *recorder,
                                    struct EitriBuffer buffer,
                                    uint64_t offset,
                                    const void *data,
                                    size_t bytes);

// Makes an event, which is not set.
//
// # Safety
// `device` is null, or what eitri_open() gave; `event` may be written to.
EitriStatus eitri_create_event(struct EitriDevice *device,
                               struct EitriSpace space,
                               struct EitriEvent *event);

// Destroys an event that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_event(struct EitriDevice *device, struct EitriEvent event);

// Sets an event: commands that wait for it go on.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_set_event(struct EitriDevice *device, struct EitriEvent event);

// Resets an event.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_reset_event(struct EitriDevice *device, struct EitriEvent event);

// Says whether an event is set: `*is_set` is 1 or 0.
//
// # Safety
// `device` is null, or what eitri_open() gave; `is_set` may be written to.
EitriStatus eitri_get_event(struct EitriDevice *device, struct EitriEvent event, uint32_t *is_set);

// Sets an event when all commands before are done.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_set_event(struct EitriRecorder *recorder, struct EitriEvent event);

// Resets an event when all commands before are done.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_reset_event(struct EitriRecorder *recorder, struct EitriEvent event);

// Lets no command that comes after begin before an event is set.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_wait_event(struct EitriRecorder *recorder, struct EitriEvent event);

// Makes a semaphore with a value.
//
// # Safety
// `device` is null, or what eitri_open() gave; `semaphore` may be written to.
EitriStatus eitri_create_semaphore(struct EitriDevice *device,
                                   uint64_t value,
                                   struct EitriSemaphore *semaphore);

// Destroys a semaphore that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_semaphore(struct EitriDevice *device, struct EitriSemaphore semaphore);

// Lets the queues of a space wait for a semaphore and, if `signals` is not 0, signal it. Once for each space.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_map_semaphore(struct EitriDevice *device,
                                struct EitriSemaphore semaphore,
                                struct EitriSpace space,
                                uint32_t signals);

// Says what value a semaphore has.
//
// # Safety
// `device` is null, or what eitri_open() gave; `value` may be written to.
EitriStatus eitri_get_semaphore_value(struct EitriDevice *device,
                                      struct EitriSemaphore semaphore,
                                      uint64_t *value);

// Gives a semaphore a value, if its own is smaller: jobs that wait for it go on.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_signal_semaphore(struct EitriDevice *device,
                                   struct EitriSemaphore semaphore,
                                   uint64_t value);

// Waits until a semaphore has a value, or a larger one, for so many nanoseconds at most: EITRI_STATUS_OK if it has, EITRI_STATUS_PENDING
// if not yet.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_wait_semaphore(struct EitriDevice *device,
                                 struct EitriSemaphore semaphore,
                                 uint64_t value,
                                 uint64_t limit);

// As eitri_submit(), with semaphores that the job waits for and signals.
//
// # Safety
// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says; `fence` may be written to.
EitriStatus eitri_submit_with(struct EitriDevice *device,
                              struct EitriQueue queue,
                              struct EitriCommands commands,
                              const struct EitriSubmit *info,
                              struct EitriFence *fence);

// Makes so many queries, without results.
//
// # Safety
// `device` is null, or what eitri_open() gave; `queries` may be written to.
EitriStatus eitri_create_queries(struct EitriDevice *device,
                                 struct EitriSpace space,
                                 uint32_t count,
                                 struct EitriQueries *queries);

// Destroys queries that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_queries(struct EitriDevice *device, struct EitriQueries queries);

// Reads the results of `count` queries from `first` on.
//
// # Safety
// `device` is null, or what eitri_open() gave; `results` has so many.
EitriStatus eitri_get_query_results(struct EitriDevice *device,
                                    struct EitriQueries queries,
                                    uint32_t first,
                                    struct EitriQueryResult *results,
                                    uint32_t count);

// Forgets the results of `count` queries from `first` on: a query is reset before it gets another result. No job in flight uses them.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_reset_queries(struct EitriDevice *device,
                                struct EitriQueries queries,
                                uint32_t first,
                                uint32_t count);

// Forgets them when what was asked of them before is done.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_reset_queries(struct EitriRecorder *recorder,
                                    struct EitriQueries queries,
                                    uint32_t first,
                                    uint32_t count);

// Stores the time when all commands before are done: ticks of the system's counter.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_write_timestamp(struct EitriRecorder *recorder,
                                      struct EitriQueries queries,
                                      uint32_t query);

// Copies results of `count` queries from `first` on into a buffer, 8 bytes each; waits for those that are not there yet.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_copy_query_results(struct EitriRecorder *recorder,
                                         struct EitriQueries queries,
                                         uint32_t first,
                                         uint32_t count,
                                         struct EitriBuffer buffer,
                                         uint64_t offset);

// Writes a core dump of the GPU: registers, the firmware's interface, all memory that is mapped, and the jobs in flight. `overdue`
// names the job that has run out of time, if that is why; else it is null. Nothing is changed.
//
// # Safety
// `device` is null, or what eitri_open() gave; `overdue` is null, or there; `sink` is there, and its function may be called with its
// context.
EitriStatus eitri_dump(struct EitriDevice *device,
                       const struct EitriFence *overdue,
                       const struct EitriSink *sink);

// As eitri_wait(); but when the GPU reports a failure, or the job is not done in time, a core dump is written first, while everything
// is as it was. `*dumped` is one of EITRI_DUMP_….
//
// # Safety
// `device` is null, or what eitri_open() gave; `sink` is there, and its function may be called with its context; `dumped` may be
// written to.
EitriStatus eitri_wait_or_dump(struct EitriDevice *device,
                               struct EitriFence fence,
                               uint64_t limit,
                               const struct EitriSink *sink,
                               uint32_t *dumped);

// Makes an image of two dimensions, full of zeros.
//
// # Safety
// `device` is null, or what eitri_open() gave; `info` is there, and its name ends with a zero; `image` may be written to.
EitriStatus eitri_create_image(struct EitriDevice *device,
                               struct EitriSpace space,
                               const struct EitriImageInfo *info,
                               struct EitriImage *image);

// Destroys an image that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_image(struct EitriDevice *device, struct EitriImage image);

// Writes all texels of a level of a layer, row by row without gaps.
//
// # Safety
// `device` is null, or what eitri_open() gave; `texels` has so many bytes.
EitriStatus eitri_write_image(struct EitriDevice *device,
                              struct EitriImage image,
                              uint32_t level,
                              uint32_t layer,
                              const void *texels,
                              size_t bytes);

// Reads all texels of a level of a layer, row by row without gaps. What jobs that are done have written is seen.
//
// # Safety
// `device` is null, or what eitri_open() gave; `texels` has so many bytes.
EitriStatus eitri_read_image(struct EitriDevice *device,
                             struct EitriImage image,
                             uint32_t level,
                             uint32_t layer,
                             void *texels,
                             size_t bytes);

// Binds all of an image to a binding of a compute shader's set, to be sampled or as a storage image, whichever the shader has there.
// Commands that were recorded with the set are recorded again.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_bind_image(struct EitriDevice *device,
                             struct EitriSet set,
                             uint32_t binding,
                             struct EitriImage image);

// Makes memory for the tiler of a queue, in the queue's space, and gives it to the queue: without it the queue draws nothing.
// `chunks` of 2 MiB at first and `most_chunks` at most; both 0: as most need, 5 and 64.
//
// # Safety
// `device` is null, or what eitri_open() gave; `heap` may be written to.
EitriStatus eitri_create_tiler_heap(struct EitriDevice *device,
                                    struct EitriQueue queue,
                                    uint32_t chunks,
                                    uint32_t most_chunks,
                                    struct EitriTilerHeap *heap);

// Destroys a tiler's memory; its queue has no job in flight.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_tiler_heap(struct EitriDevice *device, struct EitriTilerHeap heap);

// Gives a heap chunks to grow by, after it has grown. To be called now and then where scenes grow.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_refill_tiler_heap(struct EitriDevice *device, struct EitriTilerHeap heap);

// Makes an image in memory of the caller's, with one level, one layer and one sample: a display's picture, which is `linear`. It holds
// what the memory holds. eitri_read_image() and eitri_write_image() don't reach it: call eitri_get_scan_out() before the CPU reads the
// texels where they lie, and eitri_imported_image_changed() after it has written some.
//
// # Safety
// `device` is null, or what eitri_open() gave; `info` and `place` are there, and the format's name ends with a zero; `image` may be
// written to.
EitriStatus eitri_import_image(struct EitriDevice *device,
                               struct EitriSpace space,
                               const struct EitriImageInfo *info,
                               const struct EitriPlacement *place,
                               struct EitriImage *image);

// Lets jobs that are submitted from here on see what the caller has written into the memory of an imported image.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_imported_image_changed(struct EitriDevice *device,
                                         struct EitriImage image);

// Says where a display finds the first level of an image that is `linear`, after what jobs that are done have drawn was written to
// memory.
//
// # Safety
// `device` is null, or what eitri_open() gave; `scan_out` may be written to.
EitriStatus eitri_get_scan_out(struct EitriDevice *device,
                               struct EitriImage image,
                               struct EitriScanOut *scan_out);

// Copies texels from a buffer, from `offset` on, to an image. `row_length` texels lie from one row in the buffer to the next; 0: as
// many as are copied. EITRI_ACCESS_COPIES orders it.
//
// # Safety
// `recorder` is what the function that records was given; `to` is there.
EitriStatus eitri_cmd_copy_buffer_to_image(struct EitriRecorder *recorder,
                                           struct EitriBuffer from,
                                           uint64_t offset,
                                           uint32_t row_length,
                                           const struct EitriRegion *to);

// Copies texels from an image to a buffer, as eitri_cmd_copy_buffer_to_image() does the other way.
//
// # Safety
// `recorder` is what the function that records was given; `from` is there.
EitriStatus eitri_cmd_copy_image_to_buffer(struct EitriRecorder *recorder,
                                           const struct EitriRegion *from,
                                           struct EitriBuffer to,
                                           uint64_t offset,
                                           uint32_t row_length);

// Copies texels of one image to another, bit by bit: their texels have as many bytes. Width, height and layers are those of `from`.
// EITRI_ACCESS_COPIES orders it.
//
// # Safety
// `recorder` is what the function that records was given; `from` and `to` are there.
EitriStatus eitri_cmd_copy_image(struct EitriRecorder *recorder,
                                 const struct EitriRegion *from,
                                 const struct EitriRegion *to);

// Scales texels of one image to a region of another, and converts them to its format: from the nearest texel, or `linear`ly mixed. It
// is a pass: EITRI_ACCESS_ATTACHMENTS orders what is written, EITRI_ACCESS_SHADERS what is read.
//
// # Safety
// `recorder` is what the function that records was given; `from` and `to` are there.
EitriStatus eitri_cmd_blit_image(struct EitriRecorder *recorder,
                                 const struct EitriRegion *from,
                                 const struct EitriRegion *to,
                                 uint32_t linear);

// Clears all levels and layers of an image to a colour: red, green, blue and alpha. It is a pass: EITRI_ACCESS_ATTACHMENTS orders it.
//
// # Safety
// `recorder` is what the function that records was given; `color` has four components.
EitriStatus eitri_cmd_clear_image(struct EitriRecorder *recorder,
                                  struct EitriImage image,
                                  const float *color);

// Makes all levels of an image from its first one. It is ordered as eitri_cmd_blit_image() is.
//
// # Safety
// `recorder` is what the function that records was given.
EitriStatus eitri_cmd_generate_levels(struct EitriRecorder *recorder, struct EitriImage image);

// Binds a sampler to a binding of a compute shader's set. Commands that were recorded with the set are recorded again.
//
// # Safety
// `device` is null, or what eitri_open() gave; `sampler` is there.
EitriStatus eitri_bind_sampler(struct EitriDevice *device,
                               struct EitriSet set,
                               uint32_t binding,
                               const struct EitriSampler *sampler);

// Binds a sampler, in every stage that has the binding.
//
// # Safety
// `device` is null, or what eitri_open() gave; `sampler` is there.
EitriStatus eitri_bind_graphics_sampler(struct EitriDevice *device,
                                        struct EitriGraphicsSet set,
                                        uint32_t binding,
                                        const struct EitriSampler *sampler);

// Makes a graphics pipeline.
//
// # Safety
// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says, and names end with a zero; `pipeline`
// may be written to.
EitriStatus eitri_create_graphics_pipeline(struct EitriDevice *device,
                                           struct EitriSpace space,
                                           const struct EitriGraphicsPipelineInfo *info,
                                           struct EitriGraphicsPipeline *pipeline);

// Destroys a graphics pipeline that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_graphics_pipeline(struct EitriDevice *device,
                                            struct EitriGraphicsPipeline pipeline);

// Makes the set of this number of a graphics pipeline's bindings, with nothing bound.
//
// # Safety
// `device` is null, or what eitri_open() gave; `set` may be written to.
EitriStatus eitri_create_graphics_set(struct EitriDevice *device,
                                      struct EitriGraphicsPipeline pipeline,
                                      uint32_t number,
                                      struct EitriGraphicsSet *set);

// Destroys a set that no job in flight uses.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_destroy_graphics_set(struct EitriDevice *device, struct EitriGraphicsSet set);

// Binds bytes of a buffer, from `offset` on (a multiple of 16), in every stage that has the binding.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_bind_graphics_buffer(struct EitriDevice *device,
                                       struct EitriGraphicsSet set,
                                       uint32_t binding,
                                       struct EitriBuffer buffer,
                                       uint64_t offset,
                                       uint64_t bytes);

// Binds all of an image to be sampled, in every stage that has the binding.
//
// # Safety
// `device` is null, or what eitri_open() gave.
EitriStatus eitri_bind_graphics_image(struct EitriDevice *device,
                                      struct EitriGraphicsSet set,
                                      uint32_t binding,
                                      struct EitriImage image);

// Records a render pass: `draw` is called once, with `context`, and calls the eitri_pass_… functions on the pass. Nothing is bound at
// first; viewport and scissor are all of the attachments. Null: the pass clears alone.
//
// # Safety
// `recorder` is what the function that records was given; what `info` leads to has the sizes that it says; `draw` is null, or may be
// called with `context`, returns, and keeps no pass.
EitriStatus eitri_cmd_render(struct EitriRecorder *recorder,
                             const struct EitriRendering *info,
                             void (*draw)(struct EitriPass *pass, void *context),
                             void *context);

// Lets each draw that follows begin when the vertices of the one before are through: for eitri_get_failed_pass(), which then knows the
// draw whose vertices fail or hang. It costs that draws overlap.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_draw_in_turn(struct EitriPass *pass);

// Uses a pipeline for the draws that follow.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_bind_pipeline(struct EitriPass *pass, struct EitriGraphicsPipeline pipeline);

// Uses a set for the draws that follow.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_bind_set(struct EitriPass *pass, struct EitriGraphicsSet set);

// Uses these push constants, from byte `offset` on, for the draws that follow; both are multiples of 4.
//
// # Safety
// `pass` is what the function that draws was given; `data` has so many bytes.
EitriStatus eitri_pass_push_constants(struct EitriPass *pass,
                                      size_t offset,
                                      const void *data,
                                      size_t bytes);

// Reads the elements of a binding from `offset` on of a buffer.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_bind_vertices(struct EitriPass *pass,
                                     uint32_t binding,
                                     struct EitriBuffer buffer,
                                     uint64_t offset);

// Reads indices of `index_bytes` (1, 2 or 4) from `offset` on of a buffer.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_bind_indices(struct EitriPass *pass,
                                    struct EitriBuffer buffer,
                                    uint64_t offset,
                                    uint32_t index_bytes);

// Draws.
//
// # Safety
// `pass` is what the function that draws was given; `draw` is there.
EitriStatus eitri_pass_draw(struct EitriPass *pass, const struct EitriDraw *draw);

// Sets the viewport of the draws that follow.
//
// # Safety
// `pass` is what the function that draws was given; `viewport` is there.
EitriStatus eitri_pass_set_viewport(struct EitriPass *pass, const struct EitriViewport *viewport);

// Sets the pixels that the draws that follow may touch.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_set_scissor(struct EitriPass *pass,
                                   int32_t x,
                                   int32_t y,
                                   uint32_t width,
                                   uint32_t height);

// Sets what the tests of stencil compare with, and replace by, for front and back faces; both are below 256.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_set_stencil_reference(struct EitriPass *pass,
                                             uint32_t front,
                                             uint32_t back);

// Draws as often, and as many, as a buffer says. EITRI_ACCESS_DRAWS orders what is read.
//
// # Safety
// `pass` is what the function that draws was given; `draws` is there.
EitriStatus eitri_pass_draw_indirect(struct EitriPass *pass,
                                     const struct EitriIndirectDraws *draws);

// Lets what is drawn from here on be drawn only if a word of a buffer is not 0, or if it is 0 where `inverted` is not 0.
// EITRI_ACCESS_DRAWS orders what is read.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_begin_conditional(struct EitriPass *pass,
                                         struct EitriBuffer buffer,
                                         uint64_t offset,
                                         uint32_t inverted);

// Lets everything be drawn again.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_end_conditional(struct EitriPass *pass);

// Begins to count the samples that pass the tests of depth and stencil, into a query that was reset: as many as pass if `exact` is not
// 0, else 1 if any does.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_begin_query(struct EitriPass *pass,
                                   struct EitriQueries queries,
                                   uint32_t query,
                                   uint32_t exact);

// Ends counting: the result is there when the pass is done.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_end_query(struct EitriPass *pass);

// Stores the time when the pass is done: ticks of the system's counter.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_write_timestamp(struct EitriPass *pass,
                                       struct EitriQueries queries,
                                       uint32_t query);

// Records draws in place of what commands held: `draw` is called once, with `context`, and calls the eitri_pass_… functions on the
// pass. Passes run them by eitri_pass_execute(); passes that do are to be recorded again when the draws are.
//
// # Safety
// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says; `draw` may be called with `context`,
// returns, and keeps no pass.
EitriStatus eitri_record_draws(struct EitriDevice *device,
                               struct EitriCommands commands,
                               const struct EitriInherited *info,
                               void (*draw)(struct EitriPass *pass, void *context),
                               void *context);

// Draws what eitri_record_draws() has recorded, as if it stood here. What is bound here is not bound there, and is here again behind
// it.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_execute(struct EitriPass *pass,
                               struct EitriCommands draws);

// Orders draws: what those before have written to attachments those after read of them at the same pixel, as input attachments. It
// costs nothing.
//
// # Safety
// `pass` is what the function that draws was given.
EitriStatus eitri_pass_barrier(struct EitriPass *pass);

// Tells where in its render passes a failed job failed, before eitri_discard(): EITRI_STATUS_OK if that could be found out, else
// EITRI_STATUS_GONE. eitri_error_text() of eitri_wait() has the same in words.
//
// # Safety
// `device` is null, or what eitri_open() gave; `failed` may be written to.
EitriStatus eitri_get_failed_pass(struct EitriDevice *device,
                                  struct EitriFence fence,
                                  struct EitriFailedPass *failed);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* EITRI_H */

/* Bytes of the memory of eitri_open() for so many bytes of the GPU's memory: a bit for each page of those, besides the device. */
#define EITRI_DEVICE_BYTES(gpu_memory_bytes) \
    (EITRI_DEVICE_FIXED_BYTES + (((size_t)(gpu_memory_bytes) / 4096 + 63) / 64) * 8)
