//! The texture unit against vectors that were computed elsewhere: filters, gathers, wrap modes, levels.
//!
//! Each vector is a dispatch: descriptors and texels in memory, a sample by a texture instruction, the result in a buffer.
//! Facts: data/graphics-vectors.json and graphics-vectors2.json; `about` in them explains the members.

use super::typed::{FREE, LINEAR, run_on, uniforms};
use super::vector_files::{FIRST, SECOND, bits, decimal, integer as number, list};
use super::{BUFFER, Bench, DESCRIPTORS, Dispatch};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering, GenericPlane};
use eitri_descriptors::texture::{MipmapMode, Sampler, Texture, TextureDimension, WrapMode};
use eitri_descriptors::{
    Address, Aligned, Arch, Descriptor, PixelFormat, RawOrFloat, Swizzle, Ulod,
};
use serde_json::Value;

pub(super) const PLANES: u64 = DESCRIPTORS + 0x400;
/// Coordinates of the threads, 16 bytes each.
pub(super) const PAYLOADS: u64 = BUFFER + 0x1000;
/// The pixel format R32_SFLOAT with red alone, and its bytes.
const R32F: u32 = 167 << 12 | 16;
/// The narrow handle of the first texture and the sampler behind it, both in table 1.
pub(super) const HANDLE: u32 = 1 << 27 | FREE.1 << 16 | 1 << 11 | (FREE.1 + 1);

/// Loads the thread's payload to r4 to r6; u4 is its address, 16 bytes a thread.
pub(super) const LOAD: &str = "
    SHADDX.u64 r2, u4, r60.w0, shift:0x4
    LOAD.i128.unsigned.slot0.wait0 @r4:r5:r6:r7, r2, offset:0";
/// Stores r8 to r11 as the thread's result.
pub(super) const STORE: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x4
    STORE.i128.slot0.wait0 @r8:r9:r10:r11, r0, offset:0
    NOP.end";

pub(super) fn put<T: Descriptor>(bench: &mut Bench, address: u64, descriptor: &T) {
    let mut words = [0; 8];
    let bytes = descriptor.pack(Arch::V10, &mut words).expect("fields fit");
    let packed: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bench.put(1, address, &packed[..bytes]);
}

/// A texture of floats: its shape, and the texels of each plane (level by level, then layer by layer).
pub(super) struct Image {
    pub(super) dimension: TextureDimension,
    pub(super) size: [u32; 2],
    pub(super) levels: u32,
    pub(super) planes: Vec<Plane>,
}

/// Rows of texels; a plane of one texel is that texel everywhere.
pub(super) struct Plane(pub(super) Vec<Vec<f32>>);

impl Image {
    fn put(&self, bench: &mut Bench) {
        let texture = Texture {
            dimension: self.dimension,
            format: PixelFormat(R32F),
            width: self.size[0],
            height: self.size[1],
            swizzle: Swizzle::IDENTITY,
            levels: self.levels,
            maximum_lod: Ulod((self.levels - 1) as f32),
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        let mut at = LINEAR;
        for (number, Plane(rows)) in (0..).zip(&self.planes) {
            let constant = rows.len() == 1 && rows[0].len() == 1;
            let stride = if constant {
                0
            } else {
                4 * rows[0].len() as u32
            };
            let width = if constant {
                self.size[0] as usize
            } else {
                rows[0].len()
            };
            let plane = GenericPlane {
                clump_ordering: ClumpOrdering::Linear,
                clump_format: ClumpFormat::RAW32,
                size: 4096,
                pointer: Address(at),
                row_stride: stride,
                width: self.size[0],
                height: self.size[1],
                ..GenericPlane::default()
            };
            put(bench, PLANES + 32 * number, &plane);
            for (y, row) in rows.iter().enumerate() {
                let texels = (0..width).map(|x| row[x % row.len()]);
                let bytes: Vec<u8> = texels.flat_map(f32::to_le_bytes).collect();
                bench.put(1, at + u64::from(stride) * y as u64, &bytes);
            }
            at += 0x1000;
        }
    }
}

/// Samples an image by the instruction `text` for each payload; r8 to r11 of each thread.
#[track_caller]
pub(super) fn sampled(
    image: &Image,
    sampler: &Sampler,
    text: &str,
    payloads: &[[u32; 3]],
) -> Vec<[f32; 4]> {
    sampled_on("G610", image, sampler, (text, payloads))
}

/// As [`sampled`], on another product.
#[track_caller]
pub(super) fn sampled_on(
    gpu: &str,
    image: &Image,
    sampler: &Sampler,
    (text, payloads): (&str, &[[u32; 3]]),
) -> Vec<[f32; 4]> {
    let threads = payloads.len().next_multiple_of(16);
    let dispatch = Dispatch {
        groups: [threads as u32 / 16, 1, 1],
        uniforms: uniforms(&[HANDLE, 0, PAYLOADS as u32, (PAYLOADS >> 32) as u32]),
        ..Dispatch::default()
    };
    let text = format!("{LOAD}\n{text}\n{STORE}");
    let mut bench = run_on(gpu, &dispatch, &text, |bench| {
        image.put(bench);
        put(bench, FREE.0 + 32, sampler);
        for (thread, payload) in (0..).zip(payloads) {
            let bytes: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, PAYLOADS + 16 * thread, &bytes);
        }
    });
    let result = |bench: &mut Bench, thread: u64, index: u64| {
        f32::from_bits(bench.get32(1, BUFFER + 16 * thread + 4 * index))
    };
    (0..payloads.len() as u64)
        .map(|thread| [0, 1, 2, 3].map(|index| result(&mut bench, thread, index)))
        .collect()
}

fn wrap_mode(name: &str) -> WrapMode {
    match name {
        "repeat" => WrapMode::Repeat,
        "clamp_to_edge" => WrapMode::ClampToEdge,
        "clamp_to_border" => WrapMode::ClampToBorder,
        "mirrored_repeat" => WrapMode::MirroredRepeat,
        "mirrored_clamp_to_edge" => WrapMode::MirroredClampToEdge,
        "mirrored_clamp_to_border" => WrapMode::MirroredClampToBorder,
        _ => panic!("{name}: no such wrap mode"),
    }
}

pub(super) fn sampler(nearest: bool) -> Sampler {
    Sampler {
        minify_nearest: nearest,
        magnify_nearest: nearest,
        round_to_nearest_even: !nearest,
        mipmap_mode: MipmapMode::Nearest,
        maximum_lod: Ulod(16.0),
        ..Sampler::default()
    }
}

const SINGLE: &str = "TEX_SINGLE.slot0.reserved.32.2d.zero.wait0 @r8:r9:r10:r11, @r4:r5, u2";
const GATHER: &str = "TEX_GATHER.slot0.reserved.32.2d.gather4_r.wait0 @r8:r9:r10:r11, @r4:r5, u2";

#[test]
fn filters_and_gathers_agree_with_every_vector() {
    for vector in list(SECOND, "texture_linear") {
        let rows = vector["texels"].as_array().expect("rows").iter();
        let floats = |row: &Value| -> Vec<f32> {
            let row = row.as_array().expect("a row").iter();
            row.map(|texel| decimal(texel) as f32).collect()
        };
        let texels: Vec<Vec<f32>> = rows.map(floats).collect();
        let image = Image {
            dimension: TextureDimension::TwoD,
            size: [texels[0].len() as u32, texels.len() as u32],
            levels: 1,
            planes: vec![Plane(texels)],
        };
        let border = RawOrFloat((decimal(&vector["border"]) as f32).to_bits());
        let sampler = |nearest| Sampler {
            wrap_mode_s: wrap_mode(vector["wrap_s"].as_str().expect("a name")),
            wrap_mode_t: wrap_mode(vector["wrap_t"].as_str().expect("a name")),
            border_color_r: border,
            ..sampler(nearest)
        };
        let payload = [[bits(&vector["u"]), bits(&vector["v"]), 0]];
        let linear = sampled(&image, &sampler(false), SINGLE, &payload)[0][0];
        let wanted = decimal(&vector["linear"]);
        assert!(
            (f64::from(linear) - wanted).abs() <= wanted.abs() * 1e-8 + 1e-12,
            "linear {linear}, wanted {wanted}: {vector}"
        );
        let nearest = sampled(&image, &sampler(true), SINGLE, &payload)[0][0];
        assert_eq!(
            f64::from(nearest),
            decimal(&vector["nearest"]),
            "nearest: {vector}"
        );
        let gathered = sampled(&image, &sampler(false), GATHER, &payload)[0];
        let wanted = [0, 1, 2, 3].map(|index| decimal(&vector["gather"][index]) as f32);
        assert_eq!(gathered, wanted, "gather: {vector}");
    }
}

#[test]
fn coordinates_wrap_as_every_vector() {
    const BORDER: f32 = 100.0;
    for vector in list(FIRST, "wrap") {
        let size = number(&vector["size"]);
        let image = Image {
            dimension: TextureDimension::TwoD,
            size: [size as u32, 1],
            levels: 1,
            planes: vec![Plane(vec![(0..size).map(|texel| texel as f32).collect()])],
        };
        let sampler = Sampler {
            wrap_mode_s: wrap_mode(vector["mode"].as_str().expect("a name")),
            border_color_r: RawOrFloat(BORDER.to_bits()),
            ..sampler(true)
        };
        let u = (number(&vector["index"]) as f32 + 0.5) / size as f32;
        let found = sampled(
            &image,
            &sampler,
            SINGLE,
            &[[u.to_bits(), 0.5_f32.to_bits(), 0]],
        )[0][0];
        let wanted = vector["texel"]
            .as_i64()
            .map_or(BORDER, |texel| texel as f32);
        assert_eq!(found, wanted, "{vector}");
    }
}

/// The level that differences across a quad give, in r8; the same in r9 without the clamp.
pub(super) const LEVEL: &str =
    "TEX_GRADIENT.slot0.reserved.32.r.2d.lod_clamp_disable.wait0 @r8, @r4:r5, u2
    TEX_SINGLE.slot0.reserved.32.r.2d.computed.wait0 @r9, @r4:r5, u2
    MOV.i32 r10, 0x0
    MOV.i32 r11, 0x0";

#[test]
fn levels_of_quads_agree_with_every_vector() {
    for vector in list(SECOND, "lod") {
        let image = Image {
            dimension: TextureDimension::TwoD,
            size: [0, 1].map(|axis| number(&vector["size"][axis]) as u32),
            levels: 9,
            planes: (0..9)
                .map(|level| Plane(vec![vec![level as f32]]))
                .collect(),
        };
        let [dsdx, dtdx, dsdy, dtdy] =
            ["dsdx", "dtdx", "dsdy", "dtdy"].map(|name| decimal(&vector[name]) as f32);
        let lanes = [
            [0.0, 0.0],
            [dsdx, dtdx],
            [dsdy, dtdy],
            [dsdx + dsdy, dtdx + dtdy],
        ];
        let payloads: Vec<[u32; 3]> = (0..16)
            .map(|lane| {
                let [s, t] = lanes[lane % 4];
                [s.to_bits(), t.to_bits(), 0]
            })
            .collect();
        for [level, nearest, ..] in sampled(&image, &sampler(true), LEVEL, &payloads) {
            let level = level.to_bits() as u16 as i16;
            assert_eq!(i64::from(level), number(&vector["fixed_s8_8"]), "{vector}");
            assert_eq!(
                nearest as i64,
                number(&vector["nearest_level_of_9"]),
                "{vector}"
            );
        }
    }
}

/// Samples with a word of bias and least level, in r8.
const BIASED: &str = "TEX_SINGLE.slot0.reserved.32.r.2d.computed_bias.wait0 @r8, @r4:r5:r6, u2
    MOV.i32 r9, 0x0
    MOV.i32 r10, 0x0
    MOV.i32 r11, 0x0";

#[test]
fn the_least_level_of_an_instruction_counts_after_the_limits_of_the_sampler() {
    let image = Image {
        dimension: TextureDimension::TwoD,
        size: [16, 16],
        levels: 4,
        planes: (0..4)
            .map(|level| Plane(vec![vec![level as f32]]))
            .collect(),
    };
    let sampler = Sampler {
        maximum_lod: Ulod(1.0),
        ..sampler(true)
    };
    // All threads are at one place, which asks for the finest level. Half way between two levels is the finer one.
    for (least, wanted) in [
        (0, 0.0),
        (0x100, 1.0),
        (0x280, 2.0),
        (0x281, 3.0),
        (0x900, 3.0),
    ] {
        let payload = [0.5_f32.to_bits(), 0.5_f32.to_bits(), least << 16];
        let found = sampled(&image, &sampler, BIASED, &[payload; 16]);
        assert!(
            found.iter().all(|it| it[0] == wanted),
            "{least:#x}: {found:?}, wanted {wanted}"
        );
    }
}

#[test]
fn coordinates_in_texels_take_the_first_level_magnified() {
    let row: Vec<f32> = (0..16).map(|x| x as f32).collect();
    let image = Image {
        dimension: TextureDimension::TwoD,
        size: [16, 1],
        levels: 2,
        planes: vec![Plane(vec![row]), Plane(vec![vec![100.0]])],
    };
    let sampler = Sampler {
        normalized_coordinates: false,
        minify_nearest: true,
        lod_bias: eitri_descriptors::Slod(1.0),
        ..sampler(false)
    };
    let text = BIASED
        .replace("computed_bias", "computed")
        .replace(":r6", "");
    // Three texels from thread to thread, a quarter beyond the middle of a texel.
    let payloads: Vec<[u32; 3]> = (0..16)
        .map(|lane| {
            [
                ((lane % 4 * 3) as f32 + 0.75).to_bits(),
                0.5_f32.to_bits(),
                0,
            ]
        })
        .collect();
    let found = sampled(&image, &sampler, &text, &payloads);
    for (lane, found) in found.iter().enumerate() {
        assert_eq!(found[0], (lane % 4 * 3) as f32 + 0.25, "thread {lane}");
    }
}

#[test]
fn an_instruction_adds_its_bias_to_the_computed_level() {
    let image = Image {
        dimension: TextureDimension::TwoD,
        size: [16, 16],
        levels: 5,
        planes: (0..5)
            .map(|level| Plane(vec![vec![level as f32]]))
            .collect(),
    };
    // Two texels from thread to thread: level 1.
    for (bias, wanted) in [(0, 1.0), (0x200, 3.0), (-0x100, 0.0), (0x300, 4.0)] {
        let payloads: Vec<[u32; 3]> = (0..16)
            .map(|lane| {
                let [s, t] = [lane % 2, lane / 2 % 2].map(|step| step as f32 / 8.0);
                [s.to_bits(), t.to_bits(), bias as u32 & 0xffff]
            })
            .collect();
        let found = sampled(&image, &sampler(true), BIASED, &payloads);
        assert!(
            found.iter().all(|it| it[0] == wanted),
            "{bias:#x}: {found:?}, wanted {wanted}"
        );
    }
}
