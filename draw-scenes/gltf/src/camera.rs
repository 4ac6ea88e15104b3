//! The camera: one of the file, or one that sees all of the model.
//!
//! Facts: glTF 2.0, "Cameras". A picture's own ratio of sides takes the place of the file's; y points down and depth runs from 0 to
//! 1, as in Vulkan.

use crate::error::Fault;
use crate::matrix::{Matrix, Vector, add, scaled};
use gltf::camera::Projection;
use std::str::FromStr;

/// Degrees that a fitted camera stands to the right of the front, and above it, if nothing else is said.
pub(crate) const USUAL: (f64, f64) = (30.0, 20.0);
/// Vertical field of view of the fitted camera, in degrees.
const FIELD: f64 = 40.0;
/// How much farther away it stands than it has to.
const MARGIN: f64 = 1.05;

/// Which camera sees the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CameraChoice {
    /// The first of the file's scene; if it has none, a fitted one.
    #[default]
    Usual,
    /// The one of this name or number in the file's scene.
    Named(String),
    /// One that sees all of the model, from this direction: degrees to the right of the front (+z), and upwards.
    Fitted {
        /// Degrees to the right.
        yaw: f64,
        /// Degrees upwards.
        pitch: f64,
    },
}

impl FromStr for CameraChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<CameraChoice, String> {
        let (yaw, pitch) = match text.split_once(':') {
            Some(("fit", angles)) => {
                let pair = angles.split_once(',');
                let number =
                    |text: &str| text.trim().parse::<f64>().ok().filter(|it| it.is_finite());
                let pair = pair.and_then(|(yaw, pitch)| Some((number(yaw)?, number(pitch)?)));
                pair.ok_or_else(|| format!("`{angles}` is not YAW,PITCH in degrees"))?
            }
            _ if text == "fit" => USUAL,
            _ => return Ok(CameraChoice::Named(text.to_owned())),
        };
        if pitch.abs() > 89.0 {
            return Err("the pitch is between -89 and 89 degrees".to_owned());
        }
        Ok(CameraChoice::Fitted { yaw, pitch })
    }
}

/// A camera that stands somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eye {
    pub(crate) clip_of_world: Matrix,
    /// Where it stands; of a camera that sees in parallel the direction towards it, and 0.
    pub(crate) place: [f64; 4],
    /// The direction that it looks in.
    pub(crate) forward: Vector,
}

/// The camera of a file, at its node. `ratio` is the picture's width by its height.
pub(crate) fn of_file(camera: &gltf::Camera<'_>, world: &Matrix, ratio: f64) -> Result<Eye, Fault> {
    let index = camera.index();
    let invalid = |what: &str| Fault::invalid(format!("cameras[{index}] {what}"));
    let (clip, parallel) = match camera.projection() {
        Projection::Perspective(of) => {
            let (near, far) = (f64::from(of.znear()), of.zfar().map(f64::from));
            let field = f64::from(of.yfov());
            let good = near > 0.0
                && far.is_none_or(|far| far > near)
                && field > 0.0
                && field < std::f64::consts::PI;
            if !good {
                return Err(invalid("has no perspective"));
            }
            (perspective(field, ratio, near, far), false)
        }
        Projection::Orthographic(of) => {
            let (near, far) = (f64::from(of.znear()), f64::from(of.zfar()));
            let high = f64::from(of.ymag());
            if near < 0.0 || far <= near || high == 0.0 || !high.is_finite() {
                return Err(invalid("has no projection"));
            }
            (orthographic(high, ratio, near, far), true)
        }
    };
    let view = world
        .inverse()
        .ok_or_else(|| invalid("is at a node that flattens space"))?;
    let [_, _, back] = world.axes();
    let back = crate::matrix::direction(back).unwrap_or([0.0, 0.0, 1.0]);
    let [x, y, z] = match parallel {
        true => back,
        false => world.point([0.0; 3]),
    };
    Ok(Eye {
        clip_of_world: clip.after(&view),
        place: [x, y, z, if parallel { 0.0 } else { 1.0 }],
        forward: scaled(back, -1.0),
    })
}

/// A camera that sees all of a ball, from this direction.
pub(crate) fn fitted(centre: Vector, radius: f64, (yaw, pitch): (f64, f64), ratio: f64) -> Eye {
    let field = FIELD.to_radians();
    // The narrower of the two fields is what everything has to fit into.
    let half = (field / 2.0).tan() * ratio.min(1.0);
    let radius = if radius > 0.0 { radius } else { 1.0 };
    let distance = radius / half.atan().sin() * MARGIN;
    let (yaw_sin, yaw_cos) = yaw.to_radians().sin_cos();
    let (pitch_sin, pitch_cos) = pitch.to_radians().sin_cos();
    let right = [yaw_cos, 0.0, -yaw_sin];
    let up = [-yaw_sin * pitch_sin, pitch_cos, -yaw_cos * pitch_sin];
    let back = [yaw_sin * pitch_cos, pitch_sin, yaw_cos * pitch_cos];
    let place = add(centre, scaled(back, distance));
    let column = |[x, y, z]: Vector| [x, y, z, 0.0];
    let [x, y, z] = place;
    let world = Matrix([column(right), column(up), column(back), [x, y, z, 1.0]]);
    let near = (distance - radius) * 0.9;
    let clip = perspective(field, ratio, near, Some(distance + radius * 1.1));
    // A rotation and a translation have an inverse.
    let view = world.inverse().unwrap_or(Matrix::IDENTITY);
    Eye {
        clip_of_world: clip.after(&view),
        place: [x, y, z, 1.0],
        forward: scaled(back, -1.0),
    }
}

fn perspective(field: f64, ratio: f64, near: f64, far: Option<f64>) -> Matrix {
    let focal = 1.0 / (field / 2.0).tan();
    let (slope, shift) = match far {
        Some(far) => (far / (near - far), near * far / (near - far)),
        None => (-1.0, -near),
    };
    Matrix([
        [focal / ratio, 0.0, 0.0, 0.0],
        [0.0, -focal, 0.0, 0.0],
        [0.0, 0.0, slope, -1.0],
        [0.0, 0.0, shift, 0.0],
    ])
}

fn orthographic(high: f64, ratio: f64, near: f64, far: f64) -> Matrix {
    Matrix([
        [1.0 / (high * ratio), 0.0, 0.0, 0.0],
        [0.0, -1.0 / high, 0.0, 0.0],
        [0.0, 0.0, 1.0 / (near - far), 0.0],
        [0.0, 0.0, near / (near - far), 1.0],
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        assert_eq!(
            "fit".parse(),
            Ok(CameraChoice::Fitted {
                yaw: 30.0,
                pitch: 20.0
            })
        );
        assert_eq!(
            "fit:-90,10".parse(),
            Ok(CameraChoice::Fitted {
                yaw: -90.0,
                pitch: 10.0
            })
        );
        assert_eq!(
            "Camera 1".parse(),
            Ok(CameraChoice::Named("Camera 1".to_owned()))
        );
        for bad in ["fit:1", "fit:a,b", "fit:0,90", "fit:inf,0"] {
            assert!(bad.parse::<CameraChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_fitted_camera_sees_the_whole_ball() {
        let centre = [3.0, -2.0, 5.0];
        for ratio in [0.4, 1.0, 2.5] {
            let eye = fitted(centre, 2.0, (70.0, -30.0), ratio);
            for step in 0..200 {
                let turn = f64::from(step);
                let (sin, cos) = turn.sin_cos();
                let height = turn / 100.0 - 1.0;
                let wide = (1.0 - height * height).max(0.0).sqrt();
                let [x, y, z] = add(centre, scaled([wide * cos, height, wide * sin], 2.0));
                let [x, y, z, w] = eye.clip_of_world.times([x, y, z, 1.0]);
                let inside = x.abs() <= w && y.abs() <= w && z >= 0.0 && z <= w;
                assert!(inside, "ratio {ratio}: {x} {y} {z} {w}");
            }
            let [x, y, z] = centre;
            let [x, y, _, w] = eye.clip_of_world.times([x, y, z, 1.0]);
            assert!((x / w).abs() < 1e-12 && (y / w).abs() < 1e-12);
        }
    }

    #[test]
    fn up_is_up_and_right_is_right() {
        let eye = fitted([0.0; 3], 1.0, (0.0, 0.0), 1.0);
        let clip = eye.clip_of_world.times([0.5, 0.25, 0.0, 1.0]);
        assert!(clip[0] > 0.0 && clip[1] < 0.0, "{clip:?}");
    }
}
