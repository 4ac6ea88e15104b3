//! Points: squares around a snapped centre.
//!
//! Facts: hardware/graphics-model.md 2.3, graphics-raster.md 4.15.

use super::edge::Edge;
use super::fixed::Point;
use super::shape::{Asked, Bounds, Shape};
use eitri_descriptors::Arch;

/// Side of a point's square in 1/16 pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointSize {
    sixteenths: i32,
}

impl PointSize {
    /// Clamps a size to what the architecture draws and rounds it to 1/16 pixel, ties to even. NaN gives the least size.
    pub(crate) fn new(size: f32, arch: Arch) -> PointSize {
        let (least, most) = if arch >= Arch::V13 {
            (1.0, 1024.0)
        } else {
            (0.125, 4095.9375)
        };
        let clamped = f64::from(size).max(least).min(most);
        PointSize {
            sixteenths: libm::rint(clamped * 16.0) as i32,
        }
    }

    /// Side in 1/256 pixel; always even.
    pub(super) fn side(self) -> i32 {
        self.sixteenths * 16
    }
}

/// The square around a centre. It holds its left and upper sides, whatever the tie-break rule.
pub(super) fn square(centre: Point, size: PointSize) -> Shape {
    let half = size.side() / 2;
    let (left, right) = (centre.x - half, centre.x + half);
    let (upper, lower) = (centre.y - half, centre.y + half);
    let side = |along_x: i64, along_y: i64, constant: i32, least: i64| Edge {
        along_x,
        along_y,
        constant: i64::from(constant),
        least,
    };
    let edges = [
        side(1, 0, -left, 0),
        side(0, 1, -upper, 0),
        side(-1, 0, right, 1),
        side(0, -1, lower, 1),
    ];
    let bounds = Bounds {
        min: Point { x: left, y: upper },
        max: Point { x: right, y: lower },
    };
    Shape::new(&edges, bounds, Asked::Samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_clamped_and_rounded() {
        let sixteenths = |size, arch| PointSize::new(size, arch).sixteenths;
        assert_eq!(sixteenths(1.0, Arch::V10), 16);
        assert_eq!(sixteenths(0.0, Arch::V10), 2);
        assert_eq!(sixteenths(f32::NAN, Arch::V12), 2);
        assert_eq!(sixteenths(f32::INFINITY, Arch::V12), 65535);
        assert_eq!(sixteenths(0.5, Arch::V13), 16);
        assert_eq!(sixteenths(2000.0, Arch::V13), 16384);
        // 2.5 and 3.5 sixteenths: ties go to the even one.
        assert_eq!(sixteenths(0.156_25, Arch::V10), 2);
        assert_eq!(sixteenths(0.218_75, Arch::V10), 4);
    }
}
