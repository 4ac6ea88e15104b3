//! The debugger on shaders that are compiled here: going back, stops, expressions, the protocol.

mod back;
mod device;
mod expressions;
mod protocol;
mod shader;
mod stops;
