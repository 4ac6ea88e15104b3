//! Embedding: a compiled program inside an image, where tools can find it.

/// Bytes at an address that is a multiple of [`crate::ALIGNMENT`], so that code inside can be read as words.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Aligned<T: ?Sized>(pub T);

/// Embeds a program file in the image, in the link section `.eitri.program`, and gives its bytes.
///
/// The path is as for [`include_bytes!`]. The image's linker script keeps the section, so that a tool can find and
/// replace programs in a finished ELF file.
///
/// ```text
/// let bytes: &'static [u8] = eitri_program::include_program!(concat!(env!("OUT_DIR"), "/saxpy.eprg"));
/// let program = eitri_program::Program::parse(bytes)?;
/// ```
#[macro_export]
macro_rules! include_program {
    ($path:expr) => {{
        const LENGTH: usize = include_bytes!($path).len();
        #[unsafe(link_section = ".eitri.program")]
        #[used]
        static PROGRAM: $crate::Aligned<[u8; LENGTH]> = $crate::Aligned(*include_bytes!($path));
        &PROGRAM.0 as &'static [u8]
    }};
}
