//! Words that nobody checked: descriptors, operands and conversions of any bits end as values, never in a panic.

use super::tests::{Array, packed, parameters, rgba8};
use super::*;
use eitri_descriptors::framebuffer::BlockFormat;
use eitri_descriptors::{Arch, Descriptor};
use std::vec;

/// Numbers without a pattern.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> u32 {
        (self.next() >> 16) as u32
    }
}

/// Does to a tile whatever a program could ask for.
fn use_tile(noise: &mut Noise, framebuffer: &Framebuffer, operands: &mut [u32; 2]) {
    let mut tile = TileBuffer::new(framebuffer);
    for _ in 0..200 {
        let operand = noise.next();
        let Ok(operand) = BlendOperand::decode(framebuffer.arch, operand) else {
            continue;
        };
        let numbers = [0; 4].map(|_| f64::from(f32::from_bits(noise.word())));
        let raw = [0; 4].map(|_| noise.word());
        let pixel = Pixel {
            x: noise.word() % 80,
            y: noise.word() % 80,
        };
        let words = [0; 4].map(|_| noise.word());
        let blend = eitri_descriptors::blend::Blend::unpack_at(framebuffer.arch, &words, 0);
        let state = BlendState {
            descriptors: blend.into_iter().collect(),
        };
        let coverage = noise.word() as u16;
        for source in [Source::Colour(numbers), Source::Raw(raw)] {
            if let BlendOperand::Opaque(mut output) | BlendOperand::FixedFunction(mut output) =
                operand
            {
                output.target %= 3;
                let written = tile.write_opaque(&output, pixel, coverage, &source);
                operands[usize::from(written.is_ok())] += 1;
                // Refusals are values too.
                let _ = tile.blend(&output, &state, pixel, coverage, &source);
                let index = TileIndex::decode(noise.word() & 0xff00_03ff);
                let _ = tile.load(index, pixel, output.conversion);
                let _ = tile.store(index, pixel, coverage, output.conversion, &source);
            }
        }
    }
    let mut memory = Array::new(0x4000, 0x1_0000);
    if let Some(clip) = PixelBox::of(framebuffer) {
        let _ = write_back(&tile, framebuffer, clip.min, clip, &mut memory);
    }
}

#[test]
fn framebuffers_and_operands_of_any_bits_are_values() {
    let mut noise = Noise(0x1234_5678_9abc_def1);
    let (mut decoded, mut operands) = (0, [0; 2]);
    for round in 0..400_usize {
        let arch = [Arch::V10, Arch::V11, Arch::V12, Arch::V13][round % 4];
        let mut words = vec![0; 32];
        let good = parameters([40, 40], 1, 256);
        good.pack(arch, &mut words).expect("they pack");
        // The tag says one target and an extension.
        words[12] |= 1 << 21 | 1 << 18 | 1 << 8;
        words.resize(48, 0);
        words.extend(packed(arch, rgba8(BlockFormat::Linear, 0x4000, 256)));
        // Some words are noise, and in some a few bits.
        for _ in 0..round % 7 {
            let at = 11 + noise.word() as usize % (words.len() - 11);
            let bits = noise.word();
            words[at] = if round % 3 == 0 {
                words[at] ^ (1 << (bits & 31))
            } else {
                bits
            };
        }
        let span = FramebufferSpan::of(arch, 0x4000 | 3).expect("a tagged pointer");
        if let Ok(framebuffer) = Framebuffer::decode(arch, span, &words) {
            decoded += 1;
            use_tile(&mut noise, &framebuffer, &mut operands);
        }
    }
    assert!(decoded > 100, "{decoded} framebuffers were understood");
    let [refused, written] = operands;
    assert!(
        refused > 100 && written > 100,
        "{refused} refused, {written} written"
    );
}
