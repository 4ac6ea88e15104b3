//! Buffers: data of shaders, filled and read by the host between jobs.
//!
//! Guarantees: never executable; zero at first.  The host's writes are clean in memory before a job that is submitted
//! after them; the host's reads see what a finished job wrote.

use super::Device;
use super::objects::Request;
use crate::platform::Platform;
use crate::vm::{GpuAddress, Object, Protection, VmError};
use thiserror::Error;

/// A buffer that shaders read and write. It must be given back with [`Device::destroy_buffer`].
#[derive(Debug)]
#[must_use = "a buffer that is dropped keeps its memory"]
pub struct Buffer {
    object: Object,
    bytes: u64,
}

impl Buffer {
    /// Where shaders see it; page aligned.
    pub const fn address(&self) -> GpuAddress {
        self.object.address()
    }

    /// Its length in bytes, as it was asked for.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Why a buffer can't be made or reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BufferError {
    /// It can't be made.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// Its length is 0.
    #[error("a buffer of 0 bytes")]
    Empty,
    /// Not inside the buffer.
    #[error("bytes {offset:#x} and {bytes:#x} more are not inside a buffer of {size:#x}")]
    Outside {
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Length of the buffer.
        size: u64,
    },
    /// The offset is not a multiple of 4.
    #[error("offset {offset:#x} is not a multiple of 4")]
    Misaligned {
        /// The offset.
        offset: u64,
    },
}

impl<P: Platform> Device<'_, P> {
    /// Makes a buffer of `bytes` zeroed bytes.
    ///
    /// # Errors
    /// If there is no memory or no addresses for it.
    pub fn create_buffer(&mut self, bytes: u64) -> Result<Buffer, BufferError> {
        if bytes == 0 {
            return Err(BufferError::Empty);
        }
        let request = Request::for_jobs("a buffer", bytes, Protection::Data);
        let object = self.create_object(request)?;
        Ok(Buffer { object, bytes })
    }

    /// Gives a buffer back. No job may use it any more.
    ///
    /// # Errors
    /// If it can't be unmapped: then it stays.
    pub fn destroy_buffer(&mut self, buffer: Buffer) -> Result<(), BufferError> {
        Ok(self.destroy_object(buffer.object)?)
    }

    /// Writes into a buffer at `offset`, a multiple of 4. No job may be using it.
    ///
    /// # Errors
    /// If that is not inside the buffer.
    pub fn write_buffer(
        &mut self,
        buffer: &Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), BufferError> {
        let length = check(buffer, offset, bytes.len())?;
        let at = buffer.object.memory().offset(offset);
        // A cache may hold old neighbours of what is written, which the GPU has written since.
        self.platform.observe();
        self.platform.invalidate(at.span(length));
        self.platform.write_bytes(at, bytes);
        self.platform.clean(at.span(length));
        Ok(())
    }

    /// Reads from a buffer at `offset`, a multiple of 4. No job may be writing it.
    ///
    /// # Errors
    /// If that is not inside the buffer.
    pub fn read_buffer(
        &mut self,
        buffer: &Buffer,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), BufferError> {
        let length = check(buffer, offset, bytes.len())?;
        let at = buffer.object.memory().offset(offset);
        self.platform.observe();
        self.platform.invalidate(at.span(length));
        self.platform.read_bytes(at, bytes);
        Ok(())
    }
}

fn check(buffer: &Buffer, offset: u64, bytes: usize) -> Result<u64, BufferError> {
    let size = buffer.bytes;
    let bytes = bytes as u64;
    let outside = BufferError::Outside {
        offset,
        bytes,
        size,
    };
    let end = offset.checked_add(bytes).ok_or(outside)?;
    if end > size {
        return Err(outside);
    }
    if offset & 3 != 0 {
        return Err(BufferError::Misaligned { offset });
    }
    Ok(bytes)
}
