//! Bit fields over 32-bit words: at most 64 bits, anywhere.

/// ORs `value` into the `width` bits from `start`. Bits outside `words` are dropped; a layout's size rules them out.
///
/// Straight-line and always inlined: with a place that is known when it is compiled it is an OR or two.
#[inline(always)]
pub(crate) fn or_bits(words: &mut [u32], start: u32, width: u32, value: u64) {
    let (word, shift) = ((start / 32) as usize, start % 32);
    let kept = if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    };
    // At most 31 bits of shift and 64 of value: three words.
    let spread = u128::from(kept) << shift;
    or_word(words, word, spread as u32);
    if shift + width > 32 {
        or_word(words, word + 1, (spread >> 32) as u32);
    }
    if shift + width > 64 {
        or_word(words, word + 2, (spread >> 64) as u32);
    }
}

#[inline(always)]
fn or_word(words: &mut [u32], word: usize, bits: u32) {
    if let Some(word) = words.get_mut(word) {
        *word |= bits;
    }
}

/// The `width` bits from `start`; bits outside `words` read as 0.
#[inline]
pub(crate) fn bits(words: &[u32], start: u32, width: u32) -> u64 {
    let mut value = 0;
    let mut done = 0;
    while done < width {
        let at = start + done;
        let step = (32 - at % 32).min(width - done);
        let word = words.get((at / 32) as usize).copied().unwrap_or(0);
        let part = u64::from(word >> (at % 32)) & ((1 << step) - 1);
        value |= part << done;
        done += step;
    }
    value
}

/// Clears the `width` bits from `start`.
pub(crate) fn clear_bits(words: &mut [u32], start: u32, width: u32) {
    for (index, word) in words.iter_mut().enumerate() {
        *word &= !crate::row::span_in_word(start, width, index as u32);
    }
}
