//! Rasteriser: primitives to covered samples of 2x2 quads, and values interpolated at a point of a pixel.
//!
//! Needs: vertex positions in screen space, clipped (`tiler::clip`).  Guarantees: coverage is decided in integers, so that
//! every host gives the same picture; values are computed in f64 from exact weights, and the caller rounds them once.
//! Never: touches memory, registers or tile buffers.  Facts: hardware/graphics-model.md 1.4, 2, 3; graphics-raster.md 4.
//!
//! Call order: [`Primitive::triangle`] (or `point`, `line`), [`cover`] for each tile, [`Primitive::weights`] at each
//! [`Evaluation`] point, then [`Weights::depth`], [`Weights::perspective`] and the rest.

mod bresenham;
mod conservative;
mod coverage;
mod depth;
mod edge;
mod fixed;
mod inexact;
mod interpolate;
mod line;
#[cfg(test)]
mod plain;
mod point;
mod primitive;
#[cfg(test)]
mod properties;
mod samples;
mod shape;
mod tie;
#[cfg(test)]
mod values;
#[cfg(test)]
mod vectors;

pub(crate) use coverage::{PixelBox, Quad, cover};
pub(crate) use depth::{DepthBias, DepthBounds, Depths, depths_after_culling};
pub(crate) use fixed::{Point, SNAP_LIMIT, SUBPIXELS};
pub(crate) use inexact::{edges_may_hold_samples, is_wide};
pub(crate) use interpolate::{Corner, Evaluation};
pub(crate) use line::LineWidth;
pub(crate) use point::PointSize;
pub(crate) use primitive::{Facing, LineRules, Primitive, TriangleRules};
pub(crate) use samples::Sampling;
