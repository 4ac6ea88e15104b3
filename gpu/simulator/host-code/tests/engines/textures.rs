//! Messages of textures and images by each engine against lanes that read texels one by one: registers, counters and diagnoses.

use super::messages::{engines, run};
use super::{Random, assemble};
use eitri_isa::Arch;
use eitri_model::host_code::{Lanes, Trial, WARP};
use std::collections::BTreeSet;

/// Samples, gathers and levels: the payload begins in r16, the handle is in r58 and r59.
const SAMPLES: [&str; 19] = [
    "TEX_SINGLE.slot0.f.32.2d.wide_indices.zero.wait0 @r8:r9:r10:r11, @r16:r17, r58",
    "TEX_SINGLE.slot0.f.32.2d.wide_indices.computed.wait0 @r8:r9:r10:r11, @r16:r17, r58",
    "TEX_SINGLE.slot0.f.16.2d.wide_indices.computed.wait0 @r8:r9, @r16:r17, r58",
    "TEX_SINGLE.slot0.f.32.rg.2d.wide_indices.explicit.wait0 @r8:r9, @r16:r17:r18, r58",
    "TEX_SINGLE.slot0.f.32.2d.wide_indices.computed_bias.wait0 @r16:r17:r18:r19, @r16:r17:r18, r58",
    "TEX_SINGLE.slot0.f.32.r.2d.wide_indices.shadow.zero.wait0 @r8, @r16:r17:r18, r58",
    "TEX_SINGLE.slot0.f.32.2d.wide_indices.texel_offset.explicit.wait0 @r8:r9:r10:r11, @r16:r17:r18:r19, r58",
    "TEX_SINGLE.slot0.f.32.2d.wide_indices.array_enable.computed.wait0 @r8:r9:r10:r11, @r16:r17:r18, r58",
    "TEX_SINGLE.slot0.f.32.3d.wide_indices.computed.wait0 @r8:r9:r10:r11, @r16:r17:r18, r58",
    "TEX_SINGLE.slot0.f.32.1d.wide_indices.computed.wait0 @r8:r9:r10:r11, @r16, r58",
    "TEX_SINGLE.slot0.f.32.cube.wide_indices.computed.wait0 @r8:r9:r10:r11, @r20:r21, r58",
    "TEX_SINGLE.slot0.u.32.2d.wide_indices.computed.wait0 @r8:r9:r10:r11, @r16:r17, r58",
    "TEX_GATHER.slot0.f.32.2d.wide_indices.gather4_r.wait0 @r8:r9:r10:r11, @r16:r17, r58",
    "TEX_GATHER.slot0.f.32.2d.wide_indices.gather4_a.wait0 @r8:r9:r10:r11, @r16:r17, r58",
    "TEX_GRADIENT.slot0.f.32.rg.2d.wide_indices.wait0 @r8:r9, @r16:r17, r58",
    "TEX_FETCH.slot0.f.32.2d.wide_indices.wait0 @r8:r9:r10:r11, @r22:r23, r58",
    "TEX_FETCH.slot0.f.32.2d.wide_indices.texel_offset.wait0 @r8:r9:r10:r11, @r22:r23:r24, r58",
    "TEX_FETCH.slot0.f.32.3d.wide_indices.wait0 @r8:r9:r10:r11, @r22:r23:r24, r58",
    "TEX_FETCH.slot0.u.16.2d.wide_indices.array_enable.wait0 @r8:r9, @r22:r23:r24, r58",
];

/// Images: coordinates in r25 and r26, the handle in r59.
const IMAGES: [&str; 4] = [
    "LD_TEX.f32.v4.slot0.wait0 @r8:r9:r10:r11, r25, r26, r59",
    "LD_TEX.auto.v2.slot0.wait0 @r8:r9, r25, r26, r59",
    "LD_TEX.f16.v4.slot0.wait0 @r24:r25, r25, r26, r59",
    "LEA_TEX.slot0.wait0 @r8:r9:r10, r25, r26, r59",
];

/// A message twice in a loop of two rounds: what is direct is sent directly from the second time on.
fn program(line: &str, arch: Arch) -> Vec<u64> {
    let lines = [
        "IADD_IMM.i32 r2, 0x0, #0",
        line,
        "IADD_IMM.i32 r2, r2, #1",
        line,
        "ICMP_OR.u32.lt.m1 r3, r2, r42, 0x0",
        "BRANCHZ.reconverge r3, offset:-5",
        "NOP.end",
    ];
    lines.map(|line| assemble(line, arch)).to_vec()
}

/// Handles in r58 and r59: of the sampler and of the texture.
fn handles(texture: u32, sampler: u32) -> [u32; 2] {
    let [first, textures, _] = Trial::TEXTURES;
    [first + textures + sampler, first + texture]
}

/// Coordinates of a lane: near each other or far, some outside, some no numbers.
fn coordinate(random: &mut Random, kind: u64, lane: u32) -> f32 {
    match kind {
        // A grid as of fragments: quads of two by two pixels.
        0 => (lane / 4 * 2 + lane % 2) as f32 / 16.0 + 0.03125,
        1 => (lane / 4 * 2 + lane % 4 / 2) as f32 * 0.21 - 0.7,
        2 => random.below(4096) as f32 / 256.0 - 8.0,
        3 => random.below(300) as f32 / 256.0,
        _ => random.one(&[0.0, -0.0, 1.0, 0.5, f32::NAN, f32::INFINITY, -3e9, 1e-40]),
    }
}

fn registers(random: &mut Random, kind: u64) -> Vec<Lanes> {
    let mut registers = vec![[0; WARP]; 64];
    registers[42] = [2; WARP];
    for register in [16, 17, 18, 20, 21] {
        registers[register] =
            std::array::from_fn(|lane| coordinate(random, kind, lane as u32).to_bits());
    }
    // Offsets of texels, and a level where a reference or a layer may stand.
    registers[19] = std::array::from_fn(|_| random.next() as u32 & 0x0703_fe01);
    if kind == 1 {
        registers[18] = std::array::from_fn(|_| random.below(0x600) as u32);
    }
    // A face above the first coordinate of a cube.
    for word in &mut registers[20] {
        *word = *word & 0x1fff_ffff | (random.below(6) as u32) << 29;
    }
    let end = if kind == 2 { 20 } else { 4 };
    for register in [22, 23] {
        registers[register] = std::array::from_fn(|_| (random.below(end) as u32).wrapping_sub(1));
    }
    registers[24] = std::array::from_fn(|_| random.below(2) as u32);
    registers[25] =
        std::array::from_fn(|_| random.below(end) as u32 | (random.below(end) as u32) << 16);
    registers[26] = std::array::from_fn(|_| random.below(5) as u32);
    registers
}

/// Runs each line on all textures with some sampler. Most programs run to their end, and their results differ.
fn all_textures(lines: &[&str], seed: u64) {
    let arch = Arch::V10;
    let engines = engines();
    let mut random = Random::new(seed);
    let [_, textures, samplers] = Trial::TEXTURES;
    let (mut ended, mut results) = (0, BTreeSet::new());
    for line in lines {
        let words = program(line, arch);
        for texture in 0..textures {
            for kind in 0..5 {
                let sampler = random.below(samplers.into()) as u32;
                let mut registers = registers(&mut random, kind);
                let handles = handles(texture, sampler);
                (registers[58], registers[59]) = ([handles[0]; WARP], [handles[1]; WARP]);
                if kind == 3 {
                    // Each quad has a texture and a sampler of its own; one has none.
                    let other = |lane: usize| (texture + lane as u32 / 4) % (textures + 8);
                    registers[59] = std::array::from_fn(|lane| Trial::TEXTURES[0] + other(lane));
                }
                let lanes = random.one(&[u16::MAX, u16::MAX, 0x7ffe, 0x0f21]);
                let left = run(&words, arch, &registers, lanes, &engines);
                ended += usize::from(left.turns.1.contains("Ended"));
                results.insert(left.registers[8]);
            }
        }
    }
    let all = lines.len() * textures as usize * 5;
    assert!(ended > all * 3 / 4, "{ended} of {all} have ended");
    assert!(results.len() > all / 4, "{} results", results.len());
}

#[test]
fn a_message_of_a_texture_does_what_its_lanes_do_one_by_one() {
    all_textures(&SAMPLES, 1);
}

#[test]
fn accesses_of_images_do_what_lanes_do_one_by_one() {
    all_textures(&IMAGES, 2);
}
