//! Layouts of images against vectors that were computed elsewhere: where the texture unit finds texels, and where stores put them.
//!
//! A layout names offsets and strides, which drivers put into descriptors of planes; the texels are where the model finds them.
//! Memory where nothing was put is zero, and of large images it is not even mapped.
//! Facts: hardware/graphics-framebuffer.md 5.8; hardware/graphics-model.md 4.6.

use super::Dispatch;
use super::texture_vectors::{HANDLE, LOAD, PAYLOADS, STORE, put};
use super::typed::{FREE, uniforms};
use super::vector_files::{FIRST, SECOND, list, number};
use super::{BUFFER, Bench, DONE};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::plane::{
    Astc2DDimension, Astc2DPlane, ClumpFormat, ClumpOrdering, GenericPlane,
};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const IMAGE: u64 = 0x80_0000_0000;
pub(super) const PLANES: u64 = 0x50_0000_0000;
/// Bytes of a block of interleaved 64 KiB memory.
const BLOCK: u64 = 0x1_0000;

/// An image as its vector has it.
struct Image {
    bytes: u64,
    /// Texels of an element along x and y.
    block: [u32; 2],
    order: ClumpOrdering,
    size: [u32; 3],
    layers: u32,
    samples: u32,
    /// Offset, row stride and surface stride of each level.
    levels: Vec<[u64; 3]>,
    array_stride: u64,
}

/// A texel, and the bytes that hold it: exactly it, or all of the tile or block that it is somewhere in.
struct Probe {
    level: u32,
    layer: u32,
    at: [u32; 3],
    sample: u32,
    start: u64,
    bytes: u64,
}

impl Image {
    fn of(vector: &Value, order: ClumpOrdering) -> Image {
        let pair = |value: &Value| [number(&value[0]), number(&value[1])];
        let levels = vector["per_level_offset_row_surface"]
            .as_array()
            .expect("levels");
        Image {
            bytes: number(&vector["block_bytes"]).into(),
            block: pair(&vector["block"]),
            order,
            size: [0, 1, 2].map(|axis| number(&vector["size"][axis])),
            layers: number(&vector["layers"]),
            samples: vector["samples"].as_u64().unwrap_or(1) as u32,
            levels: levels
                .iter()
                .map(|level| [0, 1, 2].map(|at| level[at].as_u64().expect("bytes")))
                .collect(),
            array_stride: vector["array_stride"].as_u64().expect("bytes"),
        }
    }

    /// Elements of the smallest part of the image whose place the facts tell.
    fn tile(&self) -> [u32; 2] {
        match (self.order, self.block) {
            (ClumpOrdering::Linear, _) => [1, 1],
            (ClumpOrdering::TiledUInterleaved, [1, 1]) => [16, 16],
            (ClumpOrdering::TiledUInterleaved, _) => [4, 4],
            _ => match self.bytes {
                1 => [256, 256],
                2 => [256, 128],
                4 => [128, 128],
                8 => [128, 64],
                _ => [64, 64],
            },
        }
    }

    /// The texel's probe.
    fn probe(&self, (level, layer): (u32, u32), at: [u32; 3], sample: u32) -> Probe {
        let [width, height] = self.tile();
        let [offset, row, surface] = self.levels[level as usize];
        let element = [at[0] / self.block[0], at[1] / self.block[1]];
        let bytes = self.bytes * u64::from(width * height);
        let start = offset
            + self.array_stride * u64::from(layer)
            + surface * u64::from(at[2] + sample)
            + row * u64::from(element[1] / height)
            + bytes * u64::from(element[0] / width);
        Probe {
            level,
            layer,
            at,
            sample,
            start,
            bytes,
        }
    }

    /// The first and the last texel of each level, in the first and the last layer.
    fn corners(&self) -> Vec<Probe> {
        let mut probes = Vec::new();
        for level in 0..self.levels.len() as u32 {
            let last = self.size.map(|size| (size >> level).max(1) - 1);
            for layer in BTreeSet::from([0, self.layers - 1]) {
                probes.push(self.probe((level, layer), [0; 3], 0));
                probes.push(self.probe((level, layer), last, self.samples - 1));
            }
        }
        probes
    }

    /// The format of texels, or of what blocks hold.
    fn format(&self) -> u32 {
        match (self.block, self.bytes) {
            ([1, 1], 1) => 0x08_3010,
            ([1, 1], 2) => 0x08_4010,
            ([1, 1], 4) => 0x08_5010,
            ([1, 1], 8) => 0x08_d010,
            ([1, 1], _) => 0x09_d000,
            _ => 0x0b_b000,
        }
    }

    fn put_descriptors(&self, bench: &mut Bench) {
        let texture = Texture {
            dimension: match self.size[2] {
                1 => TextureDimension::TwoD,
                _ => TextureDimension::ThreeD,
            },
            format: PixelFormat(self.format()),
            width: self.size[0],
            height: self.size[1],
            depth: self.size[2],
            swizzle: Swizzle::IDENTITY,
            levels: self.levels.len() as u32,
            array_size: self.layers,
            sample_count: self.samples,
            texel_interleave: self.order != ClumpOrdering::Linear,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        let planes = u64::from(self.layers) * self.levels.len() as u64;
        bench.map(1, PLANES, 32 * planes, Attributes::CACHED);
        for layer in 0..self.layers {
            for level in 0..self.levels.len() as u32 {
                let at = PLANES + 32 * u64::from(layer * self.levels.len() as u32 + level);
                self.put_plane(bench, at, (level, layer));
            }
        }
    }

    fn put_plane(&self, bench: &mut Bench, at: u64, (level, layer): (u32, u32)) {
        let [offset, row, surface] = self.levels[level as usize];
        let slices = u64::from(self.size[2].max(self.samples));
        let pointer = Address(IMAGE + offset + self.array_stride * u64::from(layer));
        let (size, row_stride) = ((surface * slices) as u32, row as u32);
        let clump_format = match (self.block, self.bytes) {
            ([1, 1], 1) => ClumpFormat::RAW8,
            ([1, 1], 2) => ClumpFormat::RAW16,
            ([1, 1], 4) => ClumpFormat::RAW32,
            ([1, 1], 8) => ClumpFormat::RAW64,
            ([1, 1], _) => ClumpFormat::RAW128,
            ([4, 4], 8) => ClumpFormat::BC1Unorm,
            ([4, 4], _) => ClumpFormat::BC3Unorm,
            _ => {
                let side = |texels: u32| match texels {
                    10 => Astc2DDimension::Ten,
                    _ => Astc2DDimension::Twelve,
                };
                let plane = Astc2DPlane {
                    clump_ordering: self.order,
                    block_width: side(self.block[0]),
                    block_height: side(self.block[1]),
                    size,
                    pointer,
                    row_stride,
                    slice_stride: surface as u32,
                    ..Astc2DPlane::default()
                };
                return put(bench, at, &plane);
            }
        };
        let plane = GenericPlane {
            clump_ordering: self.order,
            clump_format,
            size,
            pointer,
            row_stride,
            slice_stride: surface as u32,
            ..GenericPlane::default()
        };
        put(bench, at, &plane);
    }

    /// An element that reads as `code`, 1 to 255, in red.
    fn element(&self, code: u8) -> Vec<u8> {
        match self.block {
            [1, 1] => vec![code; self.bytes as usize],
            [4, 4] => {
                let colour = bc1_colour(code).to_le_bytes();
                let block = [colour[0], colour[1], colour[0], colour[1], 0, 0, 0, 0];
                match self.bytes {
                    8 => block.to_vec(),
                    _ => [[0xff; 8], block].concat(),
                }
            }
            // One colour for all of the block.
            _ => [&0xffff_ffff_ffff_fdfc_u64.to_le_bytes()[..], &[code; 8]].concat(),
        }
    }

    /// What red and green are of an element of `code`: an integer, or bits of floats.
    fn colour(&self, code: u8) -> [u32; 2] {
        let float = |code: u32| (code as f32 / 255.0).to_bits();
        match (self.block, self.bytes) {
            ([1, 1], 16 | 8) => [u32::from(code) * 0x0101_0101; 2],
            ([1, 1], bytes) => [u32::from(code) * (0x0101_0101 >> (32 - 8 * bytes)), 0],
            ([4, 4], _) => {
                let colour = u32::from(bc1_colour(code));
                let (red, green) = (colour >> 11, colour >> 5 & 0x3f);
                [float(red << 3 | red >> 2), float(green << 2 | green >> 4)]
            }
            _ => [float(code.into()); 2],
        }
    }
}

/// A colour of five, six and five bits that is another for each code.
fn bc1_colour(code: u8) -> u16 {
    u16::from(code >> 3) << 11 | u16::from(code & 7) << 5
}

pub(super) fn map_once(bench: &mut Bench, mapped: &mut BTreeSet<u64>, start: u64, bytes: u64) {
    for page in start / 4096..(start + bytes).div_ceil(4096) {
        if mapped.insert(page) {
            bench.map(1, 4096 * page, 4096, Attributes::CACHED);
        }
    }
}

/// Fetches the probes' texels; the bytes of each hold a code of its own, and nothing else does.
#[track_caller]
fn check(image: &Image, probes: Vec<Probe>, vector: &Value) {
    // Of two that share bytes, one is enough.
    let mut starts = BTreeSet::new();
    let probes: Vec<Probe> = probes
        .into_iter()
        .filter(|probe| starts.insert(probe.start))
        .collect();
    for probes in probes.chunks(255) {
        let fetch = match image.size[2] {
            1 => "2d.array_enable.texel_offset",
            _ => "3d.texel_offset",
        };
        let text = format!(
            "{LOAD}
            TEX_FETCH.slot0.reserved.32.{fetch}.wait0 @r8:r9:r10:r11, @r4:r5:r6:r7, u2
            {STORE}"
        );
        let dispatch = Dispatch {
            groups: [probes.len().div_ceil(16) as u32, 1, 1],
            uniforms: uniforms(&[HANDLE, 0, PAYLOADS as u32, 0]),
            ..Dispatch::default()
        };
        let mut bench = dispatch.prepare(&text);
        image.put_descriptors(&mut bench);
        let mut mapped = BTreeSet::new();
        for (code, probe) in (1..).zip(probes) {
            map_once(&mut bench, &mut mapped, IMAGE + probe.start, probe.bytes);
            let count = (probe.bytes / image.bytes) as usize;
            bench.put(1, IMAGE + probe.start, &image.element(code).repeat(count));
        }
        // Lanes without a probe fetch what the last one does.
        for lane in 0..probes.len().next_multiple_of(16) {
            let probe = &probes[lane.min(probes.len() - 1)];
            let [x, y, z] = probe.at;
            let third = if image.size[2] == 1 { probe.layer } else { z };
            let offsets = probe.sample << 16 | probe.level << 24;
            let payload = [x, y, third, offsets];
            let bytes: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, PAYLOADS + 16 * lane as u64, &bytes);
        }
        dispatch.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1, "{vector}\n{}", bench.report());
        bench.expect_no_diagnoses();
        for (lane, (code, probe)) in (1..).zip(probes).enumerate() {
            let found = [0, 4].map(|at| bench.get32(1, BUFFER + 16 * lane as u64 + at));
            let Probe {
                level,
                layer,
                at,
                sample,
                start,
                ..
            } = probe;
            assert_eq!(
                found,
                image.colour(code),
                "level {level}, layer {layer}, {at:?}, sample {sample} at {start:#x}: {vector}"
            );
        }
    }
}

#[test]
fn levels_and_layers_are_where_every_vector_has_them() {
    for vector in list(FIRST, "image_layout") {
        let order = match vector["tiling"].as_str() {
            Some("linear") => ClumpOrdering::Linear,
            Some("u_interleaved") => ClumpOrdering::TiledUInterleaved,
            other => panic!("no order {other:?}"),
        };
        let image = Image::of(&vector, order);
        check(&image, image.corners(), &vector);
    }
}

#[test]
fn blocks_of_64_kib_are_where_every_vector_has_them() {
    for vector in list(SECOND, "image_layout_64k") {
        let image = Image::of(&vector, ClumpOrdering::Interleaved64k);
        let mut probes = image.corners();
        for texel in vector["level0_texel_to_block_start"]
            .as_array()
            .expect("texels")
        {
            let [x, y] = [0, 1].map(|axis| number(&texel[axis]));
            let probe = image.probe((0, 0), [x, y, 0], 0);
            assert_eq!(Some(probe.start), texel[2].as_u64(), "{texel} of {vector}");
            assert_eq!(probe.bytes, BLOCK, "{vector}");
            probes.push(probe);
        }
        check(&image, probes, &vector);
    }
}

/// An image of one level in U-interleaved tiles that holds a vector's texel.
fn tiled(vector: &Value) -> (Image, Probe) {
    let [x, y, width, bytes] = ["x", "y", "width", "bytes"].map(|name| number(&vector[name]));
    let row = u64::from(width.div_ceil(16) * 256 * bytes);
    let rows = u64::from(y / 16 + 1);
    let image = Image {
        bytes: bytes.into(),
        block: [1, 1],
        order: ClumpOrdering::TiledUInterleaved,
        size: [width, y + 1, 1],
        layers: 1,
        samples: 1,
        levels: vec![[0, row, row * rows]],
        array_stride: row * rows,
    };
    let start = number(&vector["address"]).into();
    let probe = Probe {
        level: 0,
        layer: 0,
        at: [x, y, 0],
        sample: 0,
        start,
        bytes: bytes.into(),
    };
    (image, probe)
}

#[test]
fn texels_of_tiles_are_where_every_vector_has_them() {
    for vector in list(FIRST, "u_interleaved_address") {
        let (image, probe) = tiled(&vector);
        // All of the row's other texels are zero, and must be mapped.
        check(&image, vec![probe], &vector);
    }
}

#[test]
fn stored_texels_of_tiles_are_where_every_vector_has_them() {
    for vector in list(FIRST, "u_interleaved_address") {
        let (image, probe) = tiled(&vector);
        let [x, y, _] = probe.at;
        let dispatch = Dispatch {
            size: [1, 1, 1],
            uniforms: uniforms(&[x | y << 16, 0, 0x5a5a_5a5a, 0]),
            ..Dispatch::default()
        };
        let text = "
            MOV.i32 r2, u2
            MOV.i32 r4, u4
            MOV.i32 r5, u4
            MOV.i32 r6, u4
            MOV.i32 r7, u4
            LEA_TEX_IMM.slot0.wait0 @r12:r13:r14, r2, 0x0, table:0x1, index:0x2
            ST_CVT.u32.v4.slot0.wait0 @r4:r5:r6:r7, r12, r14, offset:0x0
            NOP.end";
        let mut bench = dispatch.prepare(text);
        image.put_descriptors(&mut bench);
        let all = image.array_stride;
        bench.map(1, IMAGE, all, Attributes::CACHED);
        dispatch.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1, "{vector}\n{}", bench.report());
        bench.expect_no_diagnoses();
        bench.flush();
        let words = (0..all / 4).map(|word| bench.get32(1, IMAGE + 4 * word));
        let stored: Vec<u64> = words
            .enumerate()
            .flat_map(|(word, value)| {
                let bytes = value.to_le_bytes().into_iter().enumerate();
                let written = bytes.filter(|(_, byte)| *byte != 0);
                written
                    .map(move |(byte, _)| 4 * word as u64 + byte as u64)
                    .collect::<Vec<u64>>()
            })
            .collect();
        let wanted: Vec<u64> = (probe.start..probe.start + image.bytes).collect();
        assert_eq!(stored, wanted, "bytes that are not 0: {vector}");
    }
}
