//! Images: bare-metal images, the files that boot loaders take, the files that labs take, and what an image prints.

pub(crate) mod boot_file;
pub(crate) mod console;
pub(crate) mod error_code;
mod fresh;
pub(crate) mod image;
pub(crate) mod lab_files;
pub(crate) mod lab_log;
pub(crate) mod loadable;
pub(crate) mod monitor;
pub(crate) mod prebuilt;
pub(crate) mod revision;
