//! Physical memory: the machine's own, as the model's.
//!
//! A bus address of the GPU is the image's physical address; `machine` says where that is in QEMU. What is not the image's RAM
//! does not answer.

use crate::machine;
use core::ptr;
use eitri_model::{BusError, PhysicalMemory};

/// The image's RAM.
pub(crate) struct GuestMemory;

/// The pointer to `bytes` bytes at `address`, if all of them are RAM.
fn pointer(address: u64, bytes: usize) -> Result<*mut u8, BusError> {
    let place = machine::place(address, bytes);
    place
        .map(|place| place as *mut u8)
        .ok_or(BusError { address })
}

/// The same for one word: `None` in place of a pointer that is not aligned to it.
fn word<T>(address: u64) -> Result<Option<*mut T>, BusError> {
    let pointer = pointer(address, size_of::<T>())?.cast::<T>();
    Ok(pointer.is_aligned().then_some(pointer))
}

impl PhysicalMemory for GuestMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let source = pointer(address, bytes.len())?;
        // SAFETY: the range is RAM of the image, mapped here, and never part of the monitor; the image does not run
        // meanwhile. No reference to it exists.
        unsafe { ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let target = pointer(address, bytes.len())?;
        // SAFETY: as in `read`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        Ok(())
    }

    fn read32(&mut self, address: u64) -> Result<u32, BusError> {
        let Some(source) = word::<u32>(address)? else {
            let mut bytes = [0; 4];
            self.read(address, &mut bytes)?;
            return Ok(u32::from_le_bytes(bytes));
        };
        // SAFETY: as in `read`, and aligned.
        Ok(unsafe { source.read_volatile() })
    }

    fn read64(&mut self, address: u64) -> Result<u64, BusError> {
        let Some(source) = word::<u64>(address)? else {
            let mut bytes = [0; 8];
            self.read(address, &mut bytes)?;
            return Ok(u64::from_le_bytes(bytes));
        };
        // SAFETY: as in `read`, and aligned.
        Ok(unsafe { source.read_volatile() })
    }

    fn write32(&mut self, address: u64, value: u32) -> Result<(), BusError> {
        let Some(target) = word::<u32>(address)? else {
            return self.write(address, &value.to_le_bytes());
        };
        // SAFETY: as in `read`, and aligned.
        unsafe { target.write_volatile(value) };
        Ok(())
    }

    fn write64(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        let Some(target) = word::<u64>(address)? else {
            return self.write(address, &value.to_le_bytes());
        };
        // SAFETY: as in `read`, and aligned.
        unsafe { target.write_volatile(value) };
        Ok(())
    }
}
