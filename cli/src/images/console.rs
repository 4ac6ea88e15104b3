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
    fn text_stays_text_and_foreign_frames_are_counted() {
        let shown = decode(b"hello\n\0\x01\x02\0world\n\0\x03\0", b"no ELF file");
        assert_eq!(
            shown,
            "hello\nworld\n(2 log frames do not belong to this image)\n"
        );
    }
}
