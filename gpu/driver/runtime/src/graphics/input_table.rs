//! The table of inputs of a draw whose first instance is not 0: what goes on with instances begins later.
//!
//! Facts: hardware/graphics-draw.md 3.6.

use super::pipeline::Places;
use super::vertex_input::MOST_ATTRIBUTES;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::DESCRIPTOR_BYTES;

/// Double words of a descriptor, and the one whose low half is an attribute's offset.
const WORDS: usize = DESCRIPTOR_BYTES as usize / 8;
const OFFSET: usize = 1;
/// Descriptors that are copied together, which divide the attributes.
const TOGETHER: usize = 4;
const _: () = assert!(MOST_ATTRIBUTES.is_multiple_of(TOGETHER));

/// Writes the table of inputs of a pipeline for draws from instance `base` on.
pub(super) fn write_inputs<P: Platform>(
    platform: &mut P,
    places: &Places,
    base: u32,
    mut to: PhysicalAddress,
) {
    let (mut from, _) = places.inputs();
    let mut strides = [0_u64; MOST_ATTRIBUTES / 2];
    platform.read_words(places.strides(), &mut strides);
    for strides in strides.chunks_exact(TOGETHER / 2) {
        let mut words = [0_u64; TOGETHER * WORDS];
        platform.read_words(from, &mut words);
        let halves = strides
            .iter()
            .flat_map(|pair| [*pair as u32, (*pair >> 32) as u32]);
        for (words, stride) in words.chunks_exact_mut(WORDS).zip(halves) {
            if let Some(word) = words.get_mut(OFFSET) {
                let offset = (*word as u32).wrapping_add(base.wrapping_mul(stride));
                *word = *word >> 32 << 32 | u64::from(offset);
            }
        }
        platform.write_words(to, &words);
        let bytes = (TOGETHER as u64).wrapping_mul(DESCRIPTOR_BYTES);
        (from, to) = (from.offset(bytes), to.offset(bytes));
    }
    // The sampler.
    let mut words = [0_u64; WORDS];
    platform.read_words(from, &mut words);
    platform.write_words(to, &words);
}
