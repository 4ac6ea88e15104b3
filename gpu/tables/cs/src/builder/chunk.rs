//! Chunks of memory, and the links from one to the next.
//!
//! A link loads address and length of the next chunk and jumps there: at most four words, which every chunk keeps free.
//! The length is known only when the next chunk is closed, and is then patched in.  A block of instructions stays in one
//! piece: when it outgrows its chunk it moves to the next.  Facts: hardware/command-stream.md 6.1.

use super::config::Config;
use super::error::BuildFault;
use crate::instr::{Jump, Move32, Move48};
use crate::register::{Pair, Reg};

/// Memory for instructions, as the CPU writes it and as the GPU reads it.
#[derive(Debug)]
pub struct Chunk<'m> {
    /// The GPU's address of the first word; a multiple of 64.
    pub address: u64,
    /// The words. Those from 2^29 - 1 on stay unused: a length in bytes has 32 bits.
    pub words: &'m mut [u64],
}

impl<'m> Chunk<'m> {
    fn usable(self) -> Chunk<'m> {
        let most = self.words.len().min(u32::MAX as usize / 8);
        let words = self.words.split_at_mut(most).0;
        Chunk { words, ..self }
    }
}

/// Where further chunks come from.
pub trait ChunkSource<'m> {
    /// Whether there are any: if not, chunks need no room for links.
    const LINKS: bool = true;

    /// Another chunk; `None` when there is none left.
    fn next_chunk(&mut self) -> Option<Chunk<'m>>;
}

/// No further chunks.
#[derive(Clone, Copy, Debug)]
pub struct OneChunk;

impl<'m> ChunkSource<'m> for OneChunk {
    const LINKS: bool = false;

    fn next_chunk(&mut self) -> Option<Chunk<'m>> {
        None
    }
}

impl<'m, F: FnMut() -> Option<Chunk<'m>>> ChunkSource<'m> for F {
    fn next_chunk(&mut self) -> Option<Chunk<'m>> {
        self()
    }
}

/// A finished stream: what a CALL or a submission needs to know. Chunks linked to the first are reached from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The GPU's address of the first instruction.
    pub address: u64,
    /// The bytes of the first chunk, its link included. 0: nothing to run, not to be submitted.
    pub length: u32,
}

/// The words of a link: the address by one MOVE48 or two MOVE32, the length, the jump.
pub(super) const LINK_WORDS: usize = 4;

/// Where words go.
#[derive(Debug)]
pub(super) struct Output<'m, S> {
    source: S,
    current: Chunk<'m>,
    /// The words of the current chunk that are written.
    position: usize,
    root_address: u64,
    /// The bytes of the root, once it is closed.
    root_length: Option<u32>,
    /// The MOVE32 that loads the current chunk's length; `None` in the root.
    patch: Option<&'m mut u64>,
}

impl<'m, S: ChunkSource<'m>> Output<'m, S> {
    pub(super) fn new(root: Chunk<'m>, source: S) -> Self {
        Output {
            source,
            root_address: root.address,
            current: root.usable(),
            position: 0,
            root_length: None,
            patch: None,
        }
    }

    pub(super) fn check_root(&self) -> Result<(), BuildFault> {
        Self::check(&self.current)
    }

    fn check(chunk: &Chunk) -> Result<(), BuildFault> {
        if !chunk.address.is_multiple_of(64) {
            return Err(BuildFault::ChunkMisaligned {
                address: chunk.address,
            });
        }
        let capacity = chunk.words.len();
        if S::LINKS && capacity <= LINK_WORDS {
            return Err(BuildFault::ChunkTooSmall { capacity });
        }
        Ok(())
    }

    const RESERVE: usize = if S::LINKS { LINK_WORDS } else { 0 };

    /// The number of words in the current chunk.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The GPU's address of the next word, room for it made.
    pub(super) fn next_address(
        &mut self,
        words: usize,
        config: &Config,
    ) -> Result<u64, BuildFault> {
        if self.position + words + Self::RESERVE > self.current.words.len() {
            self.link(None, config)?;
        }
        Ok(self.current.address + 8 * self.position as u64)
    }

    /// A word of the current chunk.
    pub(super) fn word_mut(&mut self, index: usize) -> Option<&mut u64> {
        self.current.words[..self.position].get_mut(index)
    }

    /// Appends a word. `block` is where the open block begins in the current chunk; it follows when the block moves.
    pub(super) fn append(
        &mut self,
        word: u64,
        block: Option<&mut usize>,
        config: &Config,
    ) -> Result<(), BuildFault> {
        if self.position + 1 + Self::RESERVE > self.current.words.len() {
            self.link(block, config)?;
        }
        let Some(place) = self.current.words.get_mut(self.position) else {
            let capacity = self.current.words.len();
            return Err(BuildFault::ChunkFull { capacity });
        };
        *place = word;
        self.position += 1;
        Ok(())
    }

    /// Goes on in another chunk, and takes the open block along.
    fn link(&mut self, block: Option<&mut usize>, config: &Config) -> Result<(), BuildFault> {
        let start = block.as_deref().copied().unwrap_or(self.position);
        let length = self.position - start;
        let Some(next) = self.source.next_chunk() else {
            let capacity = self.current.words.len();
            return Err(BuildFault::ChunkFull { capacity });
        };
        let next = next.usable();
        Self::check(&next)?;
        let room = next.words.len() - Self::RESERVE;
        if length >= room {
            return Err(BuildFault::BlockTooLong {
                length,
                capacity: room,
            });
        }
        let Chunk { words, .. } = core::mem::replace(&mut self.current, next);
        self.current.words[..length].copy_from_slice(&words[start..self.position]);

        let (link, used, length_word) = link_to(self.current.address, config)?;
        words[start..start + used].copy_from_slice(&link[..used]);
        self.close(start + used);
        self.patch = words.get_mut(start + length_word);
        self.position = length;
        if let Some(block) = block {
            *block = 0;
        }
        Ok(())
    }

    /// The current chunk has `words` words: says so to the link that leads to it.
    fn close(&mut self, words: usize) {
        let bytes = words as u32 * 8; // fits, as no more words are used
        match self.patch.take() {
            // The immediate of MOVE32 is bits 31:0 and was written as 0.
            Some(length) => *length |= u64::from(bytes),
            None => self.root_length = Some(bytes),
        }
    }

    pub(super) fn finish(&mut self) -> Stream {
        self.close(self.position);
        Stream {
            address: self.root_address,
            length: self.root_length.unwrap_or(0),
        }
    }
}

/// The words of a link to `address`, how many they are, and which of them loads the length.
pub(super) fn link_to(
    address: u64,
    config: &Config,
) -> Result<([u64; LINK_WORDS], usize, usize), BuildFault> {
    let (target, length) = (config.layout.link_address(), config.layout.link_length());
    let load_length = move32(length, 0, config)?;
    let jump = Jump {
        address: target,
        length,
    };
    let jump = jump.encode(config.arch)?;
    Ok(match load_address(target, address, config)? {
        (load, None) => ([load, load_length, jump, 0], 3, 1),
        (low, Some(high)) => ([low, high, load_length, jump], 4, 2),
    })
}

/// One MOVE48, or two MOVE32 for an address from 2^48 on.
fn load_address(to: Pair, address: u64, config: &Config) -> Result<(u64, Option<u64>), BuildFault> {
    if address >> 48 == 0 {
        let load = Move48 {
            destination: to,
            immediate: address,
        };
        return Ok((load.encode(config.arch)?, None));
    }
    let low = move32(to.low(), address as u32, config)?;
    let high = move32(to.high(), (address >> 32) as u32, config)?;
    Ok((low, Some(high)))
}

fn move32(destination: Reg, immediate: u32, config: &Config) -> Result<u64, BuildFault> {
    let load = Move32 {
        destination,
        immediate,
    };
    Ok(load.encode(config.arch)?)
}
