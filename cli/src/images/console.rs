//! The console of an image: plain text with codes of errors, and `defmt` frames that the image's own ELF file decodes.
//!
//! A zero byte switches between text and frame; neither has one of its own (qemu-tests/README.md).

use crate::images::error_code;
use defmt_decoder::Table;

/// Turns what an image sent over its console into lines for a person.
///
/// Frames that can't be decoded are counted, not dropped silently: a wrong ELF file must be noticed.
pub(crate) fn decode(sent: &[u8], elf: &[u8]) -> String {
    let table = Table::parse(elf).ok().flatten();
    let mut text = String::new();
    let mut undecoded = 0;
    for (index, part) in sent.split(|byte| *byte == 0).enumerate() {
        let is_frame = index % 2 == 1;
        if !is_frame {
            text.push_str(&String::from_utf8_lossy(part));
            continue;
        }
        match table.as_ref().and_then(|table| frame(table, part)) {
            Some(line) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&line);
                text.push('\n');
            }
            None => undecoded += 1,
        }
    }
    if undecoded > 0 {
        text.push_str(&format!(
            "({undecoded} log frames do not belong to this image)\n"
        ));
    }
    error_code::explained(&text)
}

/// The console of an image that runs, decoded as it comes.
///
/// What an image without a table of log messages sends is passed on byte for byte: a zero byte means nothing there.
pub(crate) struct Stream {
    elf: Vec<u8>,
    has_frames: bool,
    /// The beginning of a frame whose end has not come yet.
    rest: Vec<u8>,
}

impl Stream {
    /// The console of an image whose ELF file this is; empty where there is none.
    pub(crate) fn new(elf: Vec<u8>) -> Stream {
        let table = Table::parse(&elf).ok().flatten();
        Stream {
            has_frames: table.is_some_and(|table| !table.is_empty()),
            elf,
            rest: Vec::new(),
        }
    }

    /// What can be shown of these bytes and of those before them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if !self.has_frames {
            return bytes.to_vec();
        }
        self.rest.extend(bytes);
        let (mut inside, mut end) = (false, 0);
        for (at, byte) in (1..).zip(&self.rest) {
            match byte {
                0 => inside = !inside,
                b'\n' => {}
                _ => continue,
            }
            if !inside {
                end = at;
            }
        }
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        decode(&whole, &self.elf).into_bytes()
    }

    /// What is left when nothing more comes.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self.has_frames {
            true => decode(&self.rest, &self.elf).into_bytes(),
            false => self.rest,
        }
    }
}

/// One frame as `time level message`.
fn frame(table: &Table, bytes: &[u8]) -> Option<String> {
    let mut decoder = table.new_stream_decoder();
    decoder.received(bytes);
    decoder.received(&[0]);
    let frame = decoder.decode().ok()?;
    let time = frame
        .display_timestamp()
        .map_or(String::new(), |time| format!("{time} "));
    let level = frame.level().map_or("print", |level| level.as_str());
    Some(format!("{time}{level:<5} {}", frame.display_message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_table_is_passed_on_as_it_is() {
        let mut stream = Stream::new(Vec::new());
        assert_eq!(stream.push(b"a\0b"), b"a\0b");
        assert_eq!(stream.push(b"\xFFc"), b"\xFFc");
        assert_eq!(stream.finish(), b"");
    }

    #[test]
    fn a_frame_is_shown_once_it_is_whole() {
        let mut stream = Stream {
            elf: b"no ELF file".to_vec(),
            has_frames: true,
            rest: Vec::new(),
        };
        assert_eq!(stream.push(b"hello\n\0\x01"), b"hello\n");
        let foreign = b"(1 log frames do not belong to this image)\n";
        assert_eq!(stream.push(b"\x02\0wor"), foreign);
        assert_eq!(stream.push(b"ld"), b"");
        assert_eq!(stream.finish(), b"world");
    }

    #[test]
    fn text_stays_text_and_foreign_frames_are_counted() {
        let shown = decode(b"hello\n\0\x01\x02\0world\n\0\x03\0", b"no ELF file");
        assert_eq!(
            shown,
            "hello\nworld\n(2 log frames do not belong to this image)\n"
        );
    }
}
