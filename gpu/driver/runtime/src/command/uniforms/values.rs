//! Values of which uniforms are made: push constants, counts, and what steps read and make.
//!
//! Guarantees: every place that a byte can name is there.
//! Facts: hardware/compiler-abi.md section 4.

use eitri_program::{FauOp, MAX_FAU_STEPS, MAX_PUSH_CONSTANT_BYTES};

const _: () = assert!(PUSHED <= u8::MAX as usize);
/// Words of push constants.
const PUSHED: usize = MAX_PUSH_CONSTANT_BYTES as usize / 4;
/// Behind them stand the workgroups along each axis, and a zero for whatever stays the same.
pub(super) const COUNTS: usize = PUSHED;
pub(super) const ZERO: usize = COUNTS + 3;
/// Behind that what steps read and make: each may read a constant and make a word, and begin with another constant.
pub(crate) const WORKED: usize = ZERO + 1;
const VALUES: usize = 256;
const _: () = assert!(WORKED + 3 * MAX_FAU_STEPS <= VALUES);

/// A step that is taken at each dispatch or draw, between places of the values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UniformStep {
    pub(crate) op: FauOp,
    pub(crate) from: u8,
    pub(crate) with: u8,
    pub(crate) to: u8,
}

/// The values.
#[derive(Debug)]
pub(crate) struct UniformValues {
    words: [u32; VALUES],
    /// Words of push constants from the first on that are not known to be 0.
    pushed: u8,
}

impl UniformValues {
    /// Those of no commands.
    pub(crate) const NOTHING: UniformValues = UniformValues {
        words: [0; VALUES],
        pushed: 0,
    };

    /// Begins with the push constants of commands that have none: zeros.
    pub(crate) fn begin(&mut self) {
        // What steps read and make is put there when it is found out.
        self.set_counts([0; 3]);
        if self.pushed != 0 {
            let values = self.words.get_mut(..usize::from(self.pushed));
            values.unwrap_or_default().fill(0);
            self.pushed = 0;
        }
    }

    /// The value at a place.
    #[inline(always)]
    pub(crate) fn get(&self, place: u8) -> u32 {
        self.words.get(usize::from(place)).copied().unwrap_or(0)
    }

    /// Changes the value at a place.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: u8, value: u32) {
        if let Some(it) = self.words.get_mut(usize::from(place)) {
            *it = value;
        }
    }

    /// The values from a place on.
    #[inline(always)]
    pub(crate) fn behind(&self, place: u8) -> &[u32] {
        self.words.get(usize::from(place)..).unwrap_or_default()
    }

    /// What steps read and make.
    #[inline(always)]
    pub(crate) fn worked(&self) -> &[u32] {
        self.words.get(WORKED..).unwrap_or_default()
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn worked_mut(&mut self) -> &mut [u32] {
        self.words.get_mut(WORKED..).unwrap_or_default()
    }

    /// Takes a step.
    #[inline(always)]
    pub(crate) fn take(&mut self, UniformStep { op, from, with, to }: UniformStep) {
        let made = op.apply(self.get(from), self.get(with));
        self.set(to, made);
    }

    /// A word of the push constants.
    pub(crate) fn pushed(&self, offset: u32) -> u32 {
        let word = self.words.get(offset as usize / 4);
        word.copied().unwrap_or(0)
    }

    /// Changes push constants from byte `offset` on; whether they are others now. `None` if there are not so many.
    #[inline(always)]
    pub(crate) fn push(&mut self, offset: usize, bytes: &[u8]) -> Option<bool> {
        let end = offset.checked_add(bytes.len())?;
        if end > PUSHED * 4 {
            return None;
        }
        // At most 64.
        self.pushed = self.pushed.max(end.div_ceil(4) as u8);
        let (whole, rest) = if offset.is_multiple_of(4) {
            bytes.as_chunks::<4>()
        } else {
            (&[][..], bytes)
        };
        let mut different = 0;
        for (value, bytes) in self.words.get_mut(offset / 4..)?.iter_mut().zip(whole) {
            let new = u32::from_le_bytes(*bytes);
            different |= *value ^ new;
            *value = new;
        }
        if !rest.is_empty() {
            different |= self.push_bytes(end.wrapping_sub(rest.len()), rest);
        }
        Some(different != 0)
    }

    /// Changes bytes of push constants, which there are; not 0 if they are others now.
    #[inline(never)]
    fn push_bytes(&mut self, offset: usize, bytes: &[u8]) -> u32 {
        let mut different = 0;
        for (at, byte) in (offset..).zip(bytes) {
            let Some(value) = self.words.get_mut(at / 4) else {
                break;
            };
            let mut bytes = value.to_le_bytes();
            if let Some(place) = bytes.get_mut(at % 4) {
                *place = *byte;
            }
            let new = u32::from_le_bytes(bytes);
            different |= *value ^ new;
            *value = new;
        }
        different
    }

    /// Says how many workgroups the next dispatch has.
    #[inline(always)]
    pub(crate) fn set_counts(&mut self, counts: [u32; 3]) {
        let values = self.words.get_mut(COUNTS..).unwrap_or_default();
        if let Some(values) = values.first_chunk_mut() {
            *values = counts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_constants_say_whether_they_have_changed() {
        let mut values = UniformValues::NOTHING;
        assert_eq!(values.push(3, &[0, 0, 0, 0, 0]), Some(false));
        assert_eq!(values.push(3, &[0, 0, 0, 0, 1]), Some(true));
        assert_eq!(values.push(3, &[0, 0, 0, 0, 1]), Some(false));
        assert_eq!(values.get(1), 1 << 24);
        assert_eq!(values.push(252, &[1; 4]), Some(true));
        assert_eq!(values.push(253, &[1; 4]), None, "one too many");
        assert_eq!(values.push(usize::MAX, &[1]), None);
    }
}
