//! Samples of textures of one, two and three dimensions against the rules of the facts, written down here a second time.
//!
//! Samplers, sizes and coordinates are drawn at random. Texels are 64ths, so that sums of weighted texels are exact.
//! Facts: hardware/graphics-model.md 5.1, 5.4; hardware/graphics-texture.md 7.5.

use super::texture_vectors::{HANDLE, PLANES, put};
use super::typed::{FREE, LINEAR, run, uniforms};
use super::{BUFFER, Dispatch};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering, GenericPlane};
use eitri_descriptors::texture::{
    Func, MipmapMode, ReductionMode, Sampler, Texture, TextureDimension, WrapMode,
};
use eitri_descriptors::{Address, Aligned, PixelFormat, RawOrFloat, Slod, Swizzle, Ulod};

/// Bytes of a thread's payload: coordinates, layer, reference, offsets, level.
const PAYLOAD: u64 = 32;
const PAYLOADS: u64 = BUFFER + 0x1000;
const THREADS: usize = 32;
/// Bytes of the memory of a plane.
const PLANE: u64 = 0x800;

/// Numbers without order, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, range: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % range
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// An image and a sampler.
struct Case {
    /// Coordinates.
    axes: usize,
    size: [u32; 3],
    levels: u32,
    layers: u32,
    sampler: Sampler,
    texture_lod: [i64; 2],
    shadow: bool,
    /// The word for the level: explicit, or none.
    explicit: bool,
    gather: bool,
}

/// What a thread asks for.
#[derive(Clone, Copy, Debug)]
struct Thread {
    at: [f32; 3],
    layer: f32,
    reference: f32,
    offset: [i8; 3],
    level: i16,
}

impl Case {
    fn random(random: &mut Random, axes: usize, shadow: bool, gather: bool) -> Case {
        let modes = [
            WrapMode::Repeat,
            WrapMode::ClampToEdge,
            WrapMode::ClampToBorder,
            WrapMode::MirroredRepeat,
            WrapMode::MirroredClampToEdge,
            WrapMode::MirroredClampToBorder,
        ];
        let mut size = [1; 3];
        for side in &mut size[..axes] {
            *side = 1 + random.below(7);
        }
        let most = size.iter().max().copied().unwrap_or(1).ilog2() + 1;
        let levels = 1 + random.below(most);
        let functions = [
            Func::Never,
            Func::Less,
            Func::Equal,
            Func::Gequal,
            Func::Always,
        ];
        let least = random.below(300) as f32 / 256.0;
        Case {
            axes,
            size,
            levels,
            layers: if axes == 3 { 1 } else { 1 + random.below(3) },
            sampler: Sampler {
                reduction_mode: match (shadow, random.below(4)) {
                    (false, 0) => ReductionMode::Minimum,
                    (false, 1) => ReductionMode::Maximum,
                    _ => ReductionMode::Average,
                },
                wrap_mode_s: random.of(&modes),
                wrap_mode_t: random.of(&modes),
                wrap_mode_r: random.of(&modes),
                round_to_nearest_even: random.flag(),
                minify_nearest: random.flag(),
                magnify_nearest: random.flag(),
                magnify_cutoff: random.flag(),
                mipmap_mode: random.of(&[
                    MipmapMode::None,
                    MipmapMode::Nearest,
                    MipmapMode::Trilinear,
                    MipmapMode::PerformanceTrilinear,
                ]),
                minimum_lod: Ulod(least),
                maximum_lod: Ulod(least + random.below(700) as f32 / 256.0),
                lod_bias: Slod(random.below(512) as f32 / 256.0 - 1.0),
                compare_function: random.of(&functions),
                border_color_r: RawOrFloat(9.5_f32.to_bits()),
                ..Sampler::default()
            },
            texture_lod: [0, 256 * i64::from(levels - 1)],
            shadow,
            explicit: random.below(4) != 0,
            gather,
        }
    }

    /// The texel of a level and layer.
    fn texel(&self, level: u32, layer: u32, [x, y, z]: [i64; 3]) -> f32 {
        let number = 1 + x as u32 + 11 * y as u32 + 23 * z as u32 + 41 * level + 59 * layer;
        (number % 64) as f32 / 64.0
    }

    fn level_size(&self, level: u32) -> [i64; 3] {
        self.size.map(|side| i64::from((side >> level).max(1)))
    }

    /// A wrapped index; `None` is the border.
    fn wrapped(mode: WrapMode, at: i64, size: i64) -> Option<i64> {
        // Mirrored: texel -1 is texel 0 again, and texel `size` the last.
        let mirror = |at: i64| if at < 0 { -1 - at } else { at };
        let inside = |at: i64| (at >= 0 && at < size).then_some(at);
        match mode {
            WrapMode::Repeat => Some(((at % size) + size) % size),
            WrapMode::ClampToEdge => Some(at.max(0).min(size - 1)),
            WrapMode::ClampToBorder => inside(at),
            WrapMode::MirroredRepeat => {
                let turn = ((at % (2 * size)) + 2 * size) % (2 * size);
                Some(turn.min(2 * size - 1 - turn))
            }
            WrapMode::MirroredClampToEdge => Some(mirror(at).min(size - 1)),
            WrapMode::MirroredClampToBorder => inside(mirror(at)),
        }
    }

    /// The value of a tap: compared, if the case does so.
    fn tap(&self, level: u32, thread: &Thread, at: [i64; 3]) -> f64 {
        let sampler = &self.sampler;
        let modes = [
            sampler.wrap_mode_s,
            sampler.wrap_mode_t,
            sampler.wrap_mode_r,
        ];
        let size = self.level_size(level);
        let mut texel = [0; 3];
        let mut border = false;
        for axis in 0..self.axes {
            match Case::wrapped(modes[axis], at[axis], size[axis]) {
                Some(index) => texel[axis] = index,
                None => border = true,
            }
        }
        let layer = thread.layer.round_ties_even().max(0.0) as u32;
        let value = match border {
            true => 9.5,
            false => self.texel(level, layer.min(self.layers - 1), texel),
        };
        if !self.shadow {
            return value.into();
        }
        let holds = match sampler.compare_function {
            Func::Never => false,
            Func::Less => value < thread.reference,
            Func::Equal => value == thread.reference,
            Func::Gequal => value >= thread.reference,
            _ => true,
        };
        f64::from(u8::from(holds))
    }

    /// Coordinates in 256ths of a texel.
    fn fixed(&self, level: u32, thread: &Thread) -> [i64; 3] {
        let size = self.level_size(level);
        std::array::from_fn(|axis| {
            if axis >= self.axes {
                return 0;
            }
            let exact = f64::from(thread.at[axis]) * size[axis] as f64 * 256.0;
            let whole = match self.sampler.round_to_nearest_even {
                true => exact.round_ties_even(),
                false => exact.floor(),
            };
            whole as i64 + 256 * i64::from(thread.offset[axis])
        })
    }

    /// Values and weights, in 2^-24, of the taps of a level.
    fn taps(&self, level: u32, nearest: bool, thread: &Thread) -> Vec<(f64, i64)> {
        let fixed = self.fixed(level, thread);
        if nearest {
            return vec![(self.tap(level, thread, fixed.map(|at| at >> 8)), 1 << 24)];
        }
        let mut taps = Vec::new();
        for corner in 0..8_i64 {
            let mut weight = 1;
            let at = std::array::from_fn(|axis| {
                let up = corner >> axis & 1;
                let moved = if axis < self.axes {
                    fixed[axis] - 128
                } else {
                    0
                };
                weight *= if up == 1 {
                    moved & 255
                } else {
                    256 - (moved & 255)
                };
                (moved >> 8) + up
            });
            if weight != 0 {
                taps.push((self.tap(level, thread, at), weight));
            }
        }
        taps
    }

    fn reduced(&self, taps: &[(f64, f64)]) -> f64 {
        let values = taps.iter().map(|tap| tap.0);
        match self.sampler.reduction_mode {
            ReductionMode::Average => taps.iter().map(|(value, weight)| value * weight).sum(),
            ReductionMode::Minimum => values.fold(f64::INFINITY, f64::min),
            ReductionMode::Maximum => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn sampled(&self, thread: &Thread) -> f64 {
        let sampler = &self.sampler;
        let lod = |value: f32| (value * 256.0).round() as i64;
        let asked = if self.explicit {
            i64::from(thread.level)
        } else {
            0
        };
        let level = (asked + lod(sampler.lod_bias.0))
            .max(lod(sampler.minimum_lod.0))
            .min(lod(sampler.maximum_lod.0))
            .max(self.texture_lod[0]);
        let magnified = level <= if sampler.magnify_cutoff { 128 } else { 0 };
        // The texture's greatest level chooses levels, not filters: docs/open-facts.md.
        let level = level.min(self.texture_lod[1]);
        let nearest = if magnified {
            sampler.magnify_nearest
        } else {
            sampler.minify_nearest
        };
        let last = i64::from(self.levels) - 1;
        let parts = match sampler.mipmap_mode {
            MipmapMode::None => vec![(0, 256)],
            MipmapMode::Nearest => {
                let nearest = (level as f64 / 256.0 + 0.5).ceil() as i64 - 1;
                vec![(nearest.max(0).min(last), 256)]
            }
            _ => vec![
                ((level >> 8).max(0).min(last), 256 - (level & 255)),
                (((level >> 8) + 1).max(0).min(last), level & 255),
            ],
        };
        let mut taps = Vec::new();
        for (level, part) in parts.into_iter().filter(|(_, part)| *part != 0) {
            let of_level = self.taps(level as u32, nearest, thread).into_iter();
            let whole = 2_f64.powi(-32);
            taps.extend(of_level.map(|(value, weight)| (value, (weight * part) as f64 * whole)));
        }
        self.reduced(&taps)
    }

    fn gathered(&self, thread: &Thread) -> [f64; 4] {
        let fixed = self.fixed(0, thread);
        let [x, y] = [0, 1].map(|axis| (fixed[axis] - 128) >> 8);
        [[0, 1], [1, 1], [1, 0], [0, 0]]
            .map(|[right, down]| self.tap(0, thread, [x + right, y + down, 0]))
    }

    /// The instruction: results in r16 on, the payload from r4 on.
    fn text(&self) -> String {
        let count = self.axes
            + usize::from(self.layers > 1)
            + usize::from(self.shadow)
            + 1
            + usize::from(self.explicit && !self.gather);
        let range = |first: usize, count: usize| {
            let names: Vec<String> = (first..first + count).map(|at| format!("r{at}")).collect();
            format!("@{}", names.join(":"))
        };
        let array = if self.layers > 1 { ".array_enable" } else { "" };
        let shadow = if self.shadow { ".shadow" } else { "" };
        let (name, mode) = match (self.gather, self.explicit) {
            (true, _) => ("TEX_GATHER", ".gather4_r"),
            (false, true) => ("TEX_SINGLE", ".explicit"),
            (false, false) => ("TEX_SINGLE", ".zero"),
        };
        format!(
            "{name}.slot0.reserved.32.{}d{array}.texel_offset{shadow}{mode}.wait0 {}, {}, u2",
            self.axes,
            range(16, 4),
            range(4, count)
        )
    }

    /// The words of a payload, without gaps.
    fn payload(&self, thread: &Thread) -> Vec<u32> {
        let mut words: Vec<u32> = thread.at[..self.axes]
            .iter()
            .map(|it| it.to_bits())
            .collect();
        words.extend((self.layers > 1).then(|| thread.layer.to_bits()));
        words.extend(self.shadow.then(|| thread.reference.to_bits()));
        let [x, y, z] = thread.offset.map(|offset| u32::from(offset as u8));
        words.push(x | y << 8 | z << 16);
        words.extend((self.explicit && !self.gather).then(|| u32::from(thread.level as u16)));
        words.resize(8, 0);
        words
    }

    fn run(&self, threads: &[Thread]) -> Vec<[f32; 4]> {
        let text = format!(
            "SHADDX.u64 r2, u4, r60.w0, shift:0x5
            LOAD.i128.unsigned.slot0.wait0 @r4:r5:r6:r7, r2, offset:0
            LOAD.i128.unsigned.slot0.wait0 @r8:r9:r10:r11, r2, offset:16
            {}
            SHADDX.u64 r0, u0, r60.w0, shift:0x4
            STORE.i128.slot0.wait0 @r16:r17:r18:r19, r0, offset:0
            NOP.end",
            self.text()
        );
        let dispatch = Dispatch {
            groups: [threads.len() as u32 / 16, 1, 1],
            uniforms: uniforms(&[HANDLE, 0, PAYLOADS as u32, (PAYLOADS >> 32) as u32]),
            ..Dispatch::default()
        };
        let mut bench = run(&dispatch, &text, |bench| {
            self.put(bench);
            for (number, thread) in (0..).zip(threads) {
                let words = self.payload(thread);
                let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
                bench.put(1, PAYLOADS + PAYLOAD * number, &bytes);
            }
        });
        (0..threads.len() as u64)
            .map(|thread| {
                [0, 4, 8, 12].map(|at| f32::from_bits(bench.get32(1, BUFFER + 16 * thread + at)))
            })
            .collect()
    }

    fn put(&self, bench: &mut super::Bench) {
        let texture = Texture {
            dimension: match self.axes {
                1 => TextureDimension::OneD,
                2 => TextureDimension::TwoD,
                _ => TextureDimension::ThreeD,
            },
            // R32_SFLOAT.
            format: PixelFormat(0x0a_7010),
            width: self.size[0],
            height: self.size[1],
            depth: self.size[2],
            swizzle: Swizzle::IDENTITY,
            levels: self.levels,
            maximum_lod: Ulod((self.levels - 1) as f32),
            array_size: self.layers,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        put(bench, FREE.0 + 32, &self.sampler);
        for plane in 0..self.layers * self.levels {
            let (layer, level) = (plane / self.levels, plane % self.levels);
            let [width, height, depth] = self.level_size(level);
            let pointer = LINEAR + PLANE * u64::from(plane);
            let row_stride = 4 * width as u32;
            let descriptor = GenericPlane {
                clump_ordering: ClumpOrdering::Linear,
                clump_format: ClumpFormat::RAW32,
                size: PLANE as u32,
                pointer: Address(pointer),
                row_stride,
                slice_stride: row_stride * height as u32,
                ..GenericPlane::default()
            };
            put(bench, PLANES + 32 * u64::from(plane), &descriptor);
            let places = (0..depth * height * width)
                .map(|at| [at % width, at / width % height, at / (width * height)]);
            let texels = places.map(|at| self.texel(level, layer, at));
            let bytes: Vec<u8> = texels.flat_map(f32::to_le_bytes).collect();
            bench.put(1, pointer, &bytes);
        }
    }
}

fn threads(random: &mut Random, case: &Case) -> Vec<Thread> {
    (0..THREADS)
        .map(|_| Thread {
            // From -2 to 2, some of them on borders of texels.
            at: std::array::from_fn(|axis| match random.below(4) {
                0 => (random.below(17) as f32 - 8.0) / (2.0 * case.size[axis] as f32),
                _ => random.below(0x1_0000) as f32 / 16384.0 - 2.0,
            }),
            layer: random.below(32) as f32 / 8.0 - 0.5,
            reference: random.below(64) as f32 / 64.0,
            offset: std::array::from_fn(|axis| {
                if axis < case.axes {
                    random.below(16) as i8 - 8
                } else {
                    0
                }
            }),
            level: random.below(1200) as i16 - 300,
        })
        .collect()
}

/// Runs random cases of a number of coordinates.
#[track_caller]
fn check(seed: u64, axes: usize, [shadow, gather]: [bool; 2]) {
    let mut random = Random(seed);
    let cases = if eitri_testdata::long() { 400 } else { 16 };
    for number in 0..cases {
        let case = Case::random(&mut random, axes, shadow, gather);
        let threads = threads(&mut random, &case);
        for (thread, found) in threads.iter().zip(case.run(&threads)) {
            let wanted = match gather {
                true => case.gathered(thread).map(|value| value as f32),
                false => [case.sampled(thread) as f32, 0.0, 0.0, 1.0],
            };
            // A shadow sample has its result in red; what the others hold is the format's business.
            let count = if shadow && !gather { 1 } else { 4 };
            assert_eq!(
                found[..count],
                wanted[..count],
                "case {number}: {thread:?} of {} levels and {} layers of {:?}, {:?}\n{}",
                case.levels,
                case.layers,
                case.size,
                case.sampler,
                case.text()
            );
        }
    }
}

#[test]
fn random_samples_of_each_dimension_agree_with_the_rules() {
    for axes in 1..=3 {
        check(0x5eed_0001 + axes as u64, axes, [false, false]);
    }
}

#[test]
fn random_comparisons_agree_with_the_rules() {
    for axes in 1..=2 {
        check(0x5eed_0011 + axes as u64, axes, [true, false]);
    }
}

#[test]
fn random_gathers_agree_with_the_rules() {
    check(0x5eed_0021, 2, [false, true]);
    check(0x5eed_0022, 2, [true, true]);
}

/// hardware/descriptors.md 7: the sampler says whether texels on the curve of sRGB are taken as they are stored.
#[test]
fn a_sampler_may_leave_srgb_texels_as_they_are_stored() {
    // R8G8B8A8_SRGB.
    let format = PixelFormat(0x1b_b000);
    let texel = [0x80_u8, 0x40, 0xff, 0x80];
    for srgb_override in [false, true] {
        let text = "
            MOV.i32 r4, 0x0
            MOV.i32 r5, 0x0
            TEX_SINGLE.slot0.reserved.32.2d.zero.wait0 @r8:r9:r10:r11, @r4:r5, u2
            SHADDX.u64 r0, u0, r60.w0, shift:0x4
            STORE.i128.slot0.wait0 @r8:r9:r10:r11, r0, offset:0
            NOP.end";
        let dispatch = Dispatch {
            uniforms: uniforms(&[HANDLE, 0]),
            ..Dispatch::default()
        };
        let mut bench = run(&dispatch, text, |bench| {
            let texture = Texture {
                dimension: TextureDimension::TwoD,
                format,
                width: 1,
                height: 1,
                swizzle: Swizzle::IDENTITY,
                surfaces: Aligned::new(PLANES).expect("aligned"),
                ..Texture::default()
            };
            put(bench, FREE.0, &texture);
            let sampler = Sampler {
                srgb_override,
                ..Sampler::default()
            };
            put(bench, FREE.0 + 32, &sampler);
            let plane = GenericPlane {
                clump_ordering: ClumpOrdering::Linear,
                clump_format: ClumpFormat::RAW32,
                size: PLANE as u32,
                pointer: Address(LINEAR),
                row_stride: 64,
                ..GenericPlane::default()
            };
            put(bench, PLANES, &plane);
            bench.put(1, LINEAR, &texel);
        });
        for (at, stored) in (0..).zip(texel) {
            let code = f32::from(stored) / 255.0;
            // Alpha is never on the curve.
            let wanted = match srgb_override || at == 3 {
                true => code,
                false => ((code + 0.055) / 1.055).powf(2.4),
            };
            let found = f32::from_bits(bench.get32(1, BUFFER + 4 * at));
            assert!(
                (found - wanted).abs() < 1e-3,
                "component {at} is {found}, not {wanted}; override {srgb_override}"
            );
        }
    }
}
