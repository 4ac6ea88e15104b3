//! Descriptors of a pass: framebuffer, tiler, draws, and their programs.

use super::bench::Bench;
use super::{
    BLEND, CODE, DEPTH, DEPTH_STENCILS, FRAME_SHADERS, FRAMEBUFFER, HEAP, Other, PROGRAMS, Pass,
    RESOURCES, ROW, Rectangle, SAMPLE_POSITIONS, SIDE, STENCIL, SURFACE, TILER, TILER_HEAP,
    UNIFORMS,
};
use eitri_descriptors::framebuffer::{
    BlockFormat, FramebufferParameters, Msaa, PrePostFrameShaderMode, SFormat, STarget,
    SamplePattern, ZsTarget,
};
use eitri_descriptors::raster::Draw;
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};
use eitri_descriptors::shader::{Preload, ShaderEnvironment, ShaderProgram, ShaderStage};
use eitri_descriptors::target::{RgbRenderTarget, RtBuffer, RtClear};
use eitri_descriptors::tiler::{TilerContext, TilerHeap};
use eitri_descriptors::{Address, Aligned, Descriptor, PixelFormat};
use eitri_isa::{Arch, Instr, Syntax};

/// What `OUTPUT` is in a program: r0 goes to the target, by the operand in u0 and u1, and the program ends.
const OUTPUT: &str = "MOV.i32 r1, 0x0
    MOV.i32 r2, 0x0
    MOV.i32 r3, 0x0
    BLEND.slot0.v4.u32.end @r0:r1:r2:r3, u0, r60, target:0x0";

fn assemble(text: &str, arch: Arch) -> Vec<u64> {
    let text = text.replace("OUTPUT", OUTPUT);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            Instr::assemble(line, arch, Syntax::Mesa24)
                .unwrap_or_else(|error| panic!("{line}: {error}"))
        })
        .collect()
}

pub(super) fn put<T: Descriptor>(bench: &mut Bench, arch: Arch, address: u64, descriptor: &T) {
    let mut words = [0; 32];
    let bytes = descriptor.pack(arch, &mut words).expect("fields fit");
    let packed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bench.put(1, address, &packed[..bytes]);
}

/// The depth target, and a linear one of stencil beside it: two readings of the same words.
fn put_zs(bench: &mut Bench, arch: Arch, address: u64, depth: &ZsTarget) {
    let stencil = STarget {
        write_format: Some(SFormat::S8),
        block_format: BlockFormat::Linear,
        clean_tile_write_enable: depth.clean_tile_write_enable,
        base: Address(STENCIL),
        row_stride: SIDE,
        ..STarget::default()
    };
    let (mut words, mut other) = ([0; 16], [0; 16]);
    depth.pack(arch, &mut words).expect("fields fit");
    stencil.pack(arch, &mut other).expect("fields fit");
    let both = words.iter().zip(other).map(|(one, other)| one | other);
    let bytes: Vec<u8> = both.flat_map(u32::to_le_bytes).collect();
    bench.put(1, address, &bytes);
}
impl Pass {
    /// The attribute, if there is one: tables, its descriptor, that of its buffer, and its values.
    pub(super) fn put_attribute(&self, bench: &mut Bench) {
        let Some(values) = self.attribute else {
            return;
        };
        let [attribute, buffer, elements] = [0x40, 0x80, 0xc0].map(|offset| RESOURCES + offset);
        let entries = [attribute | 1 << 56, 32, buffer | 1 << 56, 32, 0, 0, 0, 0];
        bench.put_words(1, RESOURCES, &entries);
        let descriptor = Attribute {
            attribute_type: AttributeType::OneD,
            // RGBA32 FLOAT, components in order.
            format: PixelFormat(191 << 12),
            table: 1,
            frequency: AttributeFrequency::Vertex,
            stride: 16,
            ..Attribute::default()
        };
        put(bench, self.arch(), attribute, &descriptor);
        bench.put_words(1, buffer, &[9 | 1 << 4 | 64 << 32, elements, 0, 0]);
        let bytes = values.as_flattened().iter().copied();
        let bytes: Vec<u8> = bytes.flat_map(f32::to_le_bytes).collect();
        bench.put(1, elements, &bytes);
    }

    pub(super) fn put_framebuffers(&self, bench: &mut Bench) {
        let arch = self.described();
        let mode = |slot: usize| {
            let frame = self.frames.iter().find(|(of, ..)| *of == slot);
            frame.map_or(PrePostFrameShaderMode::Never, |(_, mode, _)| *mode)
        };
        let single = self.samples == 1;
        let others: u32 = self.others.iter().map(|other| other.bytes).sum();
        let needed =
            (self.colour.bytes.max(4).next_power_of_two() + others) * self.tile * self.samples;
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
                point_sprite_coord_origin_max_y: self.point_origin_below,
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
            put(bench, arch, at, &parameters);
            let depth = ZsTarget {
                write_format: Some(self.depth_format.1),
                block_format: BlockFormat::Linear,
                clean_tile_write_enable: self.clean_tiles,
                base: Address(DEPTH),
                row_stride: ROW,
                ..ZsTarget::default()
            };
            put_zs(bench, arch, at + 128, &depth);
            let target = RgbRenderTarget {
                internal_format: self.colour.internal,
                write_enable: true,
                writeback_format: self.colour.format,
                writeback_block_format: BlockFormat::Linear,
                writeback_msaa: if single { Msaa::Single } else { Msaa::Layered },
                swizzle: self.colour.swizzle,
                srgb: self.colour.srgb,
                clean_tile_write_enable: self.clean_tiles,
                writeback_buffer: RtBuffer {
                    base: Address(self.target + u64::from(16 * layer * SURFACE)),
                    row_stride: self.colour.bytes * self.size[0],
                    surface_stride: (self.colour.bytes * self.size[0]).wrapping_mul(self.size[1]),
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
            put(bench, arch, at + 192, &target);
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
                put(bench, arch, at + 256 + 64 * number as u64, &target);
            }
        }
    }

    pub(super) fn put_tiler(&self, bench: &mut Bench) {
        let arch = self.described();
        let mut context = TilerContext {
            hierarchy_mask: self.hierarchy,
            fb_width: self.size[0],
            fb_height: self.size[1],
            layer_count: self.layers,
            first_provoking_vertex: self.first_provoking,
            heap: Aligned::new(TILER_HEAP).expect("aligned"),
            ..TilerContext::default()
        };
        if arch >= Arch::V12 {
            context.effective_tile_size = self.tile;
        }
        put(bench, arch, TILER, &context);
        let heap = TilerHeap {
            size: self.chunk,
            base: Address(HEAP),
            bottom: Address(HEAP + 64),
            top: Address(HEAP + self.chunk),
            ..TilerHeap::default()
        };
        put(bench, arch, TILER_HEAP, &heap);
    }

    pub(super) fn put_draw(
        &self,
        bench: &mut Bench,
        address: u64,
        number: u64,
        rectangle: &Rectangle,
    ) {
        let arch = self.described();
        let state = DEPTH_STENCILS + 32 * number;
        put(bench, arch, state, &rectangle.depth);
        let mut draw = Draw {
            flags_0: rectangle.flags,
            depth_stencil: Aligned::new(state).expect("aligned"),
            blend_count: 1,
            blend: Aligned::new(BLEND).expect("aligned"),
            occlusion: Address(rectangle.occlusion),
            ..Draw::default()
        };
        if arch < Arch::V12 {
            [draw.minimum_z, draw.maximum_z] = rectangle.range;
        }
        if !rectangle.program.is_empty() {
            let (program, code) = (PROGRAMS + 32 * number, CODE + 0x100 * number);
            bench.put_words(1, code, &assemble(rectangle.program, self.arch()));
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
            put(bench, arch, program, &program_descriptor);
            let shader = Aligned::new(program).expect("aligned");
            let fau_count = self.uniforms.len().div_ceil(2) as u32;
            // Newer generations have another place for these.
            if arch >= Arch::V12 {
                draw.fragment_shader = shader;
                draw.fragment_fau.pointer = Address(UNIFORMS);
                draw.fragment_fau.count = fau_count;
            } else {
                draw.shader = ShaderEnvironment {
                    shader,
                    fau: Address(UNIFORMS),
                    fau_count,
                    resources: match self.attribute {
                        // Four tables, two of them empty.
                        Some(_) => Address(RESOURCES | 4),
                        None => Address(0),
                    },
                    ..ShaderEnvironment::default()
                };
            }
        }
        if let Some(vertices) = &rectangle.vertices {
            let number = number + 32;
            let code = CODE + 0x100 * number;
            bench.put_words(1, code, &assemble(vertices.program, self.arch()));
            let program = ShaderProgram {
                stage: ShaderStage::Vertex,
                preload: Preload {
                    r59: true,
                    r60: true,
                    r61: true,
                    r62: true,
                    ..Preload::default()
                },
                binary: Address(code),
                ..ShaderProgram::default()
            };
            put(bench, arch, PROGRAMS + 32 * number, &program);
        }
        draw.flags_1.sample_mask = 0xffff;
        draw.flags_1.render_target_mask = rectangle.targets;
        put(bench, arch, address, &draw);
    }
}
