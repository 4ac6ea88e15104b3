//! Interrupt blocks: latched sources, masks, and the three level lines.
//!
//! Facts: hardware/csf-mmio.md 3 and 12.

/// The levels of the device's three interrupt lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The firmware's interface wants attention.
    pub job: bool,
    /// A page fault, or an address-space command that completed.
    pub mmu: bool,
    /// Everything else: reset, power, cache flushes, faults of the GPU.
    pub gpu: bool,
}

impl Lines {
    /// Whether any line is high.
    pub fn any(self) -> bool {
        self.job || self.mmu || self.gpu
    }

    /// Whether a line is high that was low in `before`.
    pub(crate) fn rose_since(self, before: Lines) -> bool {
        self.job && !before.job || self.mmu && !before.mmu || self.gpu && !before.gpu
    }
}

/// One block of four registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IrqBlock {
    raw: u32,
    mask: u32,
    /// Sources that are levels of something else: CLEAR does not reach them.
    held: u32,
    /// Sources that are broken: never latched.
    lost: u32,
}

impl IrqBlock {
    /// Latches the sources in `bits`.
    pub(crate) fn raise(&mut self, bits: u32) {
        self.raw |= bits & !self.lost;
    }

    pub(crate) fn clear(&mut self, bits: u32) {
        self.raw &= !bits | self.held;
    }

    /// The sources in `bits` follow a level from now on, which is high or low.
    pub(crate) fn hold(&mut self, bits: u32, high: bool) {
        if high {
            self.held |= bits;
            self.raw |= bits;
        } else {
            self.held &= !bits;
            self.raw &= !bits;
        }
    }

    pub(crate) fn raw(self) -> u32 {
        self.raw
    }

    pub(crate) fn mask(self) -> u32 {
        self.mask
    }

    pub(crate) fn set_mask(&mut self, mask: u32) {
        self.mask = mask;
    }

    /// The latched sources that the mask lets through.
    pub(crate) fn status(self) -> u32 {
        self.raw & self.mask
    }
}

/// The blocks of the three lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interrupts {
    pub(crate) job: IrqBlock,
    pub(crate) mmu: IrqBlock,
    pub(crate) gpu: IrqBlock,
}

impl Interrupts {
    /// The blocks, with sources of each line that are never latched.
    pub(crate) fn without(job: u32, mmu: u32, gpu: u32) -> Interrupts {
        let block = |lost| IrqBlock {
            lost,
            ..IrqBlock::default()
        };
        Interrupts {
            job: block(job),
            mmu: block(mmu),
            gpu: block(gpu),
        }
    }

    pub(crate) fn lines(self) -> Lines {
        Lines {
            job: self.job.status() != 0,
            mmu: self.mmu.status() != 0,
            gpu: self.gpu.status() != 0,
        }
    }
}
