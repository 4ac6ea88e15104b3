//! The bundle: everything that an image needs to run one dispatch, as one run of bytes.

use crate::CRC;
use crate::content::{Content, DETAIL_WORDS};
use crate::cursor::Cursor;
#[cfg(feature = "host")]
use crate::job::Job;
use crate::job::{Part, Resource, Wants};
use thiserror::Error;

const MAGIC: [u8; 8] = *b"EITRIJOB";
const VERSION: u32 = 4;
/// Magic, version, length and sum; the sum is that of everything after it.
const PREFIX_BYTES: usize = 20;
/// Groups along three axes, time limit, what is wanted, and the lengths of program, firmware and push constants; resource
/// count.
const HEADER_WORDS: usize = 9;
/// Set, binding, element, bytes of the resource, bytes of its data, whether it is saved, and what of which memory it is: 0
/// for all of its own, else the number of a resource from 1, the first byte, and how many.
const PLACE_WORDS: usize = 9;
/// Then what it is.
const RECORD_WORDS: usize = PLACE_WORDS + DETAIL_WORDS;
const RECORD_BYTES: usize = 4 * RECORD_WORDS;
/// Program and firmware start at multiples of this.
const ALIGNMENT: usize = 8;

/// Why bytes are not a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BundleError {
    /// The first bytes are not those of a bundle, or of another version.
    #[error("not a job bundle of version {VERSION}: it starts with {found:02x?}")]
    Magic {
        /// The first eight bytes; zeros where there are fewer.
        found: [u8; 8],
    },
    /// More or fewer bytes than the header says.
    #[error("job bundle of {found} bytes, but its header promises {wanted}")]
    Length {
        /// Bytes that are there.
        found: usize,
        /// Bytes that the header promises.
        wanted: usize,
    },
    /// The sum is wrong.
    #[error("job bundle damaged: its CRC-32 is {found:#010x}, the header says {wanted:#010x}")]
    Sum {
        /// Sum of the bytes.
        found: u32,
        /// Sum in the header.
        wanted: u32,
    },
    /// A resource is of no known kind.
    #[error("resource {set}:{binding} of the job bundle is of no known kind")]
    Kind {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
    /// A resource has more data than bytes.
    #[error("resource {set}:{binding} of the job bundle has {data} bytes of data in {bytes} bytes")]
    Data {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// Bytes of the resource.
        bytes: u32,
        /// Bytes of data.
        data: u32,
    },
    /// A resource is to see a part of memory that is not there.
    #[error("resource {set}:{binding} of the job bundle sees memory that is not there")]
    Part {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
}

/// A checked bundle that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    groups: [u32; 3],
    limit_ms: u32,
    wants: Wants,
    program: &'a [u8],
    firmware: &'a [u8],
    push_constants: &'a [u8],
    records: &'a [u8],
    data: &'a [u8],
}

impl<'a> Bundle<'a> {
    /// Checks the whole of `bytes`.
    ///
    /// # Errors
    /// A [`BundleError`] that names the first thing that is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Bundle<'a>, BundleError> {
        let body = checked_body(bytes)?;
        let short = BundleError::Length {
            found: bytes.len(),
            wanted: bytes.len().saturating_add(1),
        };
        let mut cursor = Cursor::new(body);
        let mut header = [0; HEADER_WORDS];
        for word in &mut header {
            *word = cursor.word().ok_or(short)?;
        }
        let [x, y, z, limit_ms, wants, program, firmware, push, buffers] = header;
        let mut aligned = |length: u32| {
            let length = usize::try_from(length).ok()?;
            let taken = cursor.take(length.checked_next_multiple_of(ALIGNMENT)?)?;
            taken.get(..length)
        };
        let program = aligned(program).ok_or(short)?;
        let firmware = aligned(firmware).ok_or(short)?;
        let push_constants = aligned(push).ok_or(short)?;
        let record_bytes = usize::try_from(buffers)
            .ok()
            .and_then(|n| n.checked_mul(RECORD_BYTES));
        let records = record_bytes
            .and_then(|length| cursor.take(length))
            .ok_or(short)?;
        let data = cursor.take(cursor.left()).ok_or(short)?;
        let bundle = Bundle {
            groups: [x, y, z],
            limit_ms,
            wants: Wants::from_word(wants),
            program,
            firmware,
            push_constants,
            records,
            data,
        };
        bundle.check_records(short)?;
        Ok(bundle)
    }

    fn check_records(&self, short: BundleError) -> Result<(), BundleError> {
        let mut cursor = Cursor::new(self.data);
        for (number, record) in (1u32..).zip(self.records.chunks_exact(RECORD_BYTES)) {
            let words = record_words(record);
            let [set, binding, _, bytes, data, save, of, start, length] = place_words(&words);
            if Content::from_words(detail_words(&words)).is_none() {
                return Err(BundleError::Kind { set, binding });
            }
            // What sees the memory of another has none of its own; its part is looked at when it is bound.
            let is_own = of == 0 || of == number;
            let owns_nothing = (bytes, data, save) == (0, 0, 0);
            if of > number || !(is_own || owns_nothing) || (of == 0 && (start, length) != (0, 0)) {
                return Err(BundleError::Part { set, binding });
            }
            if data > bytes {
                return Err(BundleError::Data {
                    set,
                    binding,
                    bytes,
                    data,
                });
            }
            let length = usize::try_from(data).map_err(|_| short)?;
            cursor.take(length).ok_or(short)?;
        }
        match cursor.left() {
            0 => Ok(()),
            _ => Err(short),
        }
    }

    /// The program, as `eitri-program` reads it; its checks are the program's own.
    pub fn program(&self) -> &'a [u8] {
        self.program
    }

    /// The same job with another firmware image.
    pub fn with_firmware(self, firmware: &'a [u8]) -> Bundle<'a> {
        Bundle { firmware, ..self }
    }

    /// The firmware image; empty where whoever runs the job has it.
    pub fn firmware(&self) -> &'a [u8] {
        self.firmware
    }

    /// The push constants.
    pub fn push_constants(&self) -> &'a [u8] {
        self.push_constants
    }

    /// Workgroups along x, y and z.
    pub fn groups(&self) -> [u32; 3] {
        self.groups
    }

    /// Longest that the job may take, in milliseconds.
    pub fn limit_ms(&self) -> u32 {
        self.limit_ms
    }

    /// What is wanted besides the resources.
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// The resources.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'a>> + use<'a> {
        let mut cursor = Cursor::new(self.data);
        let records = self.records.chunks_exact(RECORD_BYTES);
        records.map_while(move |record| {
            let words = record_words(record);
            let [set, binding, element, bytes, data, save, of, start, length] = place_words(&words);
            Some(Resource {
                set,
                binding,
                element,
                // `check_records` has looked at it.
                content: Content::from_words(detail_words(&words))?,
                bytes,
                data: cursor.take(usize::try_from(data).ok()?)?,
                save: save != 0,
                part: match of.checked_sub(1) {
                    None => Part::Whole,
                    Some(resource) => Part::Of {
                        resource,
                        start,
                        bytes: length,
                    },
                },
            })
        })
    }
}

fn record_words(record: &[u8]) -> [u32; RECORD_WORDS] {
    let mut cursor = Cursor::new(record);
    // A record has this many words.
    core::array::from_fn(|_| cursor.word().unwrap_or(0))
}

fn place_words(record: &[u32; RECORD_WORDS]) -> [u32; PLACE_WORDS] {
    core::array::from_fn(|index| record.get(index).copied().unwrap_or(0))
}

fn detail_words(record: &[u32; RECORD_WORDS]) -> [u32; DETAIL_WORDS] {
    core::array::from_fn(|index| {
        let index = PLACE_WORDS.saturating_add(index);
        record.get(index).copied().unwrap_or(0)
    })
}

/// What follows the prefix, after magic, version, length and sum have been found good.
fn checked_body(bytes: &[u8]) -> Result<&[u8], BundleError> {
    let mut found = [0; 8];
    for (to, from) in found.iter_mut().zip(bytes) {
        *to = *from;
    }
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.take(MAGIC.len());
    if magic != Some(&MAGIC) || cursor.word() != Some(VERSION) {
        return Err(BundleError::Magic { found });
    }
    let short = BundleError::Length {
        found: bytes.len(),
        wanted: PREFIX_BYTES,
    };
    let length = cursor.word().ok_or(short)?;
    let wanted = cursor.word().ok_or(short)?;
    let body = cursor.take(cursor.left()).ok_or(short)?;
    match usize::try_from(length) {
        Ok(length) if length == bytes.len() => {}
        promised => {
            return Err(BundleError::Length {
                found: bytes.len(),
                wanted: promised.unwrap_or(usize::MAX),
            });
        }
    }
    let found = CRC.checksum(body);
    match found == wanted {
        true => Ok(body),
        false => Err(BundleError::Sum { found, wanted }),
    }
}

#[cfg(feature = "host")]
impl Job<'_> {
    /// The job as a bundle.
    ///
    /// # Panics
    /// When a part is 4 GiB or longer: the host bounds every input far below that.
    pub fn encode(&self) -> alloc::vec::Vec<u8> {
        use alloc::vec::Vec;
        let word = |length: usize| u32::try_from(length).expect("parts are below 4 GiB");
        let mut body = Vec::new();
        let mut put = |value: u32| body.extend_from_slice(&value.to_le_bytes());
        self.groups.into_iter().for_each(&mut put);
        put(self.limit_ms);
        put(self.wants.word());
        put(word(self.program.len()));
        put(word(self.firmware.len()));
        put(word(self.push_constants.len()));
        put(word(self.resources.len()));
        for part in [self.program, self.firmware, self.push_constants] {
            body.extend_from_slice(part);
            let padding = part.len().next_multiple_of(ALIGNMENT) - part.len();
            body.extend(core::iter::repeat_n(0, padding));
        }
        for resource in self.resources {
            let [of, start, length] = match resource.part {
                Part::Whole => [0, 0, 0],
                Part::Of {
                    resource,
                    start,
                    bytes,
                } => [resource.saturating_add(1), start, bytes],
            };
            let place = [
                resource.set,
                resource.binding,
                resource.element,
                resource.bytes,
                word(resource.data.len()),
                u32::from(resource.save),
                of,
                start,
                length,
            ];
            place
                .iter()
                .chain(&resource.content.to_words())
                .for_each(|value| body.extend_from_slice(&value.to_le_bytes()));
        }
        for resource in self.resources {
            body.extend_from_slice(resource.data);
        }
        let mut bytes = Vec::from(MAGIC);
        let length = word(PREFIX_BYTES + body.len());
        for value in [VERSION, length, CRC.checksum(&body)] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend(body);
        bytes
    }
}
