//! Textures and samplers of trials: kinds that single steps and direct messages treat apart.
//!
//! Never: used by the device.

use super::trial::{Trial, packed};
use alloc::vec::Vec;
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering, GenericPlane, NullPlane};
use eitri_descriptors::texture::{
    Func, LodAlgorithm, MipmapMode, ReductionMode, Sampler, Texture, TextureDimension, WrapMode,
};
use eitri_descriptors::{Address, Aligned, PixelFormat, RawOrFloat, Slod, Swizzle, Ulod};
use eitri_isa::Arch;

/// Where plane descriptors are.
const PLANES: u64 = 0x6800;
/// Bytes of one.
const PLANE_BYTES: u64 = 32;
/// Samplers that there are.
pub(super) const SAMPLERS: usize = 6;

/// A texture and what its planes have in common.
#[derive(Clone, Copy)]
struct Shape {
    dimension: TextureDimension,
    size: [u32; 3],
    layers: u32,
    levels: u32,
    samples: u32,
    /// Number of the format (hardware/descriptors.md 10.1), and of the order of its components.
    format: (u32, u32),
    clump: ClumpFormat,
    order: ClumpOrdering,
    /// Bytes of an element.
    bytes: u32,
    /// Where the data of the first plane begins; each plane begins 256 bytes behind the one before.
    at: u64,
    /// Bytes of a plane that may be accessed.
    limit: u32,
}

/// RGBA8 of 16 by 16 texels.
const FLAT: Shape = Shape {
    dimension: TextureDimension::TwoD,
    size: [16, 16, 1],
    layers: 1,
    levels: 1,
    samples: 1,
    format: (187, 0),
    clump: ClumpFormat::RAW32,
    order: ClumpOrdering::Linear,
    bytes: 4,
    at: Trial::DATA,
    limit: 0x400,
};

const SHAPES: [Shape; 19] = [
    FLAT,
    // Levels, and each order.
    Shape {
        levels: 5,
        order: ClumpOrdering::TiledUInterleaved,
        ..FLAT
    },
    Shape {
        order: ClumpOrdering::Interleaved64k,
        limit: 0x1000,
        ..FLAT
    },
    // Layers of three rows, and a size that is no power of two.
    Shape {
        size: [11, 3, 1],
        layers: 4,
        ..FLAT
    },
    Shape {
        dimension: TextureDimension::ThreeD,
        size: [4, 4, 4],
        ..FLAT
    },
    Shape {
        dimension: TextureDimension::Cube,
        size: [8, 8, 1],
        format: (163, 227),
        clump: ClumpFormat::RAW8,
        bytes: 1,
        ..FLAT
    },
    // Floats of 16 and of 32 bits, and integers; colours on the sRGB curve.
    Shape {
        format: (223, 0),
        clump: ClumpFormat::RAW64,
        bytes: 8,
        limit: 0x800,
        ..FLAT
    },
    Shape {
        format: (191, 0),
        clump: ClumpFormat::RAW128,
        bytes: 16,
        limit: 0x1000,
        ..FLAT
    },
    Shape {
        format: (155, 4),
        ..FLAT
    },
    Shape {
        format: (187 | 1 << 8, 0),
        ..FLAT
    },
    // Depth, for comparisons.
    Shape {
        format: (167, 240),
        ..FLAT
    },
    // Blocks of 4 by 4 texels: BC1 and ETC2.
    Shape {
        format: (187, 0),
        clump: ClumpFormat::BC1Unorm,
        bytes: 8,
        ..FLAT
    },
    Shape {
        format: (187, 0),
        clump: ClumpFormat::ETC2RGBA8,
        bytes: 16,
        ..FLAT
    },
    // Texels in both pages, some at odd addresses and over the pages' border; a plane that ends early; four samples.
    Shape {
        at: Trial::DATA + 0xf02,
        ..FLAT
    },
    Shape {
        limit: 0x123,
        ..FLAT
    },
    Shape {
        samples: 4,
        limit: 0x1000,
        ..FLAT
    },
    // No memory behind the first row; and YCbCr, which is never direct.
    Shape {
        at: Trial::LIMIT - 64,
        ..FLAT
    },
    Shape {
        format: (38, 0),
        clump: ClumpFormat::RAW8,
        bytes: 1,
        layers: 2,
        ..FLAT
    },
    // Rows in both pages, at multiples of a texel's size: the texels of a filter may lie in two.
    Shape {
        at: Trial::DATA + 0xf00,
        ..FLAT
    },
];

/// The textures and samplers that handles name.
pub(super) fn descriptors(arch: Arch) -> Vec<[u32; 8]> {
    let textures = (0..).zip(&SHAPES).map(|(number, shape)| {
        let texture = Texture {
            dimension: shape.dimension,
            format: PixelFormat(shape.format.0 << 12 | shape.format.1),
            width: shape.size[0],
            height: shape.size[1],
            depth: shape.size[2],
            swizzle: Swizzle::IDENTITY,
            levels: shape.levels,
            maximum_lod: Ulod((shape.levels - 1) as f32),
            sample_count: shape.samples,
            array_size: shape.layers,
            surfaces: Aligned::new(planes_of(number)).unwrap_or_default(),
            ..Texture::default()
        };
        packed(&texture, arch)
    });
    let samplers = samplers().map(|sampler| packed(&sampler, arch));
    textures.chain(samplers).collect()
}

/// Textures that there are; the first has a null plane instead of its second level.
pub(super) const TEXTURES: usize = SHAPES.len();

fn planes_of(texture: u64) -> u64 {
    PLANES + texture * 8 * PLANE_BYTES
}

/// All plane descriptors, with their addresses.
pub(super) fn planes(arch: Arch) -> Vec<(u64, [u32; 8])> {
    let mut planes = Vec::new();
    for (texture, shape) in (0..).zip(&SHAPES) {
        let faces = match shape.dimension {
            TextureDimension::Cube => 6,
            _ => 1,
        };
        for number in 0..u64::from(faces * shape.levels * shape.layers) {
            let address = planes_of(texture) + PLANE_BYTES * number;
            if shape.levels > 1 && number == 3 {
                planes.push((address, packed(&NullPlane::default(), arch)));
                continue;
            }
            let across = match shape.order {
                ClumpOrdering::TiledUInterleaved => 256 * shape.bytes,
                ClumpOrdering::Interleaved64k => 0x1_0000,
                _ => shape.size[0] * shape.bytes,
            };
            let plane = GenericPlane {
                clump_ordering: shape.order,
                clump_format: shape.clump,
                size: shape.limit,
                pointer: Address(shape.at + 256 * number),
                row_stride: across,
                slice_stride: 0x100,
                width: shape.size[0],
                height: shape.size[1],
                ..GenericPlane::default()
            };
            planes.push((address, packed(&plane, arch)));
        }
    }
    planes
}

/// Filters, ways to choose levels, and wrap modes.
fn samplers() -> [Sampler; SAMPLERS] {
    let linear = Sampler {
        maximum_lod: Ulod(31.0),
        wrap_mode_s: WrapMode::Repeat,
        wrap_mode_t: WrapMode::MirroredRepeat,
        wrap_mode_r: WrapMode::Repeat,
        mipmap_mode: MipmapMode::Trilinear,
        compare_function: Func::Less,
        ..Sampler::default()
    };
    [
        linear,
        Sampler {
            minify_nearest: true,
            magnify_nearest: true,
            round_to_nearest_even: false,
            mipmap_mode: MipmapMode::Nearest,
            wrap_mode_t: WrapMode::MirroredClampToEdge,
            ..linear
        },
        Sampler {
            wrap_mode_s: WrapMode::ClampToBorder,
            wrap_mode_t: WrapMode::MirroredClampToBorder,
            border_color_r: RawOrFloat(0x3f00_0000),
            border_color_a: RawOrFloat(0x3f80_0000),
            lod_bias: Slod(0.75),
            ..linear
        },
        Sampler {
            wrap_mode_s: WrapMode::ClampToEdge,
            wrap_mode_t: WrapMode::ClampToEdge,
            normalized_coordinates: false,
            reduction_mode: ReductionMode::Maximum,
            mipmap_mode: MipmapMode::None,
            ..linear
        },
        Sampler {
            lod_algorithm: LodAlgorithm::Anisotropic,
            maximum_anisotropy: 5,
            mipmap_mode: MipmapMode::PerformanceTrilinear,
            srgb_override: true,
            ..linear
        },
        Sampler {
            seamless_cube_map: false,
            reduction_mode: ReductionMode::Minimum,
            minify_nearest: true,
            ..linear
        },
    ]
}
