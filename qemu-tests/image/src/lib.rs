//! What images that drive a GPU share: the runtime's platform on bare metal, and the way of a result to the host.
#![no_std]
#![warn(missing_docs)]

mod platform;
mod result_file;

pub use platform::{MmioPlatform, PlatformError};
pub use result_file::ResultFile;
