//! Pictures: of what differs, for `--keep`, and of what a person asks for.

use super::keep::Kept;
use crate::output::png::difference;
use eitri_amber::compare;
use eitri_amber::plan::Plan;
use eitri_amber::run::{HostBuffer, Memory, Mismatch};
use eitri_amber::script::{Buffer, BufferId, PixelProbe};
use eitri_amber::types::{ChannelName, Encoding, Type};

/// Keeps the pictures that an expectation was about, and a picture of their difference.
pub(super) fn keep(plan: &Plan, memory: &Memory, mismatch: &Mismatch, kept: &Kept) {
    if !kept.is_on() {
        return;
    }
    let picture = |id: BufferId| {
        let buffer = plan.buffer(id)?;
        let host = memory.get(id)?;
        Some((buffer.name.clone(), host.size, rgba(buffer, host)?))
    };
    match mismatch {
        Mismatch::Pixels { buffer, probe, .. } => {
            if let Some((name, size, pixels)) = picture(*buffer) {
                write(kept, &format!("{name}.png"), size, &pixels);
                let wanted = filled(&pixels, size, probe);
                let name = format!("{name}-difference.png");
                write(kept, &name, size, &difference(&pixels, &wanted, 1));
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
                    &difference(&a_pixels, &b_pixels, 1),
                );
            }
        }
    }
}

/// The picture with the color that a rectangle of it should have.
fn filled(pixels: &[u8], (width, _): (u32, u32), probe: &PixelProbe) -> Vec<u8> {
    let color = probe.color.map(byte);
    let inside = |at: u32, axis: usize| {
        let (start, size) = (probe.origin.get(axis), probe.size.get(axis));
        let (start, size) = (start.copied().unwrap_or(0), size.copied().unwrap_or(0));
        at >= start && at - start < size
    };
    let (chunks, _) = pixels.as_chunks::<4>();
    let wanted = (0_u32..).zip(chunks).flat_map(|(index, pixel)| {
        let width = width.max(1);
        match inside(index % width, 0) && inside(index / width, 1) {
            true => color,
            false => *pixel,
        }
    });
    wanted.collect()
}

/// A channel from 0 to 1 as a byte.
fn byte(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Pixels of red, green, blue and alpha; none for what is no picture: less than two pixels, or nothing of a color in them.
/// What is missing of a color is black and opaque. Integers are shown as bytes, as far as they go.
pub(super) fn rgba(buffer: &Buffer, host: &HostBuffer) -> Option<Vec<u8>> {
    let pixels = usize::try_from(u64::from(host.size.0) * u64::from(host.size.1)).ok()?;
    if pixels < 2 {
        return None;
    }
    let stride = buffer.element.stride;
    let bytes = host.bytes.get(..pixels.checked_mul(stride)?)?;
    match &buffer.ty {
        Type::Format(format) if format.is_four_bytes() => {
            let first = format.channels.first().map(|channel| channel.name);
            let blue_first = first == Some(ChannelName::Blue);
            let (chunks, _) = bytes.as_chunks::<4>();
            let swap = |&[a, b, c, d]: &[u8; 4]| match blue_first {
                true => [c, b, a, d],
                false => [a, b, c, d],
            };
            Some(chunks.iter().flat_map(swap).collect())
        }
        _ => {
            let scale = match buffer.element.components.first() {
                Some(component) if component.scalar.is_float() => 1.0,
                _ if is_normalized(&buffer.ty) => 1.0,
                _ => 1.0 / 255.0,
            };
            let color = |pixel: &[u8]| {
                let [red, green, blue, alpha] = compare::color(buffer, pixel);
                let channel = |value: Option<f64>| value.map_or(0, |value| byte(value * scale));
                let alpha = alpha.map_or(255, |value| byte(value * scale));
                [channel(red), channel(green), channel(blue), alpha]
            };
            let [red, ..] = compare::color(buffer, bytes);
            red?;
            Some(bytes.chunks_exact(stride.max(1)).flat_map(color).collect())
        }
    }
}

fn is_normalized(ty: &Type) -> bool {
    let Type::Format(format) = ty else {
        return false;
    };
    format.channels.iter().any(|channel| {
        matches!(
            channel.encoding,
            Encoding::Unorm | Encoding::Snorm | Encoding::Srgb
        )
    })
}

fn write(kept: &Kept, name: &str, size: (u32, u32), pixels: &[u8]) {
    kept.write(name, &png(size, pixels));
}

/// The pixels as a PNG file; empty if they don't make a picture of that size.
pub(super) fn png((width, height): (u32, u32), pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    match written {
        Ok(()) => file,
        Err(cause) => {
            crate::output::streams::talk!("can't make a picture: {cause}");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_can_be_seen() {
        assert_eq!(
            difference(&[9, 2, 3, 0], &[1, 2, 5, 255], 1),
            [8, 0, 2, 255]
        );
    }
}
