//! Passes: how attachments begin and end, areas, indices.

use serde::{Deserialize, Serialize};

/// What an attachment holds when its pass begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum LoadOp {
    #[default]
    Load,
    Clear,
    DontCare,
}

/// What becomes of an attachment when its pass ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum StoreOp {
    #[default]
    Store,
    DontCare,
}

/// How samples become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum ResolveMode {
    SampleZero,
    #[default]
    Average,
    Min,
    Max,
}

/// A rectangle: x, y, width, height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i32, i32, u32, u32)", into = "(i32, i32, u32, u32)")]
pub struct Rect {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

impl From<(i32, i32, u32, u32)> for Rect {
    fn from((x, y, width, height): (i32, i32, u32, u32)) -> Rect {
        Rect {
            x,
            y,
            width,
            height,
        }
    }
}

impl From<Rect> for (i32, i32, u32, u32) {
    fn from(rect: Rect) -> (i32, i32, u32, u32) {
        (rect.x, rect.y, rect.width, rect.height)
    }
}

/// A viewport: x, y, width, height, least and greatest depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f32; 6]", into = "[f32; 6]")]
pub struct Viewport {
    /// Pixels from the left.
    pub x: f32,
    /// Pixels from the top.
    pub y: f32,
    /// Pixels; negative: mirrored.
    pub width: f32,
    /// Pixels; negative: mirrored.
    pub height: f32,
    /// The depth of z = 0.
    pub min_depth: f32,
    /// The depth of z = 1.
    pub max_depth: f32,
}

impl From<[f32; 6]> for Viewport {
    fn from([x, y, width, height, min_depth, max_depth]: [f32; 6]) -> Viewport {
        Viewport {
            x,
            y,
            width,
            height,
            min_depth,
            max_depth,
        }
    }
}

impl From<Viewport> for [f32; 6] {
    fn from(viewport: Viewport) -> [f32; 6] {
        [
            viewport.x,
            viewport.y,
            viewport.width,
            viewport.height,
            viewport.min_depth,
            viewport.max_depth,
        ]
    }
}

/// The type of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum IndexType {
    U8,
    U16,
    U32,
}
