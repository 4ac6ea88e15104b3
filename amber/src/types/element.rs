//! One element of a buffer: its components and its stride.

use super::Scalar;
use crate::words::words;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// How a buffer lays its elements out.
    Layout, "a layout":
    Std140 = "STD140",
    Std430 = "STD430",
}

/// One number of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Bytes from the start of the element.
    pub offset: usize,
    /// Its type.
    pub scalar: Scalar,
}

/// Where the components of an element lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// In the order in which a script gives values: at least one.
    pub components: Vec<Component>,
    /// Bytes from one element to the next: at least one.
    pub stride: usize,
}

impl Element {
    /// The component that number `index` of a flat list of values is for, and its byte offset in the buffer.
    pub fn place(&self, index: usize) -> Option<(Scalar, usize)> {
        let count = self.components.len();
        let component = self.components.get(index % count.max(1))?;
        let start = (index / count).checked_mul(self.stride)?;
        Some((component.scalar, start.checked_add(component.offset)?))
    }
}
