//! Types of buffer elements, and where their components lie: language reference, section 6.

mod element;
mod format;
mod numeric;
mod scalar;
mod structure;

pub use element::{Component, Element, Layout};
pub use format::{Channel, ChannelName, Encoding, Format};
pub use numeric::Numeric;
pub use scalar::{Number, Scalar};
pub use structure::{Member, Struct};
#[cfg(feature = "host")]
pub(crate) use structure::{count, nesting};

use crate::error::Problem;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Most components that an element may have: a struct of structs grows fast.
pub const MAX_COMPONENTS: u64 = 1 << 16;
/// Most structs within each other.
pub const MAX_NESTING: u32 = 64;
/// Most bytes that a buffer may have.
pub const MAX_BYTES: u64 = 256 << 20;

/// The type of a buffer's elements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Type {
    /// A scalar, vector or matrix.
    Numeric(Numeric),
    /// An image format.
    Format(Arc<Format>),
    /// A struct of the script.
    Struct(Arc<Struct>),
}

impl Type {
    /// Where the components lie.
    ///
    /// # Errors
    /// A [`Problem`] for an element of more than [`MAX_BYTES`], or offsets that go backwards.
    pub fn element(&self, layout: Layout) -> Result<Element, Problem> {
        match self {
            Type::Numeric(numeric) => Ok(numeric.element(layout)),
            Type::Format(format) => Ok(format.element()),
            Type::Struct(structure) => structure.element(layout),
        }
    }

    /// Vulkan's name of the format that it is, without `VK_FORMAT_`; none for matrices and structs.
    pub fn format_name(&self) -> Option<String> {
        match self {
            Type::Numeric(numeric) => numeric.format_name(),
            Type::Format(format) => Some(format.name().to_owned()),
            Type::Struct(_) => None,
        }
    }

    /// Values that one element takes.
    pub fn components(&self) -> u64 {
        match self {
            Type::Numeric(numeric) => u64::from(numeric.columns) * u64::from(numeric.rows),
            Type::Format(format) => format.element().components.len() as u64,
            Type::Struct(structure) => structure.components,
        }
    }

    /// The same type in its plainest form: a format of unnormalised channels in the order R, G, B, A is a vector.
    fn plain(&self) -> Type {
        match self {
            Type::Format(format) => format
                .as_numeric()
                .map_or_else(|| self.clone(), Type::Numeric),
            other => other.clone(),
        }
    }

    /// Whether two types are the same; structs are compared member by member.
    pub fn same_as(&self, other: &Type) -> bool {
        match (self.plain(), other.plain()) {
            (Type::Numeric(a), Type::Numeric(b)) => a == b,
            (Type::Format(a), Type::Format(b)) => a == b,
            (Type::Struct(a), Type::Struct(b)) => a.same_as(&b),
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Numeric(numeric) => write!(f, "{numeric}"),
            Type::Format(format) => f.write_str(format.name()),
            Type::Struct(structure) => f.write_str(&structure.name),
        }
    }
}
