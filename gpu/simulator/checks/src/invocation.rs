//! Invocations of draws: what they are called.
use std::fmt;

/// An invocation of a vertex or fragment shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Invocation {
    /// Of a vertex shader.
    Vertex {
        /// The number of the draw in its pass.
        draw: u32,
        /// The vertex, the base added.
        vertex: u32,
        /// The instance, from 0.
        instance: u32,
    },
    /// Of a fragment shader.
    Fragment {
        /// The number of the draw in its pass.
        draw: u32,
        /// Column and row.
        pixel: [u32; 2],
        /// The sample, if each has an invocation.
        sample: Option<u8>,
    },
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invocation::Vertex {
                draw,
                vertex,
                instance,
            } => write!(f, "vertex {vertex} of instance {instance} in draw {draw}"),
            Invocation::Fragment {
                draw,
                pixel: [x, y],
                sample,
            } => {
                if let Some(sample) = sample {
                    write!(f, "sample {sample} of ")?;
                }
                write!(f, "pixel ({x}, {y}) in draw {draw}")
            }
        }
    }
}
