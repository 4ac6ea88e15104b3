//! Memory: the machine's, mapped into this process.
//!
//! Reading and writing the file instead would need no `unsafe`, but each access a call of the system: 0.4 µs for a load and 0.7 for a
//! store, on the machine where a warp's instruction takes the model about as long.
//!
//! QEMU writes it meanwhile, as another CPU would: so it is seen as atomics. Loads of words acquire and stores of words release,
//! which orders what the model does as the driver sees it on any host; copies of bytes have no order among themselves.

use eitri_mailbox::Mailbox;
use eitri_model::{BusError, PhysicalMemory};
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Memory that the guest sees: the GPU reaches it, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The guest's first address.
    pub address: u64,
    /// Where that is in the file.
    pub offset: usize,
    /// How much of it.
    pub bytes: usize,
}

/// The memory of a machine.
#[derive(Debug)]
pub struct MachineMemory {
    file: File,
    map: MmapRaw,
    parts: Vec<Part>,
}

impl MachineMemory {
    /// So many bytes of zeros, with parts that the guest sees. What is never touched takes no memory.
    ///
    /// # Errors
    /// The system's, which has no such memory; and where a part is not inside of the file.
    pub fn new(bytes: usize, parts: &[Part]) -> io::Result<MachineMemory> {
        let inside = |part: &Part| part.offset.checked_add(part.bytes) <= Some(bytes);
        if !parts.iter().all(inside) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("eitri", flags)?);
        ftruncate(&file, bytes as u64)?;
        // Nobody can take away what is mapped.
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        let map = MmapOptions::new().len(bytes).map_raw(&file)?;
        Ok(MachineMemory {
            file,
            map,
            parts: parts.to_vec(),
        })
    }

    /// By which a process that this one starts finds the file, as long as this value lives.
    pub fn path(&self) -> PathBuf {
        let (process, file) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{file}"))
    }

    /// The mailbox at a place in the file; `None` where it is not inside, or not aligned.
    pub fn mailbox(&self, offset: usize) -> Option<&Mailbox> {
        self.at(offset)
    }

    /// A value in the file.
    fn at<T: Shared>(&self, offset: usize) -> Option<&T> {
        let inside = offset.checked_add(size_of::<T>())? <= self.map.len();
        if !inside || !offset.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: the map is of memory that may be read and written, begins at a page, and is as long as was asked, so that
        // the value lies in it and is aligned; it lives as long as the reference. `Shared` says that any bytes are such a value,
        // and that all its parts are atomics: nothing that QEMU, or another reference of ours, does to them is a data race. The
        // file is sealed against becoming shorter.
        Some(unsafe { &*self.map.as_mut_ptr().wrapping_add(offset).cast::<T>() })
    }

    /// Where a guest's address is in the file.
    fn place(&self, address: u64, bytes: usize) -> Result<usize, BusError> {
        let place = |part: &Part| {
            let inside = usize::try_from(address.checked_sub(part.address)?).ok()?;
            (inside.checked_add(bytes)? <= part.bytes).then_some(part.offset + inside)
        };
        let mut places = self.parts.iter().filter_map(place);
        places.next().ok_or(BusError { address })
    }

    /// One access to a word; `None` where it is not aligned.
    fn word<T: Shared>(&self, address: u64) -> Result<Option<&T>, BusError> {
        let place = self.place(address, size_of::<T>())?;
        Ok(self.at(place))
    }
}

/// What memory that another process writes may be seen as.
///
/// # Safety
/// Any bytes are a value of the type, and it has no parts but atomics.
unsafe trait Shared {}

// SAFETY: any byte is one.
unsafe impl Shared for AtomicU8 {}
// SAFETY: any four bytes are one.
unsafe impl Shared for AtomicU32 {}
// SAFETY: any eight bytes are one.
unsafe impl Shared for AtomicU64 {}
// SAFETY: it has none but numbers, which are atomics.
unsafe impl Shared for Mailbox {}

/// The GPU's view of it.
impl PhysicalMemory for &MachineMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let place = self.place(address, bytes.len())?;
        let error = BusError { address };
        if place.is_multiple_of(8) && bytes.len().is_multiple_of(8) {
            let (words, _) = bytes.as_chunks_mut::<8>();
            for (index, to) in words.iter_mut().enumerate() {
                let word: &AtomicU64 = self.at(place + 8 * index).ok_or(error)?;
                *to = word.load(Ordering::Acquire).to_le_bytes();
            }
            return Ok(());
        }
        for (index, to) in bytes.iter_mut().enumerate() {
            let byte: &AtomicU8 = self.at(place + index).ok_or(error)?;
            *to = byte.load(Ordering::Acquire);
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let place = self.place(address, bytes.len())?;
        let error = BusError { address };
        let (words, rest) = bytes.as_chunks::<8>();
        if place.is_multiple_of(8) && rest.is_empty() {
            for (index, from) in words.iter().enumerate() {
                let word: &AtomicU64 = self.at(place + 8 * index).ok_or(error)?;
                word.store(u64::from_le_bytes(*from), Ordering::Release);
            }
            return Ok(());
        }
        for (index, from) in bytes.iter().enumerate() {
            let byte: &AtomicU8 = self.at(place + index).ok_or(error)?;
            byte.store(*from, Ordering::Release);
        }
        Ok(())
    }

    fn read32(&mut self, address: u64) -> Result<u32, BusError> {
        if let Some(word) = self.word::<AtomicU32>(address)? {
            return Ok(word.load(Ordering::Acquire));
        }
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn read64(&mut self, address: u64) -> Result<u64, BusError> {
        if let Some(word) = self.word::<AtomicU64>(address)? {
            return Ok(word.load(Ordering::Acquire));
        }
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write32(&mut self, address: u64, value: u32) -> Result<(), BusError> {
        match self.word::<AtomicU32>(address)? {
            Some(word) => {
                word.store(value, Ordering::Release);
                Ok(())
            }
            None => self.write(address, &value.to_le_bytes()),
        }
    }

    fn write64(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        match self.word::<AtomicU64>(address)? {
            Some(word) => {
                word.store(value, Ordering::Release);
                Ok(())
            }
            None => self.write(address, &value.to_le_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const BASE: u64 = 0x4000_0000;

    fn memory() -> MachineMemory {
        let seen = |address, offset| Part {
            address,
            offset,
            bytes: 0x1000,
        };
        let parts = [seen(BASE, 0), seen(BASE + 0x8000, 0x2000)];
        MachineMemory::new(0x4000, &parts).expect("the system has memory")
    }

    #[test]
    fn what_another_process_finds_by_the_path_is_the_same_memory() {
        let memory = memory();
        let file = File::options()
            .read(true)
            .write(true)
            .open(memory.path())
            .expect("the path names a file");
        let mut view = &memory;
        assert_eq!(view.write32(BASE + 0x8004, 0x1234_5678), Ok(()));
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, 0x2004).expect("it is there");
        assert_eq!(bytes, [0x78, 0x56, 0x34, 0x12]);
        file.write_all_at(&[9], 0xFFF).expect("it is there");
        assert_eq!(view.read32(BASE + 0xFFC), Ok(0x0900_0000));
    }

    #[test]
    fn what_the_guest_does_not_see_does_not_answer() {
        let memory = memory();
        let mut view = &memory;
        for address in [0, BASE - 4, BASE + 0xFFD, BASE + 0x1000, u64::MAX] {
            assert_eq!(view.read32(address), Err(BusError { address }));
            assert_eq!(view.write(address, &[0; 4]), Err(BusError { address }));
        }
        assert!(memory.mailbox(0x4000).is_none());
        assert!(memory.mailbox(0x3FFC).is_none());
        let beyond = Part {
            address: 0,
            offset: 0x1000,
            bytes: 0x1000,
        };
        assert!(MachineMemory::new(0x1000, &[beyond]).is_err());
    }

    #[test]
    fn accesses_of_any_length_and_alignment_reach_their_bytes() {
        let memory = memory();
        let mut view = &memory;
        for (at, length) in [(0, 64), (8, 3), (17, 8), (33, 16), (40, 24), (63, 1)] {
            let wanted: Vec<u8> = (0..length).map(|byte| byte + at + 1).collect();
            let address = BASE + u64::from(at);
            assert_eq!(view.write(address, &wanted), Ok(()));
            let mut found = vec![0; wanted.len()];
            assert_eq!(view.read(address, &mut found), Ok(()));
            assert_eq!(found, wanted, "at {at}");
        }
        assert_eq!(view.write64(BASE + 0x101, 0x0102_0304_0506_0708), Ok(()));
        assert_eq!(view.read64(BASE + 0x101), Ok(0x0102_0304_0506_0708));
        assert_eq!(view.read32(BASE + 0x102), Ok(0x0405_0607));
    }
}
