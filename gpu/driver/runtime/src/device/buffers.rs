//! Buffers: data of shaders, filled and read by the host between jobs.
//!
//! Guarantees: never executable; zero at first.  The host's writes are clean in memory before a job that is submitted
//! after them; the host's reads see what a finished job wrote.

use super::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::vm::{GpuAddress, Protection};

const WHAT: Thing = Thing::Buffer;

impl<P: Platform> Device<'_, '_, P> {
    /// Makes a buffer of `bytes` zeroed bytes in an address space.
    ///
    /// # Errors
    /// If there is no memory, no address or no place in the storage for it.
    #[inline(never)]
    pub fn create_buffer(&mut self, space: Space, bytes: u64) -> Result<Buffer, Error> {
        if bytes == 0 {
            return Err(Error::Empty { what: WHAT });
        }
        let aliased = false;
        let kind = Kind::Buffer { bytes, aliased };
        let key = self.create_object(space, "a buffer", bytes, Protection::Data, kind)?;
        Ok(Buffer(key))
    }

    /// Destroys a buffer.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_buffer(&mut self, buffer: Buffer) -> Result<(), Error> {
        self.destroy_object(buffer.0, WHAT)
    }

    /// Where shaders see a buffer; page aligned.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn buffer_address(&self, buffer: Buffer) -> Result<GpuAddress, Error> {
        Ok(self.object(buffer.0, WHAT)?.mapping.address())
    }

    /// The length of a buffer in bytes, as it was asked for.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn buffer_bytes(&self, buffer: Buffer) -> Result<u64, Error> {
        match self.object(buffer.0, WHAT)?.kind {
            Kind::Buffer { bytes, .. } => Ok(bytes),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    /// Whether so many bytes from `offset` on are inside of a buffer.
    pub(crate) fn check_part(&self, buffer: Buffer, offset: u64, bytes: u64) -> Result<(), Error> {
        let size = self.buffer_bytes(buffer)?;
        let end = offset.checked_add(bytes).filter(|end| *end <= size);
        if end.is_none() {
            return Err(Error::Outside {
                offset,
                bytes,
                size,
            });
        }
        Ok(())
    }

    /// Writes into a buffer at `offset`, a multiple of 4. What a job in flight reads meanwhile is not defined.
    ///
    /// # Errors
    /// If that is not inside the buffer; or the GPU's caches are not cleaned in time, which costs the device.
    #[inline(never)]
    pub fn write_buffer(&mut self, buffer: Buffer, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let (at, length) = self.part(buffer, offset, bytes.len())?;
        let part = offset..offset.saturating_add(length);
        self.host_writes(buffer.0, WHAT, &part)?;
        // A cache may hold old neighbours of what is written, which the GPU has written since.
        self.hw.platform.observe();
        self.hw.platform.invalidate(at.span(length));
        self.hw.platform.write_bytes(at, bytes);
        self.hw.platform.clean(at.span(length));
        self.host_wrote(buffer.0);
        Ok(())
    }

    /// Reads from a buffer at `offset`, a multiple of 4. What a job in flight writes meanwhile may be seen or not.
    ///
    /// # Errors
    /// If that is not inside the buffer, or the GPU had to be reset before its caches could be cleaned, so that what jobs wrote
    /// there is lost; or the caches are not cleaned in time, which costs the device.
    #[inline(never)]
    pub fn read_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        let (at, length) = self.part(buffer, offset, bytes.len())?;
        let part = offset..offset.saturating_add(length);
        self.host_reads(buffer.0, WHAT, &part)?;
        self.hw.platform.observe();
        self.hw.platform.invalidate(at.span(length));
        self.hw.platform.read_bytes(at, bytes);
        Ok(())
    }

    /// Where a part of a buffer lies in memory, and its length.
    fn part(
        &self,
        buffer: Buffer,
        offset: u64,
        bytes: usize,
    ) -> Result<(PhysicalAddress, u64), Error> {
        let bytes = bytes as u64;
        self.check_part(buffer, offset, bytes)?;
        if offset & 3 != 0 {
            return Err(Error::Misaligned { offset });
        }
        let memory = self.object(buffer.0, WHAT)?.mapping.memory();
        Ok((memory.offset(offset), bytes))
    }
}
