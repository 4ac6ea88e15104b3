//! Fragments of a pixel: the order of their tests, their coverage.
//!
//! Never: runs programs; who does calls this at the start of a program and at its ATEST, ZS_EMIT and BLEND.
//! Facts: hardware/graphics-model.md 4.2, 4.3.

pub(crate) mod alpha_to_coverage;
pub(crate) mod order;
pub(crate) mod pixel_tests;

pub(crate) use order::{Emitted, Fragment, Order, OrderMisuse};
pub(crate) use pixel_tests::PixelTests;
