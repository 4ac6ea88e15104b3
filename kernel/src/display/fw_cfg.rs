//! fw_cfg: the device by which QEMU gives a machine its configuration, as files; by its DMA interface.
//!
//! A transfer is described in memory; the address of that, written to the register, starts it. Numbers are big-endian.
//! Facts: hardware/boards.md section 4 has the device's address and its registers.

// FACT: no sheet has the protocol of fw_cfg (signature, words of a transfer, keys, entries of the directory); it is from QEMU's own
// documentation of the interface, docs/specs/fw_cfg. Settled by QEMU itself: `cargo eitri test --filter kernel` finds the picture on
// the screen of `ramfb`, which was set up through it.

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};
use eitri_boards::RegisterBase;

/// The register that a transfer is started by, from the device's first.
const DMA: usize = 16;
/// What is read there where transfers are possible.
const SIGNATURE: u64 = u64::from_be_bytes(*b"QEMU CFG");
/// Key of the directory of files.
const DIRECTORY: u16 = 0x19;
/// Most files that a directory has.
const MOST_FILES: u32 = 1024;
/// How often the end of a transfer is looked for: QEMU is done when the store that starts it returns.
const MOST_POLLS: u32 = 1_000_000;
/// Longest name of a file, with the zero behind it.
const NAME_BYTES: usize = 56;

/// Bits of a transfer's control word; bits 31:16 are the key.
mod control {
    pub(super) const ERROR: u32 = 1 << 0;
    pub(super) const READ: u32 = 1 << 1;
    pub(super) const SELECT: u32 = 1 << 3;
    pub(super) const WRITE: u32 = 1 << 4;
}

/// Why the device does not do what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FwCfgError {
    /// There is none that transfers.
    Absent,
    /// A transfer failed.
    Transfer {
        /// The key of what was read or written.
        key: u16,
    },
    /// QEMU was started without the device that a file belongs to.
    NoFile {
        /// The file.
        name: &'static str,
    },
    /// A file has another length than it should.
    Length {
        /// Its bytes.
        bytes: u32,
    },
}

impl fmt::Display for FwCfgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FwCfgError::Absent => f.write_str("no fw_cfg of QEMU's is there"),
            FwCfgError::Transfer { key } => write!(f, "a transfer of fw_cfg failed (key {key:#x})"),
            FwCfgError::NoFile { name } => {
                write!(
                    f,
                    "fw_cfg has no file {name}: start QEMU with `-device ramfb`"
                )
            }
            FwCfgError::Length { bytes } => write!(f, "a file of fw_cfg has {bytes} bytes"),
        }
    }
}

/// A file of the directory.
pub(super) struct File {
    key: u16,
    pub(super) bytes: u32,
}

/// A transfer, as the device reads it: control, bytes, address.
#[repr(C, align(16))]
struct Transfer {
    control: u32,
    bytes: u32,
    address: u64,
}

/// An entry of the directory: bytes, key, two bytes of nothing, name.
const ENTRY_BYTES: usize = 8 + NAME_BYTES;

/// The device.
pub(super) struct FwCfg {
    registers: NonNull<u8>,
}

impl FwCfg {
    /// The device with these registers.
    ///
    /// # Safety
    /// They are that device's, or nothing answers there, and they are mapped. Nobody else uses them.
    pub(super) unsafe fn open(registers: RegisterBase) -> Result<FwCfg, FwCfgError> {
        let device = FwCfg {
            registers: registers.pointer(),
        };
        let signature: u64;
        // SAFETY: the caller's promise; the register is aligned, has 64 bits, and reading it changes nothing.
        unsafe {
            core::arch::asm!("ldr {}, [{}]", out(reg) signature, in(reg) device.dma(), options(nostack, preserves_flags));
        }
        if u64::from_be(signature) != SIGNATURE {
            return Err(FwCfgError::Absent);
        }
        Ok(device)
    }

    fn dma(&self) -> *mut u8 {
        self.registers.as_ptr().wrapping_add(DMA)
    }

    /// Finds a file.
    pub(super) fn file(&mut self, name: &'static str) -> Result<File, FwCfgError> {
        let mut count = [0; 4];
        self.read(Some(DIRECTORY), &mut count)?;
        for _ in 0..u32::from_be_bytes(count).min(MOST_FILES) {
            let mut entry = [0; ENTRY_BYTES];
            self.read(None, &mut entry)?;
            let [b0, b1, b2, b3, k0, k1, _, _, named @ ..] = entry;
            let length = named.iter().position(|byte| *byte == 0);
            if named.get(..length.unwrap_or(NAME_BYTES)) == Some(name.as_bytes()) {
                return Ok(File {
                    key: u16::from_be_bytes([k0, k1]),
                    bytes: u32::from_be_bytes([b0, b1, b2, b3]),
                });
            }
        }
        Err(FwCfgError::NoFile { name })
    }

    /// Reads what a key names, from its begin, or what follows the last transfer.
    fn read(&mut self, key: Option<u16>, to: &mut [u8]) -> Result<(), FwCfgError> {
        // SAFETY: the device writes as many bytes as `to` has, which nobody else uses meanwhile.
        unsafe { self.transfer(key, control::READ, to.as_mut_ptr(), to.len()) }
    }

    /// Writes a file, whole.
    pub(super) fn write(&mut self, file: &File, from: &[u8]) -> Result<(), FwCfgError> {
        if usize::try_from(file.bytes) != Ok(from.len()) {
            return Err(FwCfgError::Length { bytes: file.bytes });
        }
        // SAFETY: the device only reads as many bytes as `from` has.
        unsafe {
            self.transfer(
                Some(file.key),
                control::WRITE,
                from.as_ptr().cast_mut(),
                from.len(),
            )
        }
    }

    /// Carries a transfer out. The machine's memory is coherent for this device: caches are left alone.
    ///
    /// # Safety
    /// So many bytes of memory may be read or written by the device, as `what` says.
    unsafe fn transfer(
        &mut self,
        key: Option<u16>,
        what: u32,
        memory: *mut u8,
        bytes: usize,
    ) -> Result<(), FwCfgError> {
        let select = key.map_or(0, |key| u32::from(key) << 16 | control::SELECT);
        let mut transfer = Transfer {
            control: (select | what).to_be(),
            // Nothing is as long as 4 GiB: a directory's entry, a file of 28 bytes.
            bytes: (bytes as u32).to_be(),
            address: (memory.expose_provenance() as u64).to_be(),
        };
        let place = &raw mut transfer;
        let address = (place.expose_provenance() as u64).to_be();
        fence(Ordering::SeqCst);
        // SAFETY: the register of `open`; the transfer's words and memory stay until the device is done, which is waited for below.
        // The assembly may change any memory, so that nothing is assumed of them.
        unsafe {
            core::arch::asm!("dsb sy", "str {}, [{}]", in(reg) address, in(reg) self.dma(), options(nostack, preserves_flags));
        }
        for _ in 0..MOST_POLLS {
            // SAFETY: a variable of this function's, aligned.
            let left = u32::from_be(unsafe { (&raw const (*place).control).read_volatile() });
            if left & control::ERROR != 0 {
                let key = key.unwrap_or(DIRECTORY);
                return Err(FwCfgError::Transfer { key });
            }
            if left == 0 {
                fence(Ordering::SeqCst);
                return Ok(());
            }
        }
        let key = key.unwrap_or(DIRECTORY);
        Err(FwCfgError::Transfer { key })
    }
}
