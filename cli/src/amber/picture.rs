//! Pictures of what differs, for `--keep`.

use super::keep::Kept;
use eitri_amber::run::{HostBuffer, Memory, Mismatch};
use eitri_amber::script::{Buffer, BufferId, Script};
use eitri_amber::types::{ChannelName, Type};

/// Keeps the pictures that an expectation was about, and a picture of their difference.
pub(super) fn keep(script: &Script, memory: &Memory, mismatch: &Mismatch, kept: &Kept) {
    if !kept.is_on() {
        return;
    }
    let picture = |id: BufferId| {
        let buffer = script.buffer(id)?;
        let host = memory.get(id)?;
        Some((buffer.name.clone(), host.size, rgba(buffer, host)?))
    };
    match mismatch {
        Mismatch::Pixels { buffer, .. } => {
            if let Some((name, size, pixels)) = picture(*buffer) {
                write(kept, &format!("{name}.png"), size, &pixels);
            }
        }
        other => {
            let pair = other.pair().and_then(|(a, b)| picture(a).zip(picture(b)));
            if let Some(((a, size, a_pixels), (b, _, b_pixels))) = pair {
                write(kept, &format!("{a}.png"), size, &a_pixels);
                write(kept, &format!("{b}.png"), size, &b_pixels);
                write(
                    kept,
                    &format!("{a}-{b}-difference.png"),
                    size,
                    &difference(&a_pixels, &b_pixels),
                );
            }
        }
    }
}

/// Pixels of red, green, blue and alpha, for a format of four bytes and a size.
fn rgba(buffer: &Buffer, host: &HostBuffer) -> Option<Vec<u8>> {
    let Type::Format(format) = &buffer.ty else {
        return None;
    };
    let pixels = usize::try_from(u64::from(host.size.0) * u64::from(host.size.1)).ok()?;
    if !format.is_four_bytes() || pixels < 2 {
        return None;
    }
    let blue_first = format.channels.first().map(|channel| channel.name) == Some(ChannelName::Blue);
    let bytes = host.bytes.get(..pixels.checked_mul(4)?)?;
    let (chunks, _) = bytes.as_chunks::<4>();
    let swap = |&[a, b, c, d]: &[u8; 4]| {
        if blue_first {
            [c, b, a, d]
        } else {
            [a, b, c, d]
        }
    };
    Some(chunks.iter().flat_map(swap).collect())
}

/// How far each channel is off, made opaque so that it can be seen.
fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (a, _) = a.as_chunks::<4>();
    let (b, _) = b.as_chunks::<4>();
    let pairs = a.iter().zip(b);
    pairs
        .flat_map(|([r1, g1, b1, _], [r2, g2, b2, _])| {
            [r1.abs_diff(*r2), g1.abs_diff(*g2), b1.abs_diff(*b2), 255]
        })
        .collect()
}

fn write(kept: &Kept, name: &str, (width, height): (u32, u32), pixels: &[u8]) {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    match written {
        Ok(()) => kept.write(name, &file),
        Err(cause) => crate::streams::talk!("can't make {name}: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_can_be_seen() {
        assert_eq!(difference(&[9, 2, 3, 0], &[1, 2, 5, 255]), [8, 0, 2, 255]);
    }
}
