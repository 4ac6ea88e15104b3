//! Framebuffer descriptors: those of captures, and wrong ones.

use super::*;
use crate::tile::afbc::Superblock;
use crate::tile::layout::Order;
use crate::tile::tests::{Array, packed, parameters, rgba8};
use crate::tile::{PixelBox, TileBuffer, write_back};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::string::String;
use std::vec;

fn number(json: &Json) -> u64 {
    let text = json.as_str().expect("a string");
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).expect("hexadecimal digits")
}

/// The framebuffers of a capture's fragment jobs; `None` where the captures are missing.
fn captured(case: &str) -> Option<Vec<Framebuffer>> {
    let path = std::format!("hardware/worked/{case}.json");
    let json: Json = serde_json::from_str(&eitri_testdata::read_shared(&path)?).expect("JSON");
    let arch = match json["arch"].as_str() {
        Some("v10") => Arch::V10,
        Some("v12") => Arch::V12,
        Some("v13") => Arch::V13,
        other => panic!("{case} is of {other:?}"),
    };
    let jobs = json["jobs"].as_array().expect("jobs").iter();
    let fragment = jobs.filter(|job| {
        let text = job["text"].as_str().expect("a string");
        text.starts_with("RUN_FRAGMENT")
    });
    let decoded = fragment.map(|job| {
        let mut memory = BTreeMap::new();
        for object in job["objects"].as_array().expect("objects") {
            let address = number(&object["address"]);
            let words = object["words"].as_array().into_iter().flatten();
            memory.extend(
                (0..)
                    .zip(words)
                    .map(|(index, word)| (address + 4 * index, number(word))),
            );
        }
        let registers = job["registers"].as_array().expect("registers").iter();
        let mut pointer = registers.filter(|register| register["register"] == "d40");
        let pointer = number(&pointer.next().expect("d40")["value"]);
        let span = FramebufferSpan::of(arch, pointer).expect("a tagged pointer");
        let words = (0..span.words() as u64).map(|index| {
            let address = span.address + 4 * index;
            // What lies between structures is not recorded: it is zero.
            memory.get(&address).copied().unwrap_or(0) as u32
        });
        let words: Vec<u32> = words.collect();
        let decoded = Framebuffer::decode(arch, span, &words);
        decoded.unwrap_or_else(|error| panic!("{case}: {error:?}"))
    });
    Some(decoded.collect())
}

#[test]
fn every_captured_framebuffer_is_understood() {
    let Some(folder) = eitri_testdata::shared("hardware/worked") else {
        return;
    };
    let mut found = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let Some(case) = name.strip_suffix(".json").map(String::from) else {
            continue;
        };
        for framebuffer in captured(&case).expect("it is there") {
            let attached = framebuffer.targets.iter().any(|it| it.image.is_some());
            assert!(attached || framebuffer.depth.is_some(), "{case}");
            found += 1;
        }
    }
    assert!(found >= 41, "{found} framebuffers");
}

#[test]
fn a_captured_clear_reaches_memory() {
    let Some(framebuffers) = captured("clear-noafbc") else {
        return;
    };
    let framebuffer = &framebuffers[0];
    let image = framebuffer.targets[0].image.expect("an image");
    let Surface::Elements {
        base,
        row_stride,
        order: Order::UInterleaved,
    } = image.surface
    else {
        panic!("u-interleaved memory: {:?}", image.surface);
    };
    assert_eq!((base, row_stride), (0x7fff_ffff_c000, 0x1000));
    let mut memory = Array::new(base, 64 * 64 * 4);
    let tile = TileBuffer::new(framebuffer);
    let clip = PixelBox::of(framebuffer).expect("a box");
    let TileShape { width, height } = framebuffer.tile;
    for y in (0..64).step_by(height as usize) {
        for x in (0..64).step_by(width as usize) {
            write_back(&tile, framebuffer, [x, y], clip, &mut memory).expect("memory is there");
        }
    }
    // The commonest pixel of the expected picture.
    let mut pixels = memory.bytes.chunks(4);
    assert!(pixels.all(|pixel| pixel == 0xff80_4020_u32.to_le_bytes()));
}

#[test]
fn captured_attachments_are_of_the_kinds_that_the_driver_chooses() {
    let Some(framebuffers) = captured("mrt") else {
        return;
    };
    let second = framebuffers[0].targets[1].image.expect("an image");
    let Surface::Afbc(surface) = second.surface else {
        panic!("AFBC: {:?}", second.surface);
    };
    assert_eq!((surface.pixel_bytes, surface.row_stride), (8, 256));
    assert_eq!(surface.superblock, Superblock::SQUARE);
    assert_eq!(surface.transform, Some([16; 4]));
    let msaa = &captured("msaa").expect("it is there")[0];
    assert_eq!(msaa.parameters.sample_count, 4);
    let samples = msaa.targets[0].image.map(|image| image.samples);
    assert_eq!(samples, Some(WrittenSamples::Average));
    let depth = captured("depth").expect("it is there")[0].depth;
    let depth = depth.expect("a depth image");
    assert_eq!(depth.format, ZsFormat::D32);
    assert!(matches!(depth.surface, Surface::Afbc(surface) if surface.body_offset == 0x1000));
    let stencil = captured("stencil").expect("it is there")[0].stencil;
    assert_eq!(stencil.map(|image| image.format), Some(SFormat::S8));
}

/// What becomes of a framebuffer of one target whose words are changed.
fn decoded(tag: u64, change: impl Fn(&mut Vec<u32>)) -> Result<Framebuffer, FramebufferError> {
    let mut words = vec![0; 32];
    let parameters = parameters([16, 16], 1, 256);
    parameters.pack(Arch::V10, &mut words).expect("they pack");
    words.extend(packed(Arch::V10, rgba8(BlockFormat::Linear, 0, 64)));
    change(&mut words);
    let span = FramebufferSpan::of(Arch::V10, tag).expect("a tagged pointer");
    Framebuffer::decode(Arch::V10, span, &words)
}

#[test]
fn wrong_framebuffers_are_named_with_their_place() {
    assert!(decoded(1, |_| {}).is_ok());
    assert!(
        FramebufferSpan::of(Arch::V10, 0x1000).is_err(),
        "bit 0 is missing"
    );
    let short = decoded(1, |words| words.truncate(40)).expect_err("too short");
    let expected = FramebufferError::Length {
        needed: 48,
        found: 40,
    };
    assert_eq!(short, expected);
    let two = decoded(1 | 1 << 2, |words| words.resize(64, 0)).expect_err("two targets");
    let expected = FramebufferError::TargetCount {
        tag: 2,
        parameters: 1,
    };
    assert_eq!(two, expected);
    let extension = decoded(3, |words| words.resize(64, 0)).expect_err("an extension");
    let expected = FramebufferError::ExtensionTag {
        tag: true,
        parameters: false,
    };
    assert_eq!(extension, expected);
    // Tiles of 8 pixels.
    let tile = decoded(1, |words| words[11] = words[11] & !(0xf << 9) | 3 << 9);
    assert_eq!(tile, Err(FramebufferError::TileSize { pixels: 8 }));
    let samples = decoded(1, |words| words[11] |= 5);
    assert_eq!(samples, Err(FramebufferError::SampleCount { samples: 32 }));
    let block = decoded(1, |words| words[33] |= 0xf << 8).expect_err("no block format");
    let FramebufferError::TargetField { target: 0, error } = block else {
        panic!("the field of a target: {block:?}");
    };
    assert_eq!(error.field, "Writeback Block Format");
    // 256 bits a pixel.
    let wide = decoded(1, |words| words[33] = words[33] & !(0x1f << 3) | 9 << 3);
    let is_wide = |error| matches!(error, FramebufferError::TargetNotModelled { target: 0, .. });
    assert!(wide.is_err_and(is_wide));
    let raw = decoded(1, |words| {
        words[32] = words[32] & !(0x3f << 26) | 34 << 26;
        words[33] = words[33] & !(0x1f << 3) | 3 << 3 | 1 << 12;
    });
    assert_eq!(raw, Err(FramebufferError::AverageNotLegal { target: 0 }));
}

#[test]
fn tiles_are_square_or_twice_as_wide_as_high() {
    let shape = |pixels| TileShape::of_area(pixels).map(|shape| (shape.width, shape.height));
    assert_eq!(shape(16), Some((4, 4)));
    assert_eq!(shape(128), Some((16, 8)));
    assert_eq!(shape(1024), Some((32, 32)));
    assert_eq!(shape(4096), Some((64, 64)));
    assert_eq!([8, 100, 8192, 0].map(shape), [None; 4]);
    assert_eq!(TileShape::of_area(512).map(TileShape::pixels), Some(512));
}

#[test]
fn a_stride_has_64_bits() {
    assert_eq!(stride(1, 0x8000_0000), 0x1_8000_0000);
}
