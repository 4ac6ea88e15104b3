//! Reading little-endian words and byte runs, each step checked.

/// A place in bytes; every read moves it on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    /// The next `length` bytes; `None` when there are fewer.
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next 32-bit word.
    pub(crate) fn word(&mut self) -> Option<u32> {
        let raw = self.take(4)?;
        Some(u32::from_le_bytes(raw.try_into().ok()?))
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }
}
