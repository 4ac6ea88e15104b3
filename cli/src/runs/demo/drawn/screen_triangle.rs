//! A triangle on the screen, as a CPU sees it: which points are inside, and what weights its corners have there.

/// A corner: pixels from the left and from the top, depth, and 1 / w.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
    pub(crate) over_w: f64,
}

/// What a point inside of a triangle is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    /// The weights of the corners on the surface, seen in perspective.
    pub(crate) weights: [f64; 3],
    pub(crate) depth: f64,
}

/// Twice the area of a triangle, by the order of its corners above or below 0.
fn area(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// What a point is in a triangle; none if it is outside.
pub(crate) fn inside([a, b, c]: [Corner; 3], x: f64, y: f64) -> Option<Inside> {
    let at = |corner: Corner| (corner.x, corner.y);
    let whole = area(at(a), at(b), at(c));
    let flat = [
        area(at(b), at(c), (x, y)) / whole,
        area(at(c), at(a), (x, y)) / whole,
        area(at(a), at(b), (x, y)) / whole,
    ];
    if !flat.iter().all(|weight| *weight >= 0.0) {
        return None;
    }
    let corners = [a, b, c];
    let sum = |of: fn(&Corner) -> f64| -> f64 {
        let pairs = flat.iter().zip(&corners);
        pairs.map(|(weight, corner)| weight * of(corner)).sum()
    };
    let over_w = sum(|corner| corner.over_w);
    let [first, second, third] = flat;
    Some(Inside {
        weights: [
            first * a.over_w / over_w,
            second * b.over_w / over_w,
            third * c.over_w / over_w,
        ],
        depth: sum(|corner| corner.z),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_surface() {
        let corner = |x, y, over_w| Corner {
            x,
            y,
            z: 0.5,
            over_w,
        };
        // The second corner is twice as far away: half the way on the screen is nearer to the first on the surface.
        let corners = [
            corner(0.0, 0.0, 1.0),
            corner(8.0, 0.0, 0.5),
            corner(0.0, 8.0, 1.0),
        ];
        let found = inside(corners, 4.0, 0.0).unwrap();
        let [first, second, third] = found.weights;
        assert!((first - 2.0 / 3.0).abs() < 1e-12 && (second - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((third, found.depth), (0.0, 0.5));
        assert!(inside(corners, 5.0, 5.0).is_none());
    }
}
