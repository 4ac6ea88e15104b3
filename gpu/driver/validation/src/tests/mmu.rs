//! The MMU: pages and blocks, what is not mapped, what is not allowed, and spaces apart from one another.
//!
//! Each address is chosen by the test and mapped by hand.  Facts: hardware/gpu-mmu.md 3 (levels), 6 (changes), 7
//! (permissions), 8 (faults).

use crate::bench::{Bench, Grid, Work};
use crate::result::{Trouble, Verdict, failed, skipped};
use crate::tools::{JUMP_TO, LOAD_AT, STORE_AT};
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_runtime::{
    Access, Buffer, Cause, ErrorKind, GpuAddress, MmuFault, Platform, Queue, Space,
};

/// A page, and a block of the level above.
const PAGE: u64 = 4096;
const BLOCK: u64 = 2 << 20;
/// A block of the next level.
const LARGE_BLOCK: u64 = 1 << 30;
/// Where tests map things: far from what the driver places, which begins at 32 MiB.
const AT: u64 = 0x7000_0000;

/// What a shader tool is told: an address, a stride, and one more word.
fn told(address: u64, stride: u64, word: u32) -> [u32; 4] {
    [address as u32, (address >> 32) as u32, stride as u32, word]
}

/// A queue and a space of their own, with a shader, for one test.
struct Place {
    queue: Queue,
    space: Space,
    work: Work,
}

impl Place {
    fn new<P: Platform>(
        it: &mut Bench<'_, '_, '_, P>,
        tool: &str,
        words: usize,
    ) -> Result<Place, Trouble> {
        let program = it.program(tool)?;
        let queue = it.device.create_queue(Default::default())?;
        let space = it.device.space(queue)?;
        let grid = Grid {
            groups: 1,
            push: &[],
        };
        let work = it.work(space, program, &vec![0; words], grid)?;
        Ok(Place { queue, space, work })
    }

    /// A buffer that the shader reaches by addresses of the test's: the driver is told that it is used, since it can't know.
    fn buffer<P: Platform>(
        &self,
        it: &mut Bench<'_, '_, '_, P>,
        bytes: u64,
    ) -> Result<Buffer, Trouble> {
        let buffer = it.device.create_buffer(self.space, bytes)?;
        it.device.bind_buffer(self.work.set, 0, buffer)?;
        Ok(buffer)
    }

    /// Runs the shader with this; it must end well.
    fn run<P: Platform>(
        &self,
        it: &mut Bench<'_, '_, '_, P>,
        groups: u32,
        push: [u32; 4],
    ) -> Result<(), Trouble> {
        let push = &push;
        it.record(&self.work, Grid { groups, push })?;
        let fence = it.device.submit(self.queue, self.work.commands)?;
        it.finish(fence)
    }

    /// Runs it; its space must fault.
    fn fault<P: Platform>(
        &self,
        it: &mut Bench<'_, '_, '_, P>,
        push: [u32; 4],
    ) -> Result<MmuFault, Trouble> {
        let push = &push;
        it.record(&self.work, Grid { groups: 1, push })?;
        let fence = it.device.submit(self.queue, self.work.commands)?;
        let fault = it.fault(fence)?;
        match (fault.mmu, fault.cause) {
            (Some(mmu), _) | (None, Cause::Mmu(mmu)) => Ok(mmu),
            _ => Err(failed!("no fault of the MMU, but: {fault}")),
        }
    }

    fn gone<P: Platform>(self, it: &mut Bench<'_, '_, '_, P>) {
        // With the space goes what is in it; whatever the queue is doing ends first.
        let _ = it.device.cancel(self.queue);
        it.device.settle();
        let _ = it.device.destroy_command_buffer(self.work.commands);
        let _ = it.device.destroy_descriptor_set(self.work.set);
        let _ = it.device.destroy_buffer(self.work.buffer);
        let _ = it.device.destroy_pipeline(self.work.pipeline);
        let _ = it.device.destroy_queue(self.queue);
    }
}

/// Runs a test in a place of its own, which goes with it.
fn in_place<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    tool: &str,
    words: usize,
    test: impl FnOnce(&mut Bench<'_, '_, '_, P>, &Place) -> Verdict,
) -> Verdict {
    let place = Place::new(it, tool, words)?;
    let verdict = test(it, &place);
    place.gone(it);
    verdict
}

fn map<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    buffer: Buffer,
    offset: u64,
    bytes: u64,
    at: u64,
) -> Verdict {
    let at = GpuAddress(at);
    Ok(it
        .device
        .map_buffer(buffer, offset, bytes, at, Access::ReadWrite)?)
}

fn word_at<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    buffer: Buffer,
    offset: u64,
) -> Result<u32, Trouble> {
    let mut bytes = [0; 4];
    it.device.read_buffer(buffer, offset, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Single pages, in another order than in memory: each address leads to its own.
pub(crate) fn pages<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const PAGES: u64 = 16;
    in_place(it, STORE_AT, 16, |it, place| {
        let buffer = place.buffer(it, PAGES * PAGE)?;
        let order: Vec<u64> = (0..PAGES).map(|page| page * 7 % PAGES).collect();
        for (page, to) in (0..).zip(&order) {
            map(it, buffer, to * PAGE, PAGE, AT + page * PAGE)?;
        }
        place.run(it, 1, told(AT + 0x10, PAGE, 0xBEE0))?;
        let outcome = (0_u32..).zip(&order).try_for_each(|(page, to)| {
            let found = word_at(it, buffer, to * PAGE + 0x10)?;
            match found == 0xBEE0 + page {
                true => Ok(()),
                false => Err(failed!(
                    "page {page} at {:#x} holds {found:#x}, the GPU stored {:#x} there",
                    AT + u64::from(page) * PAGE,
                    0xBEE0 + page
                )),
            }
        });
        it.device.destroy_buffer(buffer)?;
        outcome
    })
}

/// Blocks of 2 MiB: all of each of their 512 pages is where it should be.
pub(crate) fn blocks<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, STORE_AT, 16, |it, place| {
        let buffer = place.buffer(it, 2 * BLOCK)?;
        // The second half first: an address bit that is lost leads to the other.
        map(it, buffer, BLOCK, BLOCK, AT)?;
        map(it, buffer, 0, BLOCK, AT + BLOCK)?;
        let pages = (2 * BLOCK / PAGE) as u32;
        place.run(it, pages / 16, told(AT + 0x20, PAGE, 0x00AB_0000))?;
        let outcome = (0..pages).try_for_each(|page| {
            let half = u64::from(page) * PAGE / BLOCK;
            let inside = u64::from(page) * PAGE % BLOCK;
            let offset = (1 - half) * BLOCK + inside;
            let found = word_at(it, buffer, offset + 0x20)?;
            match found == 0x00AB_0000 + page {
                true => Ok(()),
                false => Err(failed!(
                    "page {page} of the blocks at {AT:#x} holds {found:#x}, the GPU stored {:#x} there",
                    0x00AB_0000 + page
                )),
            }
        });
        it.device.destroy_buffer(buffer)?;
        outcome
    })
}

/// A block of 1 GiB: where its sixteenths begin, words are where they should be.
pub(crate) fn large_block<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const PARTS: u64 = 16;
    in_place(it, STORE_AT, 16, |it, place| {
        let buffer = match it.device.create_buffer(place.space, LARGE_BLOCK) {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                return Err(skipped!("1 GiB of memory in one piece is not to be had"));
            }
            Err(error) => return Err(error.into()),
        };
        it.device.bind_buffer(place.work.set, 0, buffer)?;
        let at = it.device.buffer_address(buffer)?.0;
        let stride = LARGE_BLOCK / PARTS;
        place.run(it, 1, told(at + 0x30, stride, 0x00CD_0000))?;
        let outcome = (0..PARTS as u32).try_for_each(|part| {
            let found = word_at(it, buffer, u64::from(part) * stride + 0x30)?;
            match found == 0x00CD_0000 + part {
                true => Ok(()),
                false => Err(failed!(
                    "part {part} of the block at {at:#x} holds {found:#x}, the GPU stored {:#x} there",
                    0x00CD_0000 + part
                )),
            }
        });
        it.device.destroy_buffer(buffer)?;
        outcome
    })
}

/// Addresses that differ in one bit lead to different pages: no bit is ignored.
pub(crate) fn address_bits<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, STORE_AT, 16, |it, place| {
        let bits = 12..32_u32;
        let buffer = place.buffer(it, (bits.len() as u64 + 1) * PAGE)?;
        // The driver's own objects begin at 32 MiB: a bit that would lead there is tried from elsewhere.
        let address = |bit: u32| AT ^ 1 << bit;
        map(it, buffer, 0, PAGE, AT)?;
        for (n, bit) in (1..).zip(bits.clone()) {
            map(it, buffer, n * PAGE, PAGE, address(bit))?;
        }
        for (n, bit) in (1..).zip(bits.clone()) {
            place.run(it, 1, told(address(bit) + 0x40, 4, 0x1000 * n))?;
        }
        place.run(it, 1, told(AT + 0x40, 4, 0xF_0000))?;
        let outcome = (0..=bits.len() as u32).try_for_each(|n| {
            let wanted = if n == 0 { 0xF_0000 } else { 0x1000 * n };
            let found = word_at(it, buffer, u64::from(n) * PAGE + 0x40)?;
            match found == wanted {
                true => Ok(()),
                false => Err(failed!(
                    "the page that differs from {AT:#x} in bit {} holds {found:#x}, expected {wanted:#x}",
                    n + 11
                )),
            }
        });
        it.device.destroy_buffer(buffer)?;
        outcome
    })
}

fn expect(fault: &MmuFault, address: u64, kind: AccessKind, what: &str) -> Verdict {
    if fault.address & !0xFFF != address & !0xFFF {
        return Err(failed!(
            "{what}: the fault is at {:#x}, the access was at {address:#x}",
            fault.address
        ));
    }
    if fault.access != kind {
        return Err(failed!(
            "{what}: the fault is said to be of {:?}, it was {kind:?}",
            fault.access
        ));
    }
    Ok(())
}

/// What is mapped nowhere faults, on reading and on writing, and names address and kind.
pub(crate) fn unmapped<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    for (tool, kind) in [(LOAD_AT, AccessKind::Read), (STORE_AT, AccessKind::Write)] {
        in_place(it, tool, 16, |it, place| {
            let fault = place.fault(it, told(AT + 0x5040, 4, 0))?;
            expect(&fault, AT + 0x5000, kind, "an access to nothing")?;
            let code = fault.exception.0;
            match code & 0xF8 == 0xC0 {
                true => Ok(()),
                false => Err(failed!(
                    "an access to nothing is said to be a fault of kind {code:#x}"
                )),
            }
        })?;
    }
    Ok(())
}

/// What was mapped and is not any more faults: no stale translation is used.
pub(crate) fn unmapping<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, LOAD_AT, 16, |it, place| {
        let buffer = it.device.create_buffer(place.space, 2 * PAGE)?;
        map(it, buffer, 0, 2 * PAGE, AT)?;
        place.run(it, 1, told(AT, 4, 0))?;
        it.device.unmap_range(place.space, GpuAddress(AT), PAGE)?;
        let fault = place.fault(it, told(AT, 4, 0));
        let outcome = fault.and_then(|fault| {
            expect(
                &fault,
                AT,
                AccessKind::Read,
                "an access to what was unmapped",
            )
        });
        let _ = it.device.destroy_buffer(buffer);
        outcome
    })
}

/// What is mapped anew leads to the new memory.
pub(crate) fn remapping<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, STORE_AT, 16, |it, place| {
        let buffer = place.buffer(it, 2 * PAGE)?;
        map(it, buffer, 0, PAGE, AT)?;
        place.run(it, 1, told(AT, 4, 0x100))?;
        it.device.unmap_range(place.space, GpuAddress(AT), PAGE)?;
        map(it, buffer, PAGE, PAGE, AT)?;
        place.run(it, 1, told(AT, 4, 0x200))?;
        let found = [word_at(it, buffer, 0)?, word_at(it, buffer, PAGE)?];
        it.device.destroy_buffer(buffer)?;
        match found {
            [0x100, 0x200] => Ok(()),
            _ => Err(failed!(
                "what was stored before and after mapping anew is {found:x?}, expected [100, 200]"
            )),
        }
    })
}

/// Read-only memory is not written.
pub(crate) fn read_only<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, STORE_AT, 16, |it, place| {
        let buffer = it.device.create_buffer(place.space, PAGE)?;
        let at = GpuAddress(AT);
        it.device.map_buffer(buffer, 0, PAGE, at, Access::Read)?;
        let fault = place.fault(it, told(AT, 4, 0xBAD));
        let outcome = fault
            .and_then(|fault| expect(&fault, AT, AccessKind::Write, "a store to read-only memory"));
        let _ = it.device.destroy_buffer(buffer);
        outcome
    })
}

/// Data is not executed.
pub(crate) fn no_execute<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, JUMP_TO, 512, |it, place| {
        // NOP.end, if it were executed all the same.
        let end = 0x7800_C000_0000_0000_u64.to_le_bytes();
        let code: Vec<u8> = end.iter().copied().cycle().take(1024).collect();
        it.device.write_buffer(place.work.buffer, 0, &code)?;
        let address = it.device.buffer_address(place.work.buffer)?.0;
        let fault = place.fault(it, told(address, 0, 0))?;
        expect(&fault, address, AccessKind::Execute, "a jump into data")
    })
}

/// The same address in two spaces leads to two memories.
pub(crate) fn isolation<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    in_place(it, STORE_AT, 16, |it, first| {
        in_place(it, STORE_AT, 16, |it, second| {
            let mut buffers = Vec::new();
            for place in [first, second] {
                let buffer = place.buffer(it, PAGE)?;
                map(it, buffer, 0, PAGE, AT)?;
                buffers.push(buffer);
            }
            first.run(it, 1, told(AT, 4, 0x1111_0000))?;
            second.run(it, 1, told(AT, 4, 0x2222_0000))?;
            let mut found = Vec::new();
            for buffer in buffers {
                found.push(word_at(it, buffer, 4)?);
                it.device.destroy_buffer(buffer)?;
            }
            match found.as_slice() {
                [0x1111_0001, 0x2222_0001] => Ok(()),
                _ => Err(failed!(
                    "what two spaces stored at one address is {found:x?}, expected [11110001, 22220001]"
                )),
            }
        })
    })
}
