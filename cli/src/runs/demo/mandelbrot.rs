//! mandelbrot: a picture, and divergent loops.

use super::{Demo, binding, bytes_of};

/// What the picture shows.
pub(crate) struct Picture {
    width: u32,
    height: u32,
    left: f32,
    top: f32,
    step: f32,
    limit: u32,
}

impl Picture {
    /// The whole set.
    pub(crate) const WHOLE_SET: Picture = Picture {
        width: 192,
        height: 128,
        left: -2.1,
        top: -1.0,
        step: 1.0 / 64.0,
        limit: 64,
    };

    /// The picture as a PNG file; `None` when there are not as many pixels as it has.
    pub(crate) fn png(&self, pixels: &[u8]) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(pixels).ok()?;
        writer.finish().ok()?;
        Some(file)
    }

    /// Rounds until a point is known to leave: the same fused operations as the shader's, so the same bits.
    fn rounds(&self, cx: f32, cy: f32) -> u32 {
        let (mut x, mut y) = (0.0f32, 0.0f32);
        for n in 0..self.limit {
            if x.mul_add(x, y * y) > 4.0 {
                return n;
            }
            let next = x.mul_add(x, (-y).mul_add(y, cx));
            y = (2.0 * x).mul_add(y, cy);
            x = next;
        }
        self.limit
    }

    fn colour(&self, n: u32) -> u32 {
        if n >= self.limit {
            return 0xFF00_0000;
        }
        let red = (n * 9).min(255);
        let green = (n * n / 3).min(255);
        let blue = (60 + n * 5).min(255);
        0xFF00_0000 | blue << 16 | green << 8 | red
    }

    fn pixel(&self, column: u32, row: u32) -> u32 {
        let cx = (column as f32).mul_add(self.step, self.left);
        let cy = (row as f32).mul_add(self.step, self.top);
        self.colour(self.rounds(cx, cy))
    }
}

pub(super) fn demo(picture: &Picture) -> Demo {
    let view = [
        picture.left.to_bits(),
        picture.top.to_bits(),
        picture.step.to_bits(),
        picture.width,
        picture.height,
        picture.limit,
    ];
    let rows = 0..picture.height;
    let pixels =
        rows.flat_map(|row| (0..picture.width).map(move |column| picture.pixel(column, row)));
    let bytes = picture.width as usize * picture.height as usize * 4;
    Demo {
        file: "mandelbrot.wgsl",
        what: "a picture: divergent loops",
        buffers: vec![(binding(0), bytes_of(view)), (binding(1), vec![0; bytes])],
        push_constants: Vec::new(),
        groups: [picture.width.div_ceil(16), picture.height.div_ceil(4), 1],
        output: binding(1),
        expected: bytes_of(pixels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_needs_all_of_its_pixels() {
        let picture = Picture::WHOLE_SET;
        let bytes = demo(&picture).expected;
        let file = picture.png(&bytes).unwrap();
        assert_eq!(file.get(1..4), Some(&b"PNG"[..]));
        assert!(picture.png(&bytes[4..]).is_none(), "a pixel is missing");
    }

    #[test]
    fn the_picture_shows_the_set() {
        let picture = Picture::WHOLE_SET;
        assert_eq!(
            picture.rounds(0.0, 0.0),
            picture.limit,
            "the origin belongs to the set"
        );
        assert_eq!(picture.rounds(2.0, 2.0), 1, "a far point leaves at once");
    }
}
