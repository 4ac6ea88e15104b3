//! What images that drive a GPU share: the runtime's platform on bare metal.
#![no_std]
#![warn(missing_docs)]

mod platform;

pub use platform::{MmioPlatform, PlatformError};
