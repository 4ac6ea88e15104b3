//! Sizes of tiles and of bins, as drivers choose them by vectors that were computed elsewhere: passes of these sizes are whole.
//!
//! Facts: hardware/graphics-framebuffer.md 5.2; hardware/graphics.md 2.6; hardware/graphics-ops-products.md 9.2.

use super::vector_files::{FIRST, bits, list, number};
use super::{BUFFER, CLEAR, Other, Pass, Rectangle, SIDE, STORE, Vertices, pixels};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::framebuffer::{SamplePattern, ZInternalFormat, ZsFormat};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};

/// Stores position `vertex` of the buffer, whose address is in u4.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// Stores the primitive id plus 1.
const ID: &str = "
    IADD_IMM.i32 r0, r57, #0x1
    OUTPUT";

/// Where a target lies that is larger than the others' memory.
const TARGET: u64 = 0x80_0000_0000;

const TRIANGLES: u32 = 8;
const IDS: u32 = 1 << 13;

/// Targets of raw bits beside the first, of four bytes, that make so many bytes a pixel.
fn others(bytes_per_pixel: u32) -> Vec<Other> {
    let mut left = bytes_per_pixel - 4;
    let mut others = Vec::new();
    for (number, (bytes, internal, format)) in [
        (16, ColorBufferInternalFormat::RAW128, ColorFormat::RAW128),
        (16, ColorBufferInternalFormat::RAW128, ColorFormat::RAW128),
        (16, ColorBufferInternalFormat::RAW128, ColorFormat::RAW128),
        (8, ColorBufferInternalFormat::RAW64, ColorFormat::RAW64),
        (4, ColorBufferInternalFormat::RAW32, ColorFormat::RAW32),
    ]
    .into_iter()
    .enumerate()
    {
        if bytes <= left {
            left -= bytes;
            let clear = [1, 2, 3, 4].map(|word| 0x0101_0101 * (4 * number as u32 + word));
            others.push(Other {
                internal,
                format,
                bytes,
                clear,
            });
        }
    }
    assert_eq!(left, 0, "targets of {bytes_per_pixel} bytes");
    others
}

/// A product whose tile buffers have so many bytes for colours and for depth: those of 16 and 8 KiB are half of a G610's, which
/// holds such tiles all the more.
fn product(color: u32, depth: u32) -> &'static str {
    match (color, depth) {
        (16384, 8192) | (32768, 16384) => "G610",
        (65536, 32768) => "G720",
        (65536, 65536) => "G725",
        other => panic!("no product has {other:?}"),
    }
}

#[test]
fn passes_with_the_tiles_of_every_vector_are_whole() {
    for vector in list(FIRST, "tile_size") {
        let [samples, tile, allocation] =
            ["samples", "tile_pixels", "allocation"].map(|name| number(&vector[name]));
        let others = others(number(&vector["bytes_per_pixel"]));
        let pass = Pass {
            gpu: product(number(&vector["T"]), number(&vector["Zt"])),
            samples,
            pattern: match samples {
                8 => SamplePattern::D3D8xGrid,
                16 => SamplePattern::D3D16xGrid,
                _ => SamplePattern::Rotated4xGrid,
            },
            tile,
            allocation: Some(allocation),
            writes_zs: false,
            others: others.clone(),
            uniforms: STORE.to_vec(),
            draws: vec![Rectangle {
                program: "IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT",
                scissor: [[3, 2], [12, 14]],
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut drawn = pass.run();
        for [x, y] in pixels() {
            let inside = (3..=12).contains(&x) && (2..=14).contains(&y);
            for sample in 0..samples {
                let wanted = if inside { 9 } else { CLEAR };
                assert_eq!(
                    drawn.colour([x, y], sample, 0),
                    wanted,
                    "({x}, {y}), sample {sample}: {vector}"
                );
                for (number, other) in others.iter().enumerate() {
                    let at = other.bytes * (SIDE * (SIDE * sample + y) + x);
                    let address = Other::address(number) + u64::from(at);
                    let words = other.clear.iter().take(other.bytes as usize / 4);
                    for (word, wanted) in (0..).zip(words) {
                        let found = drawn.bench.get32(1, address + 4 * word);
                        assert_eq!(
                            found,
                            *wanted,
                            "({x}, {y}), sample {sample} of target {}: {vector}",
                            number + 1
                        );
                    }
                }
            }
        }
    }
}

/// Triangles that every kind of bin has: all of the framebuffer, and one at each corner.
fn triangles([width, height]: [u32; 2]) -> Vec<[[f32; 2]; 3]> {
    let [w, h] = [width, height].map(|side| side as f32);
    vec![
        [[-w, -1.0], [3.0 * w, -1.0], [0.5 * w, 3.0 * h]],
        [[0.0, 0.0], [9.5, 0.0], [0.0, 9.5]],
        [[w, h], [w - 9.5, h], [w, h - 9.5]],
        [[0.5 * w, 0.0], [0.5 * w + 9.5, h], [0.5 * w - 9.5, h]],
    ]
}

/// The number of the last triangle over a pixel's centre, from 1 on.
fn above(triangles: &[[[f32; 2]; 3]], [x, y]: [u32; 2]) -> u32 {
    let at = [x, y].map(|at| f64::from(at) + 0.5);
    let inside = |triangle: &[[f32; 2]; 3]| {
        let corners = triangle.map(|corner| corner.map(f64::from));
        let side = |a: [f64; 2], b: [f64; 2]| {
            (b[0] - a[0]) * (at[1] - a[1]) - (b[1] - a[1]) * (at[0] - a[0])
        };
        let sides = [0, 1, 2].map(|edge| side(corners[edge], corners[(edge + 1) % 3]));
        sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0)
    };
    triangles
        .iter()
        .rposition(inside)
        .map_or(0, |number| number as u32 + 1)
}

#[test]
fn triangles_are_in_the_bins_of_every_vector() {
    for vector in list(FIRST, "hierarchy_mask") {
        let size = ["width", "height"].map(|name| number(&vector[name]));
        // A chunk has a header of 64 bytes.
        let chunk = u64::from(number(&vector["budget"])) + 64;
        let [width, height] = size;
        let boxes = [
            [0, 0],
            [width - SIDE, height - SIDE],
            [width / 2 - SIDE / 2, height / 2 - SIDE / 2],
            [width - SIDE, 0],
        ];
        let boxes = boxes.map(|[x, y]| [[x, y], [x + SIDE - 1, y + SIDE - 1]]);
        let triangles = triangles(size);
        let [store, format] = STORE;
        let pass = Pass {
            target: TARGET,
            size,
            tile: number(&vector["tile_pixels"]),
            hierarchy: bits(&vector["mask"]),
            chunk,
            boxes: boxes.to_vec(),
            writes_zs: false,
            clean_tiles: false,
            depth_format: (ZInternalFormat::D32, ZsFormat::D32),
            uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
            draws: vec![Rectangle {
                vertices: Some(Vertices {
                    mode: TRIANGLES,
                    count: 3 * triangles.len() as u32,
                    program: POSITION,
                    size: 1.0,
                    flags: IDS,
                    indices: None,
                    varying_bytes: 0,
                }),
                program: ID,
                layers: 0,
                scissor: [[0, 0], size.map(|side| side - 1)],
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let address =
            |[x, y]: [u32; 2]| TARGET + 4 * (u64::from(y) * u64::from(width) + u64::from(x));
        let mut drawn = pass.run_with(|bench| {
            for (number, corner) in (0..).zip(triangles.iter().flatten()) {
                let [x, y] = *corner;
                let position: Vec<u8> = [x, y, 0.5, 1.0]
                    .iter()
                    .flat_map(|it: &f32| it.to_le_bytes())
                    .collect();
                bench.put(1, BUFFER + 16 * number, &position);
            }
            let mut mapped = std::collections::BTreeSet::new();
            for [first, _] in boxes {
                for row in 0..SIDE {
                    let start = address([first[0], first[1] + row]);
                    for page in start / 4096..=(start + 4 * u64::from(SIDE) - 1) / 4096 {
                        if mapped.insert(page) {
                            bench.map(1, 4096 * page, 4096, Attributes::CACHED);
                        }
                    }
                }
            }
        });
        for [first, _] in boxes {
            for [x, y] in pixels() {
                let pixel = [first[0] + x, first[1] + y];
                let wanted = above(&triangles, pixel);
                let found = drawn.bench.get32(1, address(pixel));
                assert_eq!(found, wanted, "{pixel:?}: {vector}");
            }
        }
    }
}
