//! Render passes on the whole device: what few captures draw. Descriptors are packed here, programs are assembly.
//!
//! Each pass draws on a target of 16 by 16 32-bit integers and a depth target of floats: rectangles by RUN_FULLSCREEN, and what
//! vertices make by RUN_IDVS.
//!
//! Facts: hardware/graphics-model.md 4; graphics-framebuffer.md 5.1, 5.10; graphics-raster.md 4.6, 4.9; graphics-draw.md 3.17.

mod assembly_vectors;
#[path = "../bench/mod.rs"]
mod bench;
mod blend_vectors;
mod faults;
mod format_vectors;
mod frame_shaders;
mod interrupted;
mod rectangles;
mod samples;
mod size_vectors;
mod stored_vectors;
#[path = "../vector_files/mod.rs"]
mod vector_files;
mod vectors;
mod vertices;

use bench::Bench;
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{
    FinishTiling, HeapSet, Instr as Command, Move32, ReqResource, RunFragment, RunFullscreen,
    RunIdvs, SetExceptionHandler, SetSbEntry, SyncAdd64, Wait,
};
use eitri_cs::{Pair, Reg, Slot, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::framebuffer::{
    BlockFormat, FramebufferParameters, Msaa, PrePostFrameShaderMode, SFormat, STarget,
    SamplePattern, TieBreakRule, ZInternalFormat, ZsFormat, ZsTarget,
};
use eitri_descriptors::raster::{DcdFlags0, DepthStencil, Draw, PixelKill};
use eitri_descriptors::shader::{Preload, ShaderEnvironment, ShaderProgram, ShaderStage};
use eitri_descriptors::target::{
    ColorBufferInternalFormat, ColorFormat, RgbRenderTarget, RtBuffer, RtClear,
};
use eitri_descriptors::texture::Func;
use eitri_descriptors::tiler::{TilerContext, TilerHeap};
use eitri_descriptors::{Address, Aligned, Arch, Descriptor, Swizzle};
use eitri_isa::{Instr, Syntax};
use eitri_model::{Aim, Injection};

pub const ARCH: Arch = Arch::V10;

/// Pixels along a side of the target; one tile.
pub const SIDE: u32 = 16;
/// Bytes of a row, and of a surface, of both targets.
const ROW: u32 = 4 * SIDE;
const SURFACE: u32 = ROW * SIDE;

pub const COLOUR: u64 = 0x2000_0000;
const DEPTH: u64 = 0x2010_0000;
const STENCIL: u64 = DEPTH + 0x800;
/// A buffer for programs.
pub const BUFFER: u64 = 0x2020_0000;
pub const DONE: u64 = 0x2100_0000;
/// Where further colour targets lie.
const OTHERS: u64 = 0x2200_0000;
pub const HEAP: u64 = 0x3000_0000;
const CHUNK: u64 = 0x20_0000;
const HEAP_CONTEXT: u64 = 0x3100_0000;
/// Where an exception handler lies.
pub const HANDLER: u64 = 0x3200_0000;
const CODE: u64 = 0x4000_0000;
const TABLES: u64 = 0x4100_0000;

pub const FRAMEBUFFER: u64 = TABLES;
const FRAME_SHADERS: u64 = TABLES + 0x800;
pub const TILER: u64 = TABLES + 0xa00;
const TILER_HEAP: u64 = TABLES + 0xa80;
pub const SAMPLE_POSITIONS: u64 = TABLES + 0xb00;
const BLEND: u64 = TABLES + 0xc00;
const UNIFORMS: u64 = TABLES + 0xd00;
const DRAWS: u64 = TABLES + 0x1000;
const PROGRAMS: u64 = TABLES + 0x2000;
const DEPTH_STENCILS: u64 = TABLES + 0x3000;

/// Words 2 and 3 of a BLEND descriptor that stores 32-bit integers without change.
pub const STORE: [u32; 2] = [0x19, 0x0308_5000];
/// What the colour target is cleared to.
pub const CLEAR: u32 = 0x0102_0304;

/// What a draw has vertices of, whose positions the buffer holds: x, y, z and 1/w of each, by number.
#[derive(Clone)]
pub struct Vertices {
    /// The topology's number.
    pub mode: u32,
    pub count: u32,
    /// Assembly of the position program.
    pub program: &'static str,
    /// Width of lines, size of points.
    pub size: f32,
    /// Bits of the primitive flags beside the topology, the view mask and the index type.
    pub flags: u32,
    /// Indices of vertices; `None`: the vertices from 0 on.
    pub indices: Option<IndexBuffer>,
}

/// Where indices of vertices lie.
#[derive(Clone, Copy)]
pub struct IndexBuffer {
    pub address: u64,
    /// Bytes of an index: 1, 2 or 4.
    pub index_bytes: u32,
    /// Bytes of the buffer.
    pub bytes: u32,
}

/// A draw: its program and what of its state is not usual.
#[derive(Clone)]
pub struct Rectangle {
    /// `None`: the draw covers its scissor.
    pub vertices: Option<Vertices>,
    /// Assembly; empty: no program.
    pub program: &'static str,
    pub flags: DcdFlags0,
    pub depth: DepthStencil,
    /// Bounds of depth.
    pub range: [f32; 2],
    /// First and last pixel.
    pub scissor: [[u32; 2]; 2],
    /// A bit each layer.
    pub layers: u32,
    /// Where samples are counted, if the flags ask for it.
    pub occlusion: u64,
}

impl Default for Rectangle {
    fn default() -> Rectangle {
        Rectangle {
            vertices: None,
            program: "",
            flags: DcdFlags0 {
                multisample_enable: true,
                pixel_kill_operation: PixelKill::ForceEarly,
                zs_update_operation: PixelKill::ForceEarly,
                ..DcdFlags0::default()
            },
            depth: DepthStencil {
                depth_function: Func::Always,
                depth_cull_enable: false,
                ..DepthStencil::default()
            },
            range: [0.0, 1.0],
            scissor: [[0, 0], [SIDE - 1, SIDE - 1]],
            layers: 1,
            occlusion: 0,
        }
    }
}

/// A pass: what it draws, and its framebuffer where that is not usual.
#[derive(Clone)]
pub struct Pass {
    /// The product, of v10.
    pub gpu: &'static str,
    /// Where the first target's first layer lies.
    pub target: u64,
    /// Pixels of the framebuffer; the helpers of [`Drawn`] know the usual size alone.
    pub size: [u32; 2],
    /// Pixels of a tile, and bytes of the colour buffer for it; `None`: as many as the targets take.
    pub tile: u32,
    pub allocation: Option<u32>,
    /// Sizes of bins.
    pub hierarchy: u32,
    /// First and last pixels of what is rendered; all of the framebuffer if there is none.
    pub boxes: Vec<[[u32; 2]; 2]>,
    /// Whether depth and stencil are written to memory.
    pub writes_zs: bool,
    /// Further colour targets, which are cleared: their formats, and words that they are cleared to.
    pub others: Vec<Other>,
    pub samples: u32,
    pub layers: u32,
    pub uniforms: Vec<u32>,
    /// Frame shaders: slot, mode, draw.
    pub frames: Vec<(usize, PrePostFrameShaderMode, Rectangle)>,
    pub draws: Vec<Rectangle>,
    /// Whether tiles that nothing draws on are written.
    pub clean_tiles: bool,
    pub depth_clear: f32,
    /// Depth in the tile and in memory.
    pub depth_format: (ZInternalFormat, ZsFormat),
    pub stencil_clear: u32,
    /// Positions of samples where there are several.
    pub pattern: SamplePattern,
    pub tie: TieBreakRule,
    /// The first vertex of a primitive provokes, not the last.
    pub first_provoking: bool,
    pub colour: Colour,
    /// Bytes of the tiler heap's only chunk.
    pub chunk: u64,
    /// Bytes of the buffer for programs.
    pub buffer: u64,
    /// Instructions of an exception handler, which lie at [`HANDLER`]; none is installed if there are none.
    pub handler: Vec<u64>,
    /// Shader cores that the group may use; the product's if 0.
    pub cores: u64,
}

/// The colour target and its BLEND descriptor.
#[derive(Clone)]
pub struct Colour {
    pub internal: ColorBufferInternalFormat,
    pub format: ColorFormat,
    pub clear: u32,
    pub blend: [u32; 4],
}

impl Default for Colour {
    fn default() -> Colour {
        Colour {
            internal: ColorBufferInternalFormat::RAW32,
            format: ColorFormat::RAW32,
            clear: CLEAR,
            blend: [1 << 9, 0xf012_2122, STORE[0], STORE[1]],
        }
    }
}

/// A further colour target, of raw bits.
#[derive(Clone, Copy)]
pub struct Other {
    pub internal: ColorBufferInternalFormat,
    pub format: ColorFormat,
    /// Bytes of a pixel.
    pub bytes: u32,
    pub clear: [u32; 4],
}

impl Other {
    /// Where the target of this number lies, from 0 on.
    pub fn address(number: usize) -> u64 {
        OTHERS + 0x10_0000 * number as u64
    }
}

impl Default for Pass {
    fn default() -> Pass {
        Pass {
            gpu: "G610",
            target: COLOUR,
            size: [SIDE; 2],
            tile: SIDE * SIDE,
            allocation: None,
            hierarchy: 0xff,
            boxes: Vec::new(),
            writes_zs: true,
            others: Vec::new(),
            samples: 1,
            layers: 1,
            uniforms: Vec::new(),
            frames: Vec::new(),
            draws: Vec::new(),
            clean_tiles: true,
            depth_clear: 1.0,
            depth_format: (ZInternalFormat::D32, ZsFormat::D32),
            stencil_clear: 0,
            pattern: SamplePattern::Rotated4xGrid,
            tie: TieBreakRule::Minus180In0Out,
            first_provoking: false,
            colour: Colour::default(),
            chunk: CHUNK,
            buffer: 0x1_0000,
            handler: Vec::new(),
            cores: 0,
        }
    }
}

/// A pass that has run.
pub struct Drawn {
    pub bench: Bench,
}

impl Drawn {
    /// A pixel's sample of a layer.
    pub fn colour(&mut self, [x, y]: [u32; 2], sample: u32, layer: u32) -> u32 {
        let at = (16 * layer + sample) * SURFACE + y * ROW + 4 * x;
        self.bench.get32(1, COLOUR + u64::from(at))
    }

    /// A pixel of the first layer, whose format has so many bytes.
    pub fn texel(&mut self, [x, y]: [u32; 2], bytes: u32) -> u32 {
        let at = y * ROW + bytes * x;
        let word = self.bench.get32(1, COLOUR + u64::from(at & !3));
        word >> (8 * (at & 3)) & (u32::MAX >> (32 - 8 * bytes))
    }

    pub fn depth(&mut self, [x, y]: [u32; 2]) -> f32 {
        f32::from_bits(self.depth_code([x, y], 4))
    }

    /// The code of depth in a format of so many bytes.
    pub fn depth_code(&mut self, [x, y]: [u32; 2], bytes: u32) -> u32 {
        let at = y * ROW + bytes * x;
        let word = self.bench.get32(1, DEPTH + u64::from(at & !3));
        word >> (8 * (at & 3)) & (u32::MAX >> (32 - 8 * bytes))
    }

    pub fn stencil(&mut self, [x, y]: [u32; 2]) -> u32 {
        let at = y * SIDE + x;
        let word = self.bench.get32(1, STENCIL + u64::from(at & !3));
        word >> (8 * (at & 3)) & 0xff
    }
}

/// All pixels.
pub fn pixels() -> impl Iterator<Item = [u32; 2]> {
    (0..SIDE * SIDE).map(|at| [at % SIDE, at / SIDE])
}

/// What `OUTPUT` is in a program: r0 goes to the target, by the operand in u0 and u1, and the program ends.
const OUTPUT: &str = "MOV.i32 r1, 0x0
    MOV.i32 r2, 0x0
    MOV.i32 r3, 0x0
    BLEND.slot0.v4.u32.end @r0:r1:r2:r3, u0, r60, target:0x0";

fn assemble(text: &str) -> Vec<u64> {
    let text = text.replace("OUTPUT", OUTPUT);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            Instr::assemble(line, ARCH, Syntax::Mesa24)
                .unwrap_or_else(|error| panic!("{line}: {error}"))
        })
        .collect()
}

fn put<T: Descriptor>(bench: &mut Bench, address: u64, descriptor: &T) {
    let mut words = [0; 32];
    let bytes = descriptor.pack(ARCH, &mut words).expect("fields fit");
    let packed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bench.put(1, address, &packed[..bytes]);
}

/// The depth target, and a linear one of stencil beside it: two readings of the same words.
fn put_zs(bench: &mut Bench, address: u64, depth: &ZsTarget) {
    let stencil = STarget {
        write_format: Some(SFormat::S8),
        block_format: BlockFormat::Linear,
        clean_tile_write_enable: depth.clean_tile_write_enable,
        base: Address(STENCIL),
        row_stride: SIDE,
        ..STarget::default()
    };
    let (mut words, mut other) = ([0; 16], [0; 16]);
    depth.pack(ARCH, &mut words).expect("fields fit");
    stencil.pack(ARCH, &mut other).expect("fields fit");
    let both = words.iter().zip(other).map(|(one, other)| one | other);
    let bytes: Vec<u8> = both.flat_map(u32::to_le_bytes).collect();
    bench.put(1, address, &bytes);
}

impl Pass {
    /// Submits the pass to a new device; `fill` puts what programs read into memory.
    #[track_caller]
    fn submitted(&self, fill: impl Fn(&mut Bench)) -> Bench {
        let mut bench = Bench::booted_as(self.gpu);
        bench.start_group(0);
        if self.cores != 0 {
            let group = bench::group_input(0);
            bench.shared_write64(group + 0x20, self.cores);
            bench.shared_write64(group + 0x28, self.cores);
            bench.request_endpoints(0, self.cores.count_ones(), 15);
            bench.request_configuration(0);
        }
        let data = [
            (COLOUR, 0x1_0000),
            (DEPTH, 0x1000),
            (BUFFER, self.buffer),
            (HEAP, self.chunk),
            (HANDLER, 0x1000),
            (HEAP_CONTEXT, 0x1000),
            (TABLES, 0x4000),
        ];
        for (address, bytes) in data {
            bench.map(1, address, bytes, Attributes::CACHED);
        }
        for (number, other) in self.others.iter().enumerate() {
            let bytes = other.bytes * self.samples * self.size[0] * self.size[1];
            bench.map(1, Other::address(number), bytes.into(), Attributes::CACHED);
        }
        bench.map(1, CODE, 0x4000, Attributes::CODE);
        bench.map(1, DONE, 0x1000, Attributes::UNCACHED);
        self.put_framebuffers(&mut bench);
        self.put_tiler(&mut bench);
        let [first, equation, mode, format] = self.colour.blend.map(u64::from);
        bench.put_words(1, BLEND, &[first | equation << 32, mode | format << 32]);
        let uniforms: Vec<u8> = self
            .uniforms
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        bench.put(1, UNIFORMS, &uniforms);
        for (number, draw) in self.draws.iter().enumerate() {
            self.put_draw(&mut bench, DRAWS + 128 * number as u64, number as u64, draw);
        }
        for (slot, _, draw) in &self.frames {
            let address = FRAME_SHADERS + 128 * *slot as u64;
            self.put_draw(&mut bench, address, 16 + *slot as u64, draw);
        }
        bench.put_words(1, HANDLER, &self.handler);
        fill(&mut bench);
        bench.submit(0, &self.commands());
        bench
    }

    /// Runs the pass on a new device; `fill` puts what programs read into memory.
    #[track_caller]
    pub fn run_with(&self, fill: impl Fn(&mut Bench)) -> Drawn {
        let mut bench = self.submitted(fill);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1, "\n{}", bench.report());
        bench.expect_no_diagnoses();
        bench.flush();
        Drawn { bench }
    }

    #[track_caller]
    pub fn run(&self) -> Drawn {
        self.run_with(|_| {})
    }

    fn put_framebuffers(&self, bench: &mut Bench) {
        let mode = |slot: usize| {
            let frame = self.frames.iter().find(|(of, ..)| *of == slot);
            frame.map_or(PrePostFrameShaderMode::Never, |(_, mode, _)| *mode)
        };
        let single = self.samples == 1;
        let others: u32 = self.others.iter().map(|other| other.bytes).sum();
        let needed = (4 + others) * self.tile * self.samples;
        let allocation = self
            .allocation
            .unwrap_or_else(|| needed.next_multiple_of(1024));
        for layer in 0..self.layers {
            let at = FRAMEBUFFER + 0x100 * u64::from(layer);
            let parameters = FramebufferParameters {
                pre_frame_0: mode(0),
                pre_frame_1: mode(1),
                post_frame: mode(2),
                internal_layer_index: layer,
                frame_argument: layer.into(),
                sample_locations: Address(SAMPLE_POSITIONS),
                frame_shader_dcds: Aligned::new(FRAME_SHADERS).expect("aligned"),
                width: self.size[0],
                height: self.size[1],
                bound_max_x: self.size[0] - 1,
                bound_max_y: self.size[1] - 1,
                sample_count: self.samples,
                sample_pattern: match single {
                    true => SamplePattern::SingleSampled,
                    false => self.pattern,
                },
                tie_break_rule: self.tie,
                first_provoking_vertex: self.first_provoking,
                effective_tile_size: self.tile,
                render_target_count: 1 + self.others.len() as u32,
                color_buffer_allocation: allocation,
                z_internal_format: self.depth_format.0,
                z_write_enable: self.writes_zs,
                s_write_enable: self.writes_zs,
                s_clear: self.stencil_clear,
                has_zs_crc_extension: true,
                z_clear: self.depth_clear,
                tiler: Aligned::new(TILER).expect("aligned"),
                ..FramebufferParameters::default()
            };
            put(bench, at, &parameters);
            let depth = ZsTarget {
                write_format: Some(self.depth_format.1),
                block_format: BlockFormat::Linear,
                clean_tile_write_enable: self.clean_tiles,
                base: Address(DEPTH),
                row_stride: ROW,
                ..ZsTarget::default()
            };
            put_zs(bench, at + 128, &depth);
            let target = RgbRenderTarget {
                internal_format: self.colour.internal,
                write_enable: true,
                writeback_format: self.colour.format,
                writeback_block_format: BlockFormat::Linear,
                writeback_msaa: if single { Msaa::Single } else { Msaa::Layered },
                swizzle: Swizzle::IDENTITY,
                clean_tile_write_enable: self.clean_tiles,
                writeback_buffer: RtBuffer {
                    base: Address(self.target + u64::from(16 * layer * SURFACE)),
                    row_stride: 4 * self.size[0],
                    surface_stride: (4 * self.size[0]).wrapping_mul(self.size[1]),
                    ..RtBuffer::default()
                },
                clear: RtClear {
                    color_0: self.colour.clear,
                    color_1: self.colour.clear,
                    color_2: self.colour.clear,
                    color_3: self.colour.clear,
                },
                ..RgbRenderTarget::default()
            };
            put(bench, at + 192, &target);
            for (number, other) in self.others.iter().enumerate() {
                let row_stride = other.bytes * self.size[0];
                let [color_0, color_1, color_2, color_3] = other.clear;
                let target = RgbRenderTarget {
                    internal_format: other.internal,
                    writeback_format: other.format,
                    writeback_buffer: RtBuffer {
                        base: Address(Other::address(number)),
                        row_stride,
                        surface_stride: row_stride * self.size[1],
                        ..RtBuffer::default()
                    },
                    clear: RtClear {
                        color_0,
                        color_1,
                        color_2,
                        color_3,
                    },
                    ..target
                };
                put(bench, at + 256 + 64 * number as u64, &target);
            }
        }
    }

    fn put_tiler(&self, bench: &mut Bench) {
        let context = TilerContext {
            hierarchy_mask: self.hierarchy,
            fb_width: self.size[0],
            fb_height: self.size[1],
            layer_count: self.layers,
            first_provoking_vertex: self.first_provoking,
            heap: Aligned::new(TILER_HEAP).expect("aligned"),
            ..TilerContext::default()
        };
        put(bench, TILER, &context);
        let heap = TilerHeap {
            size: self.chunk,
            base: Address(HEAP),
            bottom: Address(HEAP + 64),
            top: Address(HEAP + self.chunk),
            ..TilerHeap::default()
        };
        put(bench, TILER_HEAP, &heap);
    }

    fn put_draw(&self, bench: &mut Bench, address: u64, number: u64, rectangle: &Rectangle) {
        let state = DEPTH_STENCILS + 32 * number;
        put(bench, state, &rectangle.depth);
        let mut shader = ShaderEnvironment::default();
        if !rectangle.program.is_empty() {
            let (program, code) = (PROGRAMS + 32 * number, CODE + 0x100 * number);
            bench.put_words(1, code, &assemble(rectangle.program));
            let program_descriptor = ShaderProgram {
                stage: ShaderStage::Fragment,
                preload: Preload {
                    r57: true,
                    r58: true,
                    r59: true,
                    r60: true,
                    r61: true,
                    r62: true,
                    r63: true,
                    ..Preload::default()
                },
                binary: Address(code),
                ..ShaderProgram::default()
            };
            put(bench, program, &program_descriptor);
            shader = ShaderEnvironment {
                shader: Aligned::new(program).expect("aligned"),
                fau: Address(UNIFORMS),
                fau_count: self.uniforms.len().div_ceil(2) as u32,
                ..shader
            };
        }
        if let Some(vertices) = &rectangle.vertices {
            let number = number + 32;
            let code = CODE + 0x100 * number;
            bench.put_words(1, code, &assemble(vertices.program));
            let program = ShaderProgram {
                stage: ShaderStage::Vertex,
                preload: Preload {
                    r59: true,
                    r60: true,
                    r61: true,
                    ..Preload::default()
                },
                binary: Address(code),
                ..ShaderProgram::default()
            };
            put(bench, PROGRAMS + 32 * number, &program);
        }
        let mut draw = Draw {
            flags_0: rectangle.flags,
            minimum_z: rectangle.range[0],
            maximum_z: rectangle.range[1],
            depth_stencil: Aligned::new(state).expect("aligned"),
            blend_count: 1,
            blend: Aligned::new(BLEND).expect("aligned"),
            occlusion: Address(rectangle.occlusion),
            shader,
            ..Draw::default()
        };
        draw.flags_1.sample_mask = 0xffff;
        draw.flags_1.render_target_mask = 1;
        put(bench, address, &draw);
    }

    fn commands(&self) -> Vec<u64> {
        let mut words = Vec::new();
        let mut push = |instr: Command| words.push(instr.encode(ARCH).expect("legal"));
        let set = |register: u8, immediate: u32| {
            let destination = Reg::new(register);
            Command::from(Move32 {
                destination,
                immediate,
            })
        };
        let pair = |register: u8| Pair::new(register).expect("even");
        let wait = Wait {
            wait_mask: SlotMask::new(0xff),
            ..Wait::default()
        };
        push(
            ReqResource {
                fragment: true,
                tiler: true,
                idvs: true,
                ..ReqResource::default()
            }
            .into(),
        );
        push(set(66, HEAP_CONTEXT as u32));
        push(set(67, 0));
        push(HeapSet { address: pair(66) }.into());
        if !self.handler.is_empty() {
            push(set(66, HANDLER as u32));
            push(set(67, 0));
            push(set(68, 8 * self.handler.len() as u32));
            push(
                SetExceptionHandler {
                    address: pair(66),
                    length: Reg::new(68),
                    ..SetExceptionHandler::default()
                }
                .into(),
            );
        }
        push(
            SetSbEntry {
                endpoint_entry: Slot::new(3).expect("a slot"),
                ..SetSbEntry::default()
            }
            .into(),
        );
        push(set(40, TILER as u32));
        push(set(41, 0));
        for (number, rectangle) in self.draws.iter().enumerate() {
            let [first, last] = rectangle.scissor.map(|[x, y]| x | y << 16);
            push(set(42, first));
            push(set(43, last));
            if let Some(vertices) = &rectangle.vertices {
                for (register, value) in draw_registers(self, number as u32, rectangle, vertices) {
                    push(set(register, value));
                }
                push(
                    RunIdvs {
                        malloc_enable: true,
                        ..RunIdvs::default()
                    }
                    .into(),
                );
                continue;
            }
            push(set(56, rectangle.layers << 24));
            push(set(66, (DRAWS + 128 * number as u64) as u32));
            push(set(67, 0));
            push(
                RunFullscreen {
                    dcd: pair(66),
                    ..RunFullscreen::default()
                }
                .into(),
            );
        }
        push(FinishTiling::default().into());
        push(wait.into());
        let all = [[[0, 0], self.size.map(|side| side - 1)]];
        let boxes = match self.boxes.as_slice() {
            [] => &all,
            boxes => boxes,
        };
        // Targets but one, and depth.
        let tag = 1 | 1 << 1 | (self.others.len() as u32) << 2;
        for (layer, corners) in (0..self.layers).flat_map(|it| boxes.iter().map(move |at| (it, at)))
        {
            let [first, last] = corners.map(|[x, y]| x | y << 16);
            push(set(40, (FRAMEBUFFER as u32 + 0x100 * layer) | tag));
            push(set(42, first));
            push(set(43, last));
            push(RunFragment::default().into());
            push(wait.into());
        }
        for (register, value) in [(66, DONE as u32), (67, 0), (68, 1), (69, 0)] {
            push(set(register, value));
        }
        push(
            SyncAdd64 {
                address: pair(66),
                data: pair(68),
                scope: SyncScope::System,
                error_propagate: true,
                ..SyncAdd64::default()
            }
            .into(),
        );
        words
    }
}

/// The registers of a draw of vertices but for its scissor (graphics-draw.md 3.1).
fn draw_registers(
    pass: &Pass,
    number: u32,
    rectangle: &Rectangle,
    vertices: &Vertices,
) -> Vec<(u8, u32)> {
    let mut dcd = [0; 2];
    rectangle.flags.pack(ARCH, &mut dcd).expect("fields fit");
    let uniforms = (pass.uniforms.len().div_ceil(2) as u32) << 24;
    let fragment = match rectangle.program {
        "" => 0,
        _ => PROGRAMS as u32 + 32 * number,
    };
    // Of an index buffer: address, size, and the type among the primitive flags.
    let (index_address, index_size, index_type) = vertices.indices.map_or((0, 0, 0), |it| {
        let code = it.index_bytes.trailing_zeros() + 1;
        (it.address as u32, it.bytes, code << 8)
    });
    let mut registers: Vec<(u8, u32)> = (0..64).map(|register| (register, 0)).collect();
    let set = [
        (8, UNIFORMS as u32),
        (9, uniforms),
        (12, UNIFORMS as u32),
        (13, uniforms),
        (16, PROGRAMS as u32 + 32 * (number + 32)),
        (20, fragment),
        (33, vertices.count),
        (34, 1),
        (39, index_size),
        (40, TILER as u32),
        (45, 1.0_f32.to_bits()),
        (46, rectangle.occlusion as u32),
        (50, BLEND as u32 | 1),
        (52, DEPTH_STENCILS as u32 + 32 * number),
        (54, index_address),
        (
            56,
            vertices.mode | vertices.flags | index_type | rectangle.layers << 24,
        ),
        (57, dcd[0]),
        (58, 0x1_ffff),
        (60, vertices.size.to_bits()),
    ];
    registers.retain(|(register, _)| *register != 42 && *register != 43);
    registers.extend(set);
    registers
}

/// Runs a pass whose framebuffer has another word, and expects a diagnosis that names a field.
#[track_caller]
fn check_misfit(word: u64, change: impl Fn(u32) -> u32, field: &str) {
    let mut bench = Pass::default().submitted(|bench| {
        let address = FRAMEBUFFER + 4 * word;
        let changed = change(bench.get32(1, address));
        bench.put(1, address, &changed.to_le_bytes());
    });
    bench.drain(0);
    bench.expect_diagnosis(&format!(
        "the field {field} of the descriptor at 0x41000000"
    ));
}

#[test]
fn a_tile_that_its_allocation_does_not_hold_is_told() {
    // 16 by 16 pixels of 4 bytes, and no room.
    check_misfit(11, |word| word & 0x00ff_ffff, "Color Buffer Allocation");
}

#[test]
fn attachments_whose_rows_overlap_are_told() {
    // Of the colour target, of depth, of stencil: one byte too few.
    check_misfit(48 + 10, |_| ROW - 1, "Writeback Row Stride");
    check_misfit(32 + 10, |_| ROW - 1, "Row Stride");
    check_misfit(32 + 14, |_| SIDE - 1, "Row Stride");
}

#[test]
fn a_fault_at_any_step_of_a_draw_ends_its_job_alone() {
    let fault = Injection::DrawStepFault { exception: 0x58 };
    let pass = Pass {
        uniforms: STORE.to_vec(),
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode: 8,
                count: 3,
                program: "LEA_BUF_IMM.slot1.wait1 @r4:r5, r59, table:0xD, index:0x0
                    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
                    NOP.end",
                size: 1.0,
                flags: 0,
                indices: None,
            }),
            program: "MOV.i32 r0, r60\nOUTPUT",
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    let mut struck = 0;
    for nth in 1.. {
        let mut bench = pass.submitted(|_| {});
        bench.gpu.inject_aimed(fault, Aim::NOW.nth(nth));
        bench.wait(2000);
        let reported = bench.shared(bench::stream_output(0) + 0x80) & 0xff;
        if reported == 0 {
            assert_eq!(bench.get64(1, DONE), 1, "step {nth}");
            break;
        }
        assert_eq!(reported, 0x58, "step {nth}");
        struck += 1;
    }
    // Of the draw: fetch, allocation, a warp, three vertices and their triangle, the end; of the pass: eight steps of its tile.
    assert!((10..40).contains(&struck), "{struck} steps");
}

#[test]
fn a_wrong_field_of_a_framebuffer_is_named() {
    let mut bench = Pass::default().submitted(|bench| {
        // Tiles of 8 pixels.
        let word = bench.get32(1, FRAMEBUFFER + 4 * 11) & !(0xf << 9) | 3 << 9;
        bench.put(1, FRAMEBUFFER + 4 * 11, &word.to_le_bytes());
    });
    const DATA_INVALID_FAULT: u32 = 0x58;
    bench.poll_shared(bench::stream_output(0) + 0x80, 0xff, DATA_INVALID_FAULT);
    bench.expect_diagnosis("the field Effective Tile Size of the descriptor at 0x41000000");
}
