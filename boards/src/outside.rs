//! Outside: the board that a file outside of this repository describes, where this crate is built for one.
//!
//! `build.rs` brings its source here; the command made that of the file (`file`).

#[allow(
    unused_imports,
    clippy::wildcard_imports,
    reason = "what a board's source needs is not known here"
)]
use crate::{
    board::*, display::*, expected::*, host::*, lab::*, loader::*, outline::*, region::*,
    steps::bus::*, steps::*, target::*, uart::*, watchdog::*,
};
#[allow(
    unused_imports,
    clippy::wildcard_imports,
    reason = "what a board's source needs is not known here"
)]
use core::time::Duration;

include!(concat!(env!("OUT_DIR"), "/outside.rs"));
