//! The read-only first-level caches of the shader cores, as a configuration asks for them: those of textures and of the descriptors
//! that shaders name.
//!
//! A core that has read a line this way reads the same bytes again, whatever was written meanwhile, by the host or by the GPU: they
//! are not coherent with the L2. Lines go when the OTHER caches are invalidated, when a core loses its power, and when the GPU is
//! reset. Nothing else drops them but a bound that keeps a hostile driver from filling the host's memory, so a driver that lacks an
//! invalidation is found out.
//!
//! Guarantees: at most [`LINES`] lines a core.
//!
//! Facts: hardware/command-stream.md 1.10 and 6.8, graphics.md 1.7, csf-mmio.md 6.

use crate::l2::LINE;
use crate::memory::BusError;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Lines of a core: more than any has, and a mebibyte of the host's memory.
const LINES: usize = 16384;

type Bytes = [u8; LINE as usize];

/// The lines that the cores hold.
// FACT: which reads go through these caches is told as "texture, descriptor and so on" (hardware/command-stream.md 1.10) and
// "texture/constant caches" (graphics.md 1.7). Taken here are texels of TEX_* and the descriptors, planes and tables that handles
// lead to. LD_TEX is a load/store message (valhall-isa.md, table of opcodes) and reads texels through the load/store cache. The
// descriptors that a job itself names (shader program, local storage, uniforms) are read anew by each job: streams that write them
// need no invalidation (graphics.md 1.7). Settled by rewriting each kind between two jobs on any board.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstLevel {
    /// By the core's number, and by physical address.
    cores: Vec<BTreeMap<u64, Bytes>>,
    /// An invalidation is under way: it has its effect as late as it may.
    asked: bool,
}

impl FirstLevel {
    /// Reads bytes that lie in one page, by a core; `fill` reads a line from the L2.
    pub(crate) fn read(
        &mut self,
        core: u8,
        address: u64,
        bytes: &mut [u8],
        mut fill: impl FnMut(u64, &mut Bytes) -> Result<(), BusError>,
    ) -> Result<(), BusError> {
        let index = usize::from(core);
        if self.cores.len() <= index {
            self.cores.resize(index + 1, BTreeMap::new());
        }
        let lines = &mut self.cores[index];
        let mut rest = bytes;
        let mut place = address;
        while !rest.is_empty() {
            let start = (place % LINE) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(LINE as usize - start));
            let number = place / LINE;
            if !lines.contains_key(&number) {
                let mut line = [0; LINE as usize];
                fill(number * LINE, &mut line)?;
                if lines.len() >= LINES {
                    lines.clear();
                }
                lines.insert(number, line);
            }
            if let Some(line) = lines.get(&number) {
                now.copy_from_slice(&line[start..start + now.len()]);
            }
            place += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Asks for an invalidation.
    pub(crate) fn ask(&mut self) {
        self.asked = true;
    }

    /// The flush that may have asked for an invalidation is complete.
    pub(crate) fn settle(&mut self) {
        if core::mem::take(&mut self.asked) {
            self.lose();
        }
    }

    /// Loses everything: by an invalidation, or with its power.
    pub(crate) fn lose(&mut self) {
        self.cores.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a byte by a core from memory in which every byte is `value`.
    fn byte(caches: &mut FirstLevel, core: u8, address: u64, value: u8) -> u8 {
        let mut seen = [0];
        let read = caches.read(core, address, &mut seen, |_, line| {
            line.fill(value);
            Ok(())
        });
        assert_eq!(read, Ok(()));
        seen[0]
    }

    #[test]
    fn each_core_keeps_its_lines_until_they_are_invalidated() {
        let mut caches = FirstLevel::default();
        assert_eq!(byte(&mut caches, 2, 0x1000, 1), 1);
        assert_eq!(byte(&mut caches, 2, 0x103F, 2), 1, "the same line");
        assert_eq!(byte(&mut caches, 2, 0x1040, 2), 2, "the next line");
        assert_eq!(byte(&mut caches, 0, 0x1000, 3), 3, "another core");
        caches.settle();
        assert_eq!(byte(&mut caches, 2, 0x1000, 4), 1, "nothing was asked for");
        caches.ask();
        assert_eq!(byte(&mut caches, 2, 0x1000, 4), 1, "not yet complete");
        caches.settle();
        assert_eq!(byte(&mut caches, 2, 0x1000, 4), 4);
    }

    #[test]
    fn a_read_may_span_lines() {
        let mut caches = FirstLevel::default();
        let mut seen = [0; 130];
        let mut fills = 0;
        let read = caches.read(0, 0x103F, &mut seen, |_, line| {
            fills += 1;
            line.fill(fills);
            Ok(())
        });
        assert_eq!((read, fills), (Ok(()), 4));
        assert_eq!((seen[0], seen[1], seen[65], seen[129]), (1, 2, 3, 4));
    }

    #[test]
    fn their_number_is_bounded() {
        let mut caches = FirstLevel::default();
        for line in 0..2 * LINES as u64 {
            byte(&mut caches, 0, line * LINE, 0);
        }
        assert!(caches.cores[0].len() <= LINES);
    }
}
