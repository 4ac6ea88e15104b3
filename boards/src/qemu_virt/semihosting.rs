//! Semihosting: calls to QEMU by a reserved `HLT`, for exit status, files and the command line.
//!
//! Only QEMU answers it; on a board the instruction is an exception. So it stands in this board's folder alone.
//! Facts: hardware/boards.md section 4 item 3; the operation numbers are those of Arm's semihosting specification.

use crate::host::{Exit, Host, HostError, HostFile, HostFiles};

/// Operation numbers.
#[rustfmt::skip]
mod operation {
    pub(super) const OPEN:             u64 = 0x01;
    pub(super) const CLOSE:            u64 = 0x02;
    pub(super) const WRITE_TEXT:       u64 = 0x04;
    pub(super) const WRITE:            u64 = 0x05;
    pub(super) const READ:             u64 = 0x06;
    pub(super) const RENAME:           u64 = 0x0F;
    pub(super) const ERRNO:            u64 = 0x13;
    pub(super) const GET_COMMAND_LINE: u64 = 0x15;
    pub(super) const EXIT:             u64 = 0x18;
}

/// `fopen`'s "rb" and "wb" as the specification numbers them.
const MODE_READ_BINARY: u64 = 1;
const MODE_WRITE_BINARY: u64 = 5;
/// "The application ended": the reason that carries a status.
const REASON_APPLICATION_EXIT: u64 = 0x20026;
/// Longest path, its closing zero included.
const PATH_BYTES: usize = 1024;

/// The host behind the reserved instruction.
pub(super) struct Semihosting;

/// Calls the host.
///
/// # Safety
/// Each address in `block` that the operation takes for a pointer is that of live memory, of the length that the block
/// has beside it or that a closing zero ends, and may be written where the operation writes.
unsafe fn call(operation: u64, block: &mut [u64]) -> i64 {
    #[cfg(target_os = "none")]
    {
        let result: i64;
        // SAFETY: QEMU reads and writes memory only where `block` says, which is the caller's promise. The instruction
        // changes x0 alone.
        unsafe {
            core::arch::asm!(
                "hlt #0xF000",
                inout("x0") operation => result,
                in("x1") block.as_mut_ptr(),
                options(nostack),
            );
        }
        result
    }
    #[cfg(not(target_os = "none"))]
    {
        // In an ordinary process nobody answers.
        let _ = (operation, block);
        -1
    }
}

fn refused(call_name: &'static str) -> HostError {
    HostError::Refused {
        call: call_name,
        // SAFETY: without a block.
        errno: unsafe { call(operation::ERRNO, &mut []) },
    }
}

struct Path {
    bytes: [u8; PATH_BYTES],
    length: usize,
}

impl Path {
    /// `path` with the zero at its end that the host wants.
    fn new(path: &str) -> Result<Path, HostError> {
        let mut bytes = [0; PATH_BYTES];
        let too_long = HostError::TooLong {
            limit: PATH_BYTES - 1,
        };
        if path.len() >= PATH_BYTES {
            return Err(too_long);
        }
        let place = bytes.get_mut(..path.len()).ok_or(too_long)?;
        place.copy_from_slice(path.as_bytes());
        let length = path.len();
        Ok(Path { bytes, length })
    }

    fn address(&self) -> u64 {
        self.bytes.as_ptr() as u64
    }
}

/// Opens a file; `None` where the host can't.
fn open(path: &str, mode: u64) -> Result<Option<HostFile>, HostError> {
    let path = Path::new(path)?;
    let mut block = [path.address(), mode, path.length as u64];
    // SAFETY: `path` lives, ends with a zero, and is as long as is said.
    let handle = unsafe { call(operation::OPEN, &mut block) };
    Ok(u64::try_from(handle).ok().map(HostFile))
}

impl HostFiles {
    /// Makes an empty file.
    ///
    /// # Errors
    /// When the host can't.
    pub fn create(self, path: &str) -> Result<HostFile, HostError> {
        open(path, MODE_WRITE_BINARY)?.ok_or_else(|| refused("create a file"))
    }

    /// Opens a file, or the end of a pipe, from which is read.
    ///
    /// # Errors
    /// When the host can't.
    pub fn open(self, path: &str) -> Result<HostFile, HostError> {
        open(path, MODE_READ_BINARY)?.ok_or_else(|| refused("open a file"))
    }

    /// Reads the next bytes of a file, and tells how many there were: fewer than are wanted at the end of the file, none behind it.
    /// The machine stands still until a pipe has some.
    ///
    /// # Errors
    /// When the host can't.
    pub fn read(self, file: &mut HostFile, bytes: &mut [u8]) -> Result<usize, HostError> {
        let wanted = bytes.len();
        let mut block = [file.0, bytes.as_mut_ptr() as u64, wanted as u64];
        // SAFETY: the block is a handle, and `bytes`, borrowed for writing, and its length.
        let missing = usize::try_from(unsafe { call(operation::READ, &mut block) });
        let read = missing.ok().and_then(|missing| wanted.checked_sub(missing));
        read.ok_or_else(|| refused("read a file"))
    }

    /// Appends to a file.
    ///
    /// # Errors
    /// When not all bytes were written.
    pub fn write(self, file: &mut HostFile, bytes: &[u8]) -> Result<(), HostError> {
        let mut block = [file.0, bytes.as_ptr() as u64, bytes.len() as u64];
        // SAFETY: the block is a handle, and `bytes` and its length.
        match unsafe { call(operation::WRITE, &mut block) } {
            0 => Ok(()),
            _ => Err(refused("write to a file")),
        }
    }

    /// Closes a file.
    ///
    /// # Errors
    /// When the host can't.
    pub fn close(self, file: HostFile) -> Result<(), HostError> {
        // SAFETY: the block is a handle.
        match unsafe { call(operation::CLOSE, &mut [file.0]) } {
            0 => Ok(()),
            _ => Err(refused("close a file")),
        }
    }

    /// Gives a file another name, replacing what has it.
    ///
    /// # Errors
    /// When the host can't.
    pub fn rename(self, from: &str, to: &str) -> Result<(), HostError> {
        let (from, to) = (Path::new(from)?, Path::new(to)?);
        let mut block = [
            from.address(),
            from.length as u64,
            to.address(),
            to.length as u64,
        ];
        // SAFETY: both paths live, end with a zero, and are as long as is said.
        match unsafe { call(operation::RENAME, &mut block) } {
            0 => Ok(()),
            _ => Err(refused("rename a file")),
        }
    }
}

impl Host for Semihosting {
    fn command_line<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, HostError> {
        let mut block = [buffer.as_mut_ptr() as u64, buffer.len() as u64];
        // SAFETY: the block is `buffer` and its length, borrowed for writing.
        if unsafe { call(operation::GET_COMMAND_LINE, &mut block) } != 0 {
            return Err(refused("give the command line"));
        }
        let limit = buffer.len();
        let length = usize::try_from(block[1]).unwrap_or(usize::MAX);
        let text = buffer.get(..length).ok_or(HostError::TooLong { limit })?;
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        core::str::from_utf8(text).map_err(|_| HostError::Refused {
            call: "give a command line of UTF-8",
            errno: 0,
        })
    }

    fn say(&self, text: &str) {
        // The call ends at a zero, so the text is handed over in pieces that have one.
        for piece in text.as_bytes().chunks(PATH_BYTES - 1) {
            let mut bytes = [0u64; PATH_BYTES / 8];
            for (index, byte) in piece.iter().enumerate() {
                bytes[index / 8] |= u64::from(*byte) << (8 * (index % 8));
            }
            // SAFETY: the block is the text itself; a piece is shorter than it, so a zero ends it.
            unsafe { call(operation::WRITE_TEXT, &mut bytes) };
        }
    }

    fn end(&self, exit: Exit) -> ! {
        let mut block = [REASON_APPLICATION_EXIT, u64::from(exit.status())];
        loop {
            // QEMU ends in here, unless semihosting is off; then there is nobody to tell.
            // SAFETY: the block has no address.
            unsafe { call(operation::EXIT, &mut block) };
            core::hint::spin_loop();
        }
    }
}
