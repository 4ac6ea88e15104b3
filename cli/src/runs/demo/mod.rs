//! The demo shaders: what each is given, and what a CPU says must come of it.
//!
//! Guarantees: every word that a shader writes is compared with the same computation on the CPU.

pub(crate) mod drawn;
mod mandelbrot;
mod reduce;
mod saxpy;

use crate::input::buffer_source::BindingName;

pub(crate) use mandelbrot::Picture;

/// The shaders, by the names of their files in `cli/demo`.
const SOURCES: [(&str, &str); 7] = [
    ("cube.frag", include_str!("../../../demo/cube.frag")),
    ("cube.vert", include_str!("../../../demo/cube.vert")),
    (
        "mandelbrot.wgsl",
        include_str!("../../../demo/mandelbrot.wgsl"),
    ),
    ("reduce.wgsl", include_str!("../../../demo/reduce.wgsl")),
    ("saxpy.comp", include_str!("../../../demo/saxpy.comp")),
    ("triangle.frag", include_str!("../../../demo/triangle.frag")),
    ("triangle.vert", include_str!("../../../demo/triangle.vert")),
];

/// The text of a shader; empty where no file has this name.
pub(crate) fn source(file: &str) -> &'static str {
    let found = SOURCES.iter().find(|(name, _)| *name == file);
    found.map_or("", |(_, text)| text)
}

/// One demo: a shader of `cli/demo`, its inputs, and the check of its output.
pub(crate) struct Demo {
    /// Name of the shader's file.
    pub(crate) file: &'static str,
    /// What it shows.
    pub(crate) what: &'static str,
    /// Contents of its buffers, all of set 0.
    pub(crate) buffers: Vec<(BindingName, Vec<u8>)>,
    pub(crate) push_constants: Vec<u8>,
    pub(crate) groups: [u32; 3],
    /// The buffer that it writes, and what a CPU says will be in it.
    pub(crate) output: BindingName,
    pub(crate) expected: Vec<u8>,
}

/// Every demo, in the order in which they run; the last one paints `picture`.
pub(crate) fn all(picture: &Picture) -> [Demo; 3] {
    [saxpy::demo(), reduce::demo(), mandelbrot::demo(picture)]
}

impl Demo {
    /// Compares what the shader wrote with what a CPU computes.
    pub(crate) fn check(&self, written: &[u8]) -> Result<Checked, Difference> {
        let (expected, _) = self.expected.as_chunks::<4>();
        let (written, _) = written.as_chunks::<4>();
        if expected.len() != written.len() {
            return Err(Difference::Length {
                words: written.len(),
                expected: expected.len(),
            });
        }
        let mut differing = expected
            .iter()
            .zip(written)
            .enumerate()
            .filter(|(_, (a, b))| a != b);
        match differing.next() {
            None => Ok(Checked {
                words: expected.len(),
            }),
            Some((index, (expected, found))) => Err(Difference::Word {
                index,
                expected: u32::from_le_bytes(*expected),
                found: u32::from_le_bytes(*found),
                further: differing.count(),
            }),
        }
    }
}

/// A comparison that found no difference.
pub(crate) struct Checked {
    pub(crate) words: usize,
}

/// The first difference, and how many more there are.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Difference {
    #[error("{words} words came back, not {expected}")]
    Length { words: usize, expected: usize },
    #[error("word {index} is {found:#010x}, a CPU says {expected:#010x}; {further} more differ")]
    Word {
        index: usize,
        expected: u32,
        found: u32,
        further: usize,
    },
}

/// Binding `binding` of set 0.
fn binding(binding: u32) -> BindingName {
    BindingName::new(0, binding)
}

fn bytes_of(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
