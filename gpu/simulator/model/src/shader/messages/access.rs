//! Access: where each lane's bytes are, and one lane's read or write of them.

use super::super::lanes::WARP;
use super::super::stopped::Stopped;
use super::super::warp::bits;
use super::{Sender, Target, Targets};
use crate::diagnosis::ShaderMisuse;
use crate::l2::{CACHED, Requester};
use crate::memory::{BusError, PAGE};
use crate::mmu::{AccessKind, Refusal, Request};

/// The page of the last translation.
pub(super) type LastPage = Option<(u64, u64)>;

/// What compilers guarantee: elements lie at multiples of their size, up to words (atomics: whole).
pub(super) fn alignment(kind: AccessKind, bytes: u8) -> u64 {
    match (kind, bytes) {
        (AccessKind::Atomic, _) => bytes.into(),
        (_, 2 | 6) => 2,
        (_, 1 | 3) => 1,
        _ => 4,
    }
}

impl Sender<'_> {
    /// Where the accesses of `lanes` go, of `bytes` at `addresses` each.
    pub(super) fn locate(
        &mut self,
        addresses: &[u64; WARP],
        lanes: u16,
        bytes: u8,
        kind: AccessKind,
    ) -> Result<Targets, Stopped> {
        let mut targets = Targets::default();
        let mut page = None;
        for lane in bits(lanes) {
            self.touched.lane = lane as u8;
            targets[lane] = self.target(addresses[lane], bytes, kind, &mut page)?;
        }
        Ok(targets)
    }

    /// Where one access goes; `page` is that of the lane before, which is usually the same.
    #[inline]
    pub(super) fn target(
        &mut self,
        address: u64,
        bytes: u8,
        kind: AccessKind,
        page: &mut LastPage,
    ) -> Result<Target, Stopped> {
        self.aligned_target(address, (bytes, alignment(kind, bytes)), kind, page)
    }

    /// As [`Sender::target`], of an access that must lie at a multiple of `alignment`.
    #[inline]
    pub(super) fn aligned_target(
        &mut self,
        address: u64,
        (bytes, alignment): (u8, u64),
        kind: AccessKind,
        page: &mut LastPage,
    ) -> Result<Target, Stopped> {
        if bytes == 0 {
            return Ok(Target::default());
        }
        if !address.is_multiple_of(alignment) {
            self.report(ShaderMisuse::MisalignedAccess { address, bytes });
        }
        let number = address / PAGE;
        let frame = match *page {
            Some((last, frame)) if last == number => frame,
            _ => {
                let frame = self.translate(address, kind)? / PAGE * PAGE;
                *page = Some((number, frame));
                frame
            }
        };
        let last = address.wrapping_add(u64::from(bytes) - 1);
        let crosses = last / PAGE != number;
        if crosses {
            self.translate(last, kind)?;
        }
        let lane = self.touched.lane;
        self.touched.record(lane, address, bytes);
        Ok(Target {
            virtual_address: address,
            physical: frame | (address % PAGE),
            bytes,
            crosses,
        })
    }

    pub(super) fn translate(&mut self, address: u64, kind: AccessKind) -> Result<u64, Stopped> {
        let request = Request {
            space: self.environment.space,
            address,
            kind,
            source: self.requester,
        };
        Ok(self.fabric.translate(self.memory, request)?)
    }

    /// The bytes at a target, as a number; bytes beyond are 0.
    pub(super) fn read(&mut self, target: &Target) -> Result<u128, Stopped> {
        self.touched.count(target.bytes.into(), false);
        if target.crosses {
            let mut bytes = [0; 16];
            let access = self.access(target.virtual_address);
            let part = &mut bytes[..usize::from(target.bytes)];
            self.fabric.read(self.memory, access, part)?;
            return Ok(u128::from_le_bytes(bytes));
        }
        self.touched
            .note(self.fabric, target.physical, target.bytes.into(), false);
        let cached = target.physical & CACHED != 0;
        let read = match target.bytes {
            0 => Ok(0),
            4 if !cached => self.memory.read32(target.physical).map(u128::from),
            8 if !cached => self.memory.read64(target.physical).map(u128::from),
            _ => {
                let mut bytes = [0; 16];
                let part = &mut bytes[..usize::from(target.bytes)];
                let read =
                    self.fabric
                        .load(self.memory, Requester::LoadStore, target.physical, part);
                read.map(|()| u128::from_le_bytes(bytes))
            }
        };
        read.map_err(|error| self.bus_error(target, AccessKind::Read, error))
    }

    /// The bytes at a target as the texture unit reads them.
    pub(super) fn read_texel(&mut self, target: &Target) -> Result<u128, Stopped> {
        if !self.fabric.has_first_level() {
            return self.read(target);
        }
        let mut bytes = [0; 16];
        let access = self.access(target.virtual_address);
        let part = &mut bytes[..usize::from(target.bytes)];
        self.fabric
            .fidelity
            .touch(target.physical & !CACHED, target.bytes.into(), false);
        let stale = self
            .fabric
            .read_through_first_level(self.memory, access, part)?;
        if stale {
            let address = target.virtual_address;
            self.report(ShaderMisuse::StaleTexel { address });
        }
        Ok(u128::from_le_bytes(bytes))
    }

    pub(super) fn write(&mut self, target: &Target, bytes: &[u8]) -> Result<(), Stopped> {
        self.touched.count(bytes.len() as u64, true);
        if target.crosses {
            let access = self.access(target.virtual_address);
            return Ok(self.fabric.write(self.memory, access, bytes)?);
        }
        // What a warp's lane stores is 16 bytes at most.
        let length = bytes.len().min(16) as u64;
        self.touched
            .note(self.fabric, target.physical, length, true);
        let cached = target.physical & CACHED != 0;
        let written = match *bytes {
            [a, b, c, d] if !cached => self
                .memory
                .write32(target.physical, u32::from_le_bytes([a, b, c, d])),
            _ => self
                .fabric
                .store(self.memory, Requester::LoadStore, target.physical, bytes),
        };
        written.map_err(|error| self.bus_error(target, AccessKind::Write, error))
    }

    #[cold]
    fn bus_error(&mut self, target: &Target, kind: AccessKind, error: BusError) -> Stopped {
        let request = Request {
            space: self.environment.space,
            address: target.virtual_address,
            kind,
            source: self.requester,
        };
        let refusal: Refusal = self.fabric.bus_error(request, error);
        refusal.into()
    }
}
