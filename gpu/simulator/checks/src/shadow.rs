//! Shadows: which bytes of a memory hold nothing defined, and where that comes from.
//!
//! Must be told: what the host has not written, every store with the undefined bits of its value, every load.
//! Finds: the undefined bits of what is loaded, by byte; which bytes that a shader has stored are undefined in the end.
use rustc_hash::FxHashMap;

use crate::origin::OriginId;

/// A byte that is not wholly defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Byte {
    /// Undefined bits.
    pub(crate) bits: u8,
    /// Where they come from; 0 if nobody wrote the byte.
    pub(crate) origin: OriginId,
    /// The store, if there was one.
    pub(crate) store: Option<u32>,
}

const NEVER: Byte = Byte {
    bits: 0xff,
    origin: 0,
    store: None,
};

/// The shadow of a memory.
#[derive(Clone, Debug)]
pub(crate) enum Shadow {
    /// Bytes that are not defined; all others are.
    Few(FxHashMap<u64, Byte>),
    /// All bytes.
    All(Dense),
}

/// A shadow of each byte.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// A bit for each byte that is not wholly defined: most accesses find none, and read nothing else.
    undefined: Vec<u64>,
    /// What is undefined of a byte whose bit is set.
    bytes: Vec<Byte>,
}

impl Dense {
    /// Whether all of up to eight bytes are defined; those outside are.
    fn is_defined(&self, at: u64, bytes: u32) -> bool {
        (at..at + u64::from(bytes)).all(|at| {
            let word = self.undefined.get((at / 64) as usize);
            word.is_none_or(|word| word >> (at % 64) & 1 == 0)
        })
    }

    fn get(&self, at: u64) -> Byte {
        match self.is_defined(at, 1) {
            true => Byte::default(),
            false => self.bytes.get(at as usize).copied().unwrap_or_default(),
        }
    }

    fn set(&mut self, at: u64, byte: Byte) {
        let word = self.undefined.get_mut((at / 64) as usize);
        let (Some(word), Some(own)) = (word, self.bytes.get_mut(at as usize)) else {
            return;
        };
        match byte.bits {
            0 => *word &= !(1 << (at % 64)),
            _ => {
                *word |= 1 << (at % 64);
                *own = byte;
            }
        }
    }
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow::Few(FxHashMap::default())
    }
}

impl Shadow {
    /// Of memory that nobody has written.
    pub(crate) fn unwritten(bytes: u32) -> Shadow {
        let whole = bytes as usize;
        Shadow::All(Dense {
            undefined: vec![u64::MAX; whole.div_ceil(64)],
            bytes: vec![NEVER; whole],
        })
    }

    /// Says that nobody has written some bytes, of so many.
    pub(crate) fn unwrite(&mut self, bytes: std::ops::Range<u64>, size: u64) {
        if bytes == (0..size) && u32::try_from(size).is_ok() {
            *self = Shadow::unwritten(size as u32);
            return;
        }
        for at in bytes {
            self.set(at, NEVER);
        }
    }

    fn set(&mut self, at: u64, byte: Byte) {
        match self {
            Shadow::Few(few) if byte.bits == 0 => {
                few.remove(&at);
            }
            Shadow::Few(few) => {
                few.insert(at, byte);
            }
            Shadow::All(all) => all.set(at, byte),
        }
    }

    fn get(&self, at: u64) -> Byte {
        match self {
            Shadow::Few(few) => few.get(&at).copied().unwrap_or_default(),
            Shadow::All(all) => all.get(at),
        }
    }

    /// The parts of some bytes that hold nothing defined.
    pub(crate) fn undefined_parts(&self, bytes: std::ops::Range<u64>) -> Vec<std::ops::Range<u64>> {
        let mut parts: Vec<std::ops::Range<u64>> = vec![];
        for at in bytes {
            if self.get(at).bits == 0 {
                continue;
            }
            match parts.last_mut().filter(|part| part.end == at) {
                Some(part) => part.end += 1,
                None => parts.push(at..at + 1),
            }
        }
        parts
    }

    /// Whether some bytes are all defined.
    pub(crate) fn is_defined_at(&self, at: u64, bytes: u32) -> bool {
        match self {
            Shadow::Few(few) => few.is_empty(),
            Shadow::All(all) => all.is_defined(at, bytes),
        }
    }

    /// The undefined bits of some bytes, and the origin of the first of them; `never` where nobody wrote it.
    pub(crate) fn load(&self, at: u64, bytes: u32, never: OriginId) -> (u64, OriginId) {
        let (mut bits, mut origin) = (0, 0);
        for number in 0..u64::from(bytes) {
            let byte = self.get(at + number);
            bits |= u64::from(byte.bits) << (8 * number);
            if byte.bits != 0 && origin == 0 {
                origin = if byte.origin == 0 { never } else { byte.origin };
            }
        }
        (bits, origin)
    }

    /// Takes in a store.
    pub(crate) fn store(
        &mut self,
        at: u64,
        bytes: u32,
        (bits, origin): (u64, OriginId),
        site: u32,
    ) {
        if bits == 0 && self.is_defined_at(at, bytes) {
            return;
        }
        for number in 0..u64::from(bytes) {
            let byte = Byte {
                bits: (bits >> (8 * number)) as u8,
                origin,
                store: Some(site),
            };
            self.set(at + number, byte);
        }
    }

    /// The undefined bytes that were stored.
    pub(crate) fn stored(&self) -> Vec<Byte> {
        match self {
            Shadow::Few(few) => few
                .values()
                .filter(|byte| byte.store.is_some())
                .copied()
                .collect(),
            Shadow::All(_) => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shadow;

    #[test]
    fn undefined_bytes_are_found_by_byte_and_overwritten() {
        let mut shadow = Shadow::default();
        shadow.unwrite(2..4, 16);
        assert_eq!(shadow.load(0, 4, 7), (0xffff_0000, 7));
        shadow.store(2, 1, (0, 0), 1);
        assert_eq!(shadow.load(0, 4, 7), (0xff00_0000, 7));
        assert!(
            shadow.stored().is_empty(),
            "nobody stored what is undefined"
        );
        shadow.store(0, 4, (0x0000_00f0, 9), 1);
        assert_eq!(shadow.load(0, 4, 7), (0xf0, 9));
        assert_eq!(shadow.stored().len(), 1);
        shadow.store(0, 1, (0, 0), 2);
        assert!(shadow.is_defined_at(0, 8));
    }

    #[test]
    fn memory_that_nobody_wrote_is_undefined_until_it_is_stored_to() {
        let mut shadow = Shadow::unwritten(8);
        shadow.store(4, 4, (0, 0), 1);
        assert_eq!(shadow.load(0, 8, 3), (0xffff_ffff, 3));
    }
}
