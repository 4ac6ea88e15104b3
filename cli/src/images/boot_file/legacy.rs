//! U-Boot's older container: 64 bytes, big-endian, before the content. `bootm` takes images in it, `source` scripts.

use super::{Content, FormatError, time};

/// The first word of the header.
const MAGIC: u32 = 0x2705_1956;
/// Operating system: what is entered as Linux is.
const LINUX: u8 = 5;
/// Processor.
const ARM64: u8 = 22;
/// Bytes of the name.
const NAME_BYTES: usize = 32;

/// What is in the container.
#[derive(Clone, Copy)]
enum Kind {
    Kernel = 2,
    Script = 6,
}

/// An image that is unpacked to its address and entered there.
pub(super) fn image(content: &Content<'_>) -> Result<Vec<u8>, FormatError> {
    wrap(Kind::Kernel, content)
}

/// A script: the container holds a list of lengths, which ends with 0, and then the texts.
pub(super) fn script(text: &str) -> Result<Vec<u8>, FormatError> {
    let mut bytes = word(text.len())?.to_be_bytes().to_vec();
    bytes.extend(0u32.to_be_bytes());
    bytes.extend(text.as_bytes());
    wrap(
        Kind::Script,
        &Content {
            name: "eitri boot script",
            address: 0,
            bytes: &bytes,
            tree: None,
        },
    )
}

fn word(bytes: usize) -> Result<u32, FormatError> {
    u32::try_from(bytes).map_err(|_| FormatError::Bytes { bytes })
}

fn wrap(kind: Kind, content: &Content<'_>) -> Result<Vec<u8>, FormatError> {
    let address = u32::try_from(content.address).map_err(|_| FormatError::Address {
        address: content.address,
    })?;
    let mut name = [0; NAME_BYTES];
    for (place, byte) in name.iter_mut().zip(content.name.bytes()) {
        *place = byte;
    }
    let with_checksum = |checksum: u32| {
        let words = [
            MAGIC,
            checksum,
            time(),
            // `word` has seen to it that it fits.
            content.bytes.len() as u32,
            address,
            address,
            crc32fast::hash(content.bytes),
        ];
        let mut header: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        // No compression.
        header.extend([LINUX, ARM64, kind as u8, 0]);
        header.extend(name);
        header
    };
    word(content.bytes.len())?;
    // The checksum of the header is taken while its own place is 0.
    let mut file = with_checksum(crc32fast::hash(&with_checksum(0)));
    file.extend(content.bytes);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_what_follows() {
        let content = Content {
            name: "a name that is longer than the header has room for",
            address: 0x0200_0000,
            bytes: b"content",
            tree: None,
        };
        let file = image(&content).unwrap();
        assert_eq!(file.len(), 64 + 7);
        assert_eq!(file[..4], [0x27, 0x05, 0x19, 0x56]);
        assert_eq!(file[12..24], [0, 0, 0, 7, 2, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(&file[64..], b"content");
        let mut header = file[..64].to_vec();
        header[4..8].fill(0);
        let checksum = crc32fast::hash(&header).to_be_bytes();
        assert_eq!(file[4..8], checksum, "the checksum of the header");
        let far = Content {
            address: 1 << 32,
            ..content
        };
        assert!(matches!(image(&far), Err(FormatError::Address { .. })));
    }
}
