//! The result stream: what an image sends back, record by record, so that nothing large is held twice.
//!
//! A stream is the magic, then records of a tag, a length and that many bytes; the last record holds the sum of all
//! before it. A stream without it was cut short, and counts as a crash.

use crate::CRC;
use core::fmt;

const MAGIC: [u8; 8] = *b"EITRIRE2";

const STEP: u32 = 1;
const BUFFER: u32 = 2;
const FAILURE: u32 = 3;
const END: u32 = 4;
const COUNTER: u32 = 5;
const DUMP: u32 = 6;
const NO_DUMP: u32 = 7;

/// Takes the stream's bytes, in order.
pub trait Sink {
    /// Why bytes could not be taken.
    type Error;

    /// Takes the next bytes.
    ///
    /// # Errors
    /// When they are lost; the stream is then void.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// What kind of failure ended a job: it decides the exit status of the command that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The request can't be carried out: the program, a buffer, a shader that never ends.
    Refused,
    /// The GPU or its firmware did not do what it must.
    Device,
    /// The driver does not do yet what the request asks for.
    Unsupported,
}

/// Writes a stream into a [`Sink`].
pub struct Writer<'s, S: Sink> {
    sink: &'s mut S,
    digest: crc::Digest<'static, u32>,
}

static STREAM_CRC: crc::Crc<u32> = CRC;

impl<'s, S: Sink> Writer<'s, S> {
    /// Starts a stream.
    ///
    /// # Errors
    /// Those of the sink; so for every function here.
    pub fn start(sink: &'s mut S) -> Result<Writer<'s, S>, S::Error> {
        let digest = STREAM_CRC.digest();
        let mut writer = Writer { sink, digest };
        writer.put(&MAGIC)?;
        Ok(writer)
    }

    /// A step of the bring-up that went well: what was done, what was found, how long it took.
    pub fn step(&mut self, name: &str, found: &str, microseconds: u64) -> Result<(), S::Error> {
        let length = 8usize
            .saturating_add(4)
            .saturating_add(name.len())
            .saturating_add(found.len());
        self.record(STEP, length)?;
        self.put(&microseconds.to_le_bytes())?;
        self.put(&length_word(name.len()))?;
        self.put(name.as_bytes())?;
        self.put(found.as_bytes())
    }

    /// Starts a buffer, or the texels of an image, of `bytes` bytes; exactly as many must follow by [`Writer::data`].
    pub fn buffer(
        &mut self,
        (set, binding, element): (u32, u32, u32),
        bytes: usize,
    ) -> Result<(), S::Error> {
        self.record(BUFFER, bytes.saturating_add(12))?;
        self.put(&set.to_le_bytes())?;
        self.put(&binding.to_le_bytes())?;
        self.put(&element.to_le_bytes())
    }

    /// The next bytes of the buffer that was started last.
    pub fn data(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.put(bytes)
    }

    /// What a performance counter has counted.
    pub fn counter(&mut self, name: &str, value: u64) -> Result<(), S::Error> {
        self.record(COUNTER, name.len().saturating_add(8))?;
        self.put(&value.to_le_bytes())?;
        self.put(name.as_bytes())
    }

    /// The next bytes of the core dump.
    pub fn dump(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.record(DUMP, bytes.len())?;
        self.put(bytes)
    }

    /// The core dump is not whole; `text` says why.
    pub fn no_dump(&mut self, text: fmt::Arguments<'_>) -> Result<(), S::Error> {
        self.record(NO_DUMP, length_of(text))?;
        self.text(text)
    }

    /// The job failed; `text` is what a person should read.
    pub fn failure(&mut self, kind: FailureKind, text: fmt::Arguments<'_>) -> Result<(), S::Error> {
        self.record(FAILURE, length_of(text).saturating_add(4))?;
        let kind: u32 = match kind {
            FailureKind::Refused => 0,
            FailureKind::Device => 1,
            FailureKind::Unsupported => 2,
        };
        self.put(&kind.to_le_bytes())?;
        self.text(text)
    }

    fn text(&mut self, text: fmt::Arguments<'_>) -> Result<(), S::Error> {
        let mut text_writer = TextWriter {
            writer: self,
            error: None,
        };
        let _ = fmt::write(&mut text_writer, text);
        match text_writer.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Ends the stream.
    pub fn finish(mut self) -> Result<(), S::Error> {
        self.record(END, 4)?;
        let sum = self.digest.finalize();
        self.sink.put(&sum.to_le_bytes())
    }

    fn record(&mut self, tag: u32, length: usize) -> Result<(), S::Error> {
        self.put(&tag.to_le_bytes())?;
        self.put(&length_word(length))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.digest.update(bytes);
        self.sink.put(bytes)
    }
}

/// A length as the stream holds it. A buffer of a job is far below 4 GiB; one that were not would fail the sum.
fn length_word(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

fn length_of(text: fmt::Arguments<'_>) -> usize {
    let mut length = Length(0);
    // A length never refuses a write.
    let _ = fmt::write(&mut length, text);
    length.0
}

struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(text.len());
        Ok(())
    }
}

struct TextWriter<'w, 's, S: Sink> {
    writer: &'w mut Writer<'s, S>,
    error: Option<S::Error>,
}

impl<S: Sink> fmt::Write for TextWriter<'_, '_, S> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.writer.put(text.as_bytes()).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

#[cfg(feature = "host")]
pub use reader::{Failure, JobResult, ResultError, SavedBuffer, Step};

#[cfg(feature = "host")]
mod reader {
    //! Reading a stream whole, on the host.

    use super::{BUFFER, COUNTER, DUMP, END, FAILURE, FailureKind, MAGIC, NO_DUMP, STEP};
    use crate::CRC;
    use crate::cursor::Cursor;
    use alloc::string::String;
    use alloc::vec::Vec;
    use thiserror::Error;

    /// A step of the bring-up.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Step {
        /// What was done.
        pub name: String,
        /// What was found.
        pub found: String,
        /// How long it took.
        pub microseconds: u64,
    }

    /// The content of a buffer or image after the dispatch.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SavedBuffer {
        /// Descriptor set of the shader's text.
        pub set: u32,
        /// Binding of the shader's text.
        pub binding: u32,
        /// Element, of an array of descriptors.
        pub element: u32,
        /// The content.
        pub bytes: Vec<u8>,
    }

    /// Why a job failed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Failure {
        /// Whose fault it is.
        pub kind: FailureKind,
        /// For a person to read.
        pub text: String,
    }

    /// A whole result.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct JobResult {
        /// The steps, in order.
        pub steps: Vec<Step>,
        /// The buffers that were to be saved.
        pub buffers: Vec<SavedBuffer>,
        /// What performance counters have counted, by name.
        pub counters: Vec<(String, u64)>,
        /// A core dump of the GPU; empty if none was taken.
        pub dump: Vec<u8>,
        /// Why the dump is not whole, if it is not.
        pub no_dump: Option<String>,
        /// Why the job failed, if it did.
        pub failure: Option<Failure>,
    }

    /// Why bytes are not a whole result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
    pub enum ResultError {
        /// It does not start as one.
        #[error("not a job result")]
        Magic,
        /// It ends in the middle: the image died.
        #[error("job result cut short after {at} bytes: the image died while it wrote it")]
        CutShort {
            /// Bytes that are there.
            at: usize,
        },
        /// A record that means nothing, or a wrong sum.
        #[error("job result damaged at byte {at}")]
        Damaged {
            /// Where the record starts.
            at: usize,
        },
    }

    impl JobResult {
        /// Reads a whole stream.
        ///
        /// # Errors
        /// A [`ResultError`] when the stream is not whole.
        pub fn parse(bytes: &[u8]) -> Result<JobResult, ResultError> {
            let mut cursor = Cursor::new(bytes);
            if cursor.take(MAGIC.len()) != Some(&MAGIC) {
                return Err(ResultError::Magic);
            }
            let mut result = JobResult::default();
            loop {
                let at = bytes.len() - cursor.left();
                let cut = ResultError::CutShort { at: bytes.len() };
                let damaged = ResultError::Damaged { at };
                let tag = cursor.word().ok_or(cut)?;
                let length = cursor.word().ok_or(cut)?;
                let payload = usize::try_from(length)
                    .ok()
                    .and_then(|length| cursor.take(length));
                let mut record = Cursor::new(payload.ok_or(cut)?);
                match tag {
                    STEP => result.steps.push(step(&mut record).ok_or(damaged)?),
                    BUFFER => result.buffers.push(buffer(&mut record).ok_or(damaged)?),
                    COUNTER => result.counters.push(counter(&mut record).ok_or(damaged)?),
                    DUMP => result.dump.extend_from_slice(rest(&mut record)),
                    NO_DUMP => {
                        let left = record.left();
                        result.no_dump = Some(text(&mut record, left).ok_or(damaged)?);
                    }
                    FAILURE => result.failure = Some(failure(&mut record).ok_or(damaged)?),
                    END => {
                        let summed = bytes.get(..at + 8).unwrap_or(&[]);
                        let good = record.word() == Some(CRC.checksum(summed));
                        return if good && cursor.left() == 0 {
                            Ok(result)
                        } else {
                            Err(damaged)
                        };
                    }
                    _ => return Err(damaged),
                }
            }
        }
    }

    fn text(record: &mut Cursor<'_>, length: usize) -> Option<String> {
        Some(String::from_utf8_lossy(record.take(length)?).into_owned())
    }

    fn step(record: &mut Cursor<'_>) -> Option<Step> {
        let low = record.word()?;
        let high = record.word()?;
        let name = usize::try_from(record.word()?).ok()?;
        Some(Step {
            name: text(record, name)?,
            found: text(record, record.left())?,
            microseconds: u64::from(high) << 32 | u64::from(low),
        })
    }

    fn buffer(record: &mut Cursor<'_>) -> Option<SavedBuffer> {
        Some(SavedBuffer {
            set: record.word()?,
            binding: record.word()?,
            element: record.word()?,
            bytes: record.take(record.left())?.to_vec(),
        })
    }

    fn rest<'a>(record: &mut Cursor<'a>) -> &'a [u8] {
        record.take(record.left()).unwrap_or(&[])
    }

    fn counter(record: &mut Cursor<'_>) -> Option<(String, u64)> {
        let low = record.word()?;
        let high = record.word()?;
        let name = text(record, record.left())?;
        Some((name, u64::from(high) << 32 | u64::from(low)))
    }

    fn failure(record: &mut Cursor<'_>) -> Option<Failure> {
        let kind = match record.word()? {
            0 => FailureKind::Refused,
            1 => FailureKind::Device,
            2 => FailureKind::Unsupported,
            _ => return None,
        };
        Some(Failure {
            kind,
            text: text(record, record.left())?,
        })
    }
}
