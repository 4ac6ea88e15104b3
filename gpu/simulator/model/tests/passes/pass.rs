//! A pass as tests state it, how it is run, and what memory has of it in the end.

use super::bench::{self, Bench};
use super::{
    BLEND, BUFFER, CHUNK, CLEAR, CODE, COLOUR, DEPTH, DONE, DRAWS, FRAME_SHADERS, HANDLER, HEAP,
    HEAP_CONTEXT, OTHERS, ROW, SIDE, STENCIL, STORE, SURFACE, TABLES, UNIFORMS,
};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::framebuffer::{
    PrePostFrameShaderMode, SamplePattern, TieBreakRule, ZInternalFormat, ZsFormat,
};
use eitri_descriptors::raster::{DcdFlags0, DepthStencil, PixelKill};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};
use eitri_descriptors::texture::Func;
use eitri_descriptors::{Arch, Swizzle};
use eitri_model::Config;

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
    /// Bytes of varyings of a vertex, which the position program of v12 and later stores.
    pub varying_bytes: u32,
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
    /// First and last pixel of the viewport, which v12 and later have.
    pub viewport: [[u32; 2]; 2],
    /// Place of the first index.
    pub first_index: u32,
    /// A bit each layer.
    pub layers: u32,
    /// Where samples are counted, if the flags ask for it.
    pub occlusion: u64,
    /// Colour targets that it may write, a bit each.
    pub targets: u32,
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
            viewport: [[0, 0], [0xffff, 0xffff]],
            first_index: 0,
            layers: 1,
            occlusion: 0,
            targets: 1,
        }
    }
}

/// A pass: what it draws, and its framebuffer where that is not usual.
#[derive(Clone)]
pub struct Pass {
    /// The product, as [`Config::named`] has it.
    pub gpu: &'static str,
    /// The generation whose descriptors it has; `None`: the product's.
    pub described: Option<Arch>,
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
    /// An attribute that programs find as the first of their first table: its values at vertices.
    pub attribute: Option<[[f32; 4]; 4]>,
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
    /// The second point coordinate grows upwards.
    pub point_origin_below: bool,
    pub colour: Colour,
    /// Bytes of the tiler heap's only chunk.
    pub chunk: u64,
    /// Bytes of the buffer for programs.
    pub buffer: u64,
    /// Instructions of an exception handler, which lie at [`HANDLER`]; none is installed if there are none.
    pub handler: Vec<u64>,
    /// Shader cores that the group may use; the product's if 0.
    pub cores: u64,
    /// Whether it is followed how far results can be trusted.
    pub fidelity: bool,
}

/// The colour target and its BLEND descriptor.
#[derive(Clone)]
pub struct Colour {
    pub internal: ColorBufferInternalFormat,
    pub format: ColorFormat,
    /// Bytes of a pixel in memory.
    pub bytes: u32,
    pub swizzle: Swizzle,
    pub srgb: bool,
    pub clear: u32,
    pub blend: [u32; 4],
}

impl Default for Colour {
    fn default() -> Colour {
        Colour {
            internal: ColorBufferInternalFormat::RAW32,
            format: ColorFormat::RAW32,
            bytes: 4,
            swizzle: Swizzle::IDENTITY,
            srgb: false,
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
            described: None,
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
            attribute: None,
            frames: Vec::new(),
            draws: Vec::new(),
            clean_tiles: true,
            depth_clear: 1.0,
            depth_format: (ZInternalFormat::D32, ZsFormat::D32),
            stencil_clear: 0,
            pattern: SamplePattern::Rotated4xGrid,
            tie: TieBreakRule::Minus180In0Out,
            first_provoking: false,
            point_origin_below: true,
            colour: Colour::default(),
            chunk: CHUNK,
            buffer: 0x1_0000,
            handler: Vec::new(),
            cores: 0,
            fidelity: false,
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

impl Pass {
    pub fn arch(&self) -> Arch {
        self.config().product.arch()
    }

    pub fn described(&self) -> Arch {
        self.described.unwrap_or_else(|| self.arch())
    }

    fn config(&self) -> Config {
        Config {
            fidelity: self.fidelity,
            ..Config::named(self.gpu).expect("a product that the model can be")
        }
    }

    /// Submits the pass to a new device; `fill` puts what programs read into memory.
    #[track_caller]
    pub fn submitted(&self, fill: impl Fn(&mut Bench)) -> Bench {
        let mut bench = self.prepared(fill);
        bench.submit(0, &self.commands());
        bench
    }

    /// Submits the pass to a new device, with its instructions changed.
    #[track_caller]
    pub fn submitted_with(&self, change: impl Fn(&mut Vec<u64>)) -> Bench {
        self.submitted_filled(|_| {}, change)
    }

    /// As [`Pass::submitted_with`]; `fill` puts what programs read into memory.
    #[track_caller]
    pub fn submitted_filled(
        &self,
        fill: impl Fn(&mut Bench),
        change: impl Fn(&mut Vec<u64>),
    ) -> Bench {
        let mut bench = self.prepared(fill);
        let mut words = self.commands();
        change(&mut words);
        bench.submit(0, &words);
        bench
    }

    /// A new device that has the pass's descriptors and programs in memory.
    #[track_caller]
    fn prepared(&self, fill: impl Fn(&mut Bench)) -> Bench {
        let mut bench = Bench::booted_with(self.config());
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
        self.put_attribute(&mut bench);
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
}
