//! Shader cores: what instructions compute, warps, messages.
//!
//! Facts: hardware/valhall-isa.md.

// What a value is and what operations compute.
mod alu;
mod extreme;
mod float;
mod lanes;
mod select;

// From words to instructions that are ready to run.
mod decode;
mod decoded_words;
mod instruction;
mod meaning;
mod message;
mod program;

// Threads and what they execute.
mod cube;
mod detail;
pub(crate) mod engine;
mod environment;
mod execute;
mod flow;
mod following;
mod footprint;
mod format;
mod history;
pub mod host_code;
mod late;
mod messages;
mod others;
mod plane;
mod registers;
mod sampling;
pub(crate) mod stage;
mod stopped;
mod straight;
mod texture;
mod texture_request;
mod trial;
mod trial_textures;
mod typed;
mod warp;
mod warp_times;
mod yuv;

pub(crate) use alu::{Alu, Arithmetic};
pub(crate) use decoded_words::DecodedWords;
pub(crate) use environment::{Environment, Place};
pub(crate) use execute::{Executor, WarpTurn};
pub(crate) use float::{FloatPolicy, Round, wide16 as half};
pub(crate) use format::{Colour, PixelFormat};
pub(crate) use lanes::{Lanes, WARP};
pub(crate) use messages::Memory;
pub(crate) use program::Program;
pub(crate) use stopped::{JobFault, Stopped, exception};
pub(crate) use warp::{REGISTERS, Registers, Warp, cleared_registers};

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod straight_tests;
#[cfg(test)]
mod vectors;
