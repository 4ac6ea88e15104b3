//! Structures as people read them: a line a field, nested ones indented.
//!
//! Guarantees: of alternatives that are structures, only those that the bits may mean are taken apart.

use crate::arch::Arch;
use crate::descriptor::{check_reserved, size};
use crate::error::DescriptorError;
use crate::member::{load_lod, sign_extend};
use crate::row::{Kind, Layout, Row};
use crate::table::formats::VkFormat;
use crate::table::framebuffer::BlockFormat;
use crate::words::bits;
use core::fmt;

/// A structure as people read it: a line a field, nested ones indented; `Display` prints it.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'w> {
    layout: &'static Layout,
    arch: Arch,
    words: &'w [u32],
}

impl<'w> Printed<'w> {
    /// The structure in the first words of `words`.
    ///
    /// # Errors
    /// [`DescriptorError::NotInArch`], [`DescriptorError::Length`], or reserved bits that are set.
    pub fn new(
        layout: &'static Layout,
        arch: Arch,
        words: &'w [u32],
    ) -> Result<Printed<'w>, DescriptorError> {
        check_reserved(layout, arch, words, size(layout, arch)?)?;
        Ok(Printed {
            layout,
            arch,
            words,
        })
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.layout.name)?;
        print(f, self.layout, self.arch, self.words, 0, 1)
    }
}

fn print(
    f: &mut fmt::Formatter<'_>,
    layout: &Layout,
    arch: Arch,
    words: &[u32],
    base: u32,
    depth: usize,
) -> fmt::Result {
    for row in layout.fields(arch) {
        write!(f, "{:indent$}{}: ", "", row.name, indent = depth * 2)?;
        if let Kind::Struct(inner) = row.kind {
            let start = base + row.start;
            let fits =
                fits(inner, arch, words, start) && is_as_compressed(inner, arch, words, start);
            if row.alternative && !fits {
                writeln!(f, "(not this)")?;
                continue;
            }
            writeln!(f)?;
            print(f, inner, arch, words, base + row.start, depth + 1)?;
            continue;
        }
        let stored = bits(words, base + row.start, row.width);
        print_value(f, &row, arch, stored)?;
        writeln!(f)?;
    }
    Ok(())
}

/// Whether the bits mean something as this structure: discriminators and codes are legal.
fn fits(layout: &Layout, arch: Arch, words: &[u32], base: u32) -> bool {
    layout.fields(arch).all(|row| {
        let stored = bits(words, base + row.start, row.width.min(64));
        match row.kind {
            _ if row.alternative => true,
            Kind::Struct(inner) => fits(inner, arch, words, base + row.start),
            Kind::Enum(table) if !row.fixed => {
                stored == 0 || table.of_value(arch, stored).is_some()
            }
            Kind::Enum(_) | Kind::Bool if row.fixed => stored == row.default,
            _ => row.load(stored).is_ok(),
        }
    })
}

/// Whether a target's block format is compressed where the structure is that of compressed targets, and plain where it is not:
/// the block format tells them apart (section 15).
fn is_as_compressed(layout: &Layout, arch: Arch, words: &[u32], base: u32) -> bool {
    let formats = layout.fields(arch).filter_map(|row| match row.kind {
        Kind::Enum(table) if table.name == BlockFormat::TABLE.name => Some((row, table)),
        _ => None,
    });
    let mut known = formats
        .filter_map(|(row, table)| table.of_value(arch, bits(words, base + row.start, row.width)));
    known.all(|format| format.name.starts_with(AFBC) == layout.name.starts_with(AFBC))
}

/// How names begin of compressed targets and of their block formats.
const AFBC: &str = "AFBC";

fn print_value(f: &mut fmt::Formatter<'_>, row: &Row, arch: Arch, stored: u64) -> fmt::Result {
    match row.kind {
        Kind::Int => return write!(f, "{}", sign_extend(stored, row.width)),
        Kind::Float => return write!(f, "{:?}", f32::from_bits(stored as u32)),
        Kind::Ulod => return write!(f, "{}", load_lod(row, stored, false)),
        Kind::Slod => return write!(f, "{}", load_lod(row, stored, true)),
        _ => {}
    }
    let value = match row.load(stored) {
        Ok(value) => value,
        Err(error) => return write!(f, "{stored:#x} ({})", error.problem),
    };
    match row.kind {
        Kind::Bool => write!(f, "{}", value != 0),
        Kind::Address => write!(f, "{value:#x}"),
        Kind::Enum(table) => match table.of_value(arch, value) {
            Some(found) => write!(f, "{} ({value})", found.name),
            // Descriptors that nothing reads are left so.
            None if value == 0 => f.write_str("0 (not set)"),
            None => write!(f, "{value} (no value of {})", table.name),
        },
        Kind::UintOrFloat => write!(f, "{value:#x} ({:?})", f32::from_bits(value as u32)),
        Kind::PixelFormat => {
            write!(f, "{value:#x}")?;
            let pixel = crate::member::PixelFormat(value as u32);
            let mut names = VkFormat::of_pixel_format(arch, pixel).map(|format| format.name);
            let Some(first) = names.next() else {
                return Ok(());
            };
            write!(f, " ({first}")?;
            names.try_for_each(|name| write!(f, " or {name}"))?;
            f.write_str(")")
        }
        Kind::Swizzle => (0..4).try_for_each(|place| {
            let code = value >> (3 * place) & 7;
            let letter = b"RGBA01??".get(code as usize).copied().unwrap_or(b'?');
            write!(f, "{}", char::from(letter))
        }),
        _ if value < 10 => write!(f, "{value}"),
        _ => write!(f, "{value} ({value:#x})"),
    }
}
