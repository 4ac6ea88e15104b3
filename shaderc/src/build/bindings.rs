//! Bindings: in Rust, what a shader wants from outside.
//!
//! Guarantees: each struct of push constants or buffers has the shader's offsets, padding as members of its own, and the
//! compiler of Rust is asked to prove it. Rows and columns of matrices, and elements of arrays, whose stride is larger
//! than they are, stand in a `Strided`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::reflect::{Member, Reflection, ResourceKind, Type};

/// What is written so far.
#[derive(Default)]
struct Writer {
    text: String,
    /// Structs that are there, by name.
    structs: BTreeMap<String, Type>,
    strided: bool,
}

/// Where a value stands: how it is named, its byte offset as an expression, and how many loops are around it.
struct Spot {
    value: String,
    at: String,
    depth: usize,
}

/// The module of a shader.
///
/// # Errors
/// The name of what has no form in Rust.
pub(super) fn write(reflection: &Reflection) -> Result<String, String> {
    let mut writer = Writer::default();
    let [x, y, z] = reflection.workgroup_size;
    let _ = writeln!(
        writer.text,
        "/// Name of the entry point.\npub const ENTRY: &str = {:?};\n\
         /// Invocations of a workgroup.\npub const WORKGROUP_SIZE: [u32; 3] = [{x}, {y}, {z}];",
        reflection.entry
    );
    for resource in &reflection.resources {
        let name = match resource.name.as_str() {
            "" => format!("SET_{}_BINDING_{}", resource.set, resource.binding),
            name => snake(name).to_uppercase(),
        };
        let _ = writeln!(
            writer.text,
            "/// Set and binding of `{}`: {}.\npub const {name}: (u32, u32) = ({}, {});",
            resource.name, resource.ty, resource.set, resource.binding
        );
        let buffer = matches!(
            resource.kind,
            ResourceKind::StorageBuffer | ResourceKind::UniformBuffer
        );
        if buffer {
            writer.block(&resource.ty)?;
        }
    }
    if let Some(push) = &reflection.push_constants {
        writer.block(push)?;
    }
    if writer.strided {
        writer.text += STRIDED;
    }
    Ok(writer.text)
}

const STRIDED: &str = "\
/// A value, and what lies between it and the next.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strided<T, const PADDING: usize> {
    /// The value.
    pub value: T,
    /// Bytes that the shader never looks at.
    pub padding: [u8; PADDING],
}
impl<T, const PADDING: usize> Strided<T, PADDING> {
    /// The value, and zeros.
    pub const fn new(value: T) -> Self {
        Strided { value, padding: [0; PADDING] }
    }
}
";

impl Writer {
    /// A struct that a shader reads from a buffer or push constants; for others there is nothing to write. What ends in an
    /// array of any length becomes the struct before it, and the element.
    fn block(&mut self, ty: &Type) -> Result<(), String> {
        match ty {
            Type::Struct { .. } => self.ty(ty).map(|_| ()),
            Type::Array { element, .. } => self.block(element),
            _ => Ok(()),
        }
    }

    /// The type in Rust.
    fn ty(&mut self, ty: &Type) -> Result<String, String> {
        Ok(match ty {
            Type::Scalar { name, .. } => scalar(name)?.to_owned(),
            Type::Struct { name, members } => {
                let name = match name.as_str() {
                    "" => format!("Struct{}", self.structs.len()),
                    name => camel(name),
                };
                match self.structs.get(&name) {
                    Some(known) if known == ty => {}
                    Some(_) => return Err(format!("two structs are called `{name}`")),
                    None => {
                        self.structs.insert(name.clone(), ty.clone());
                        self.declare(&name, members)?;
                    }
                }
                name
            }
            Type::Vector { .. }
            | Type::Matrix { .. }
            | Type::Array { .. }
            | Type::Opaque { .. } => {
                let made_of = elements(ty);
                let (element, count, step) =
                    made_of.ok_or_else(|| format!("{ty} has no form in Rust"))?;
                let inner = self.ty(&element)?;
                match step.saturating_sub(size(&element)) {
                    0 => format!("[{inner}; {count}]"),
                    padding => {
                        self.strided = true;
                        format!("[Strided<{inner}, {padding}>; {count}]")
                    }
                }
            }
        })
    }

    fn declare(&mut self, name: &str, members: &[Member]) -> Result<(), String> {
        let (mut fields, mut proofs, mut values) = (String::new(), String::new(), String::new());
        let (mut at, mut paddings) = (0, 0);
        for (number, member) in members.iter().enumerate() {
            let field = field(number, member);
            let offset = u64::from(member.offset.unwrap_or(0));
            if let Type::Array {
                element,
                count: None,
                ..
            } = &member.ty
            {
                // It begins where the struct ends.
                self.block(element)?;
                let _ = writeln!(
                    proofs,
                    "    /// Byte offset of `{field}`: {}, as many as there are.\n    pub const {}_OFFSET: usize = {offset};",
                    member.ty,
                    field.trim_start_matches("r#").to_uppercase()
                );
                continue;
            }
            let Some(padding) = offset.checked_sub(at) else {
                return Err(format!("the members of `{name}` lie on one another"));
            };
            if padding > 0 {
                let _ = writeln!(
                    fields,
                    "    /// Bytes that the shader never looks at.\n    pub padding_{paddings}: [u8; {padding}],"
                );
                paddings += 1;
            }
            let ty = self.ty(&member.ty)?;
            let _ = writeln!(
                fields,
                "    /// {}, at byte {offset}.\n    pub {field}: {ty},",
                member.ty
            );
            let _ = writeln!(
                proofs,
                "    const _{number}: () = assert!(core::mem::offset_of!({name}, {field}) == {offset});"
            );
            let spot = Spot {
                value: format!("self.{field}"),
                at: offset.to_string(),
                depth: 0,
            };
            put(&spot, &member.ty, &mut values);
            at = offset + size(&member.ty);
        }
        // Rust rounds up to the alignment of the largest scalar; the shader's next element stands where its stride says.
        let whole = at.next_multiple_of(
            members
                .iter()
                .map(|member| align(&member.ty))
                .max()
                .unwrap_or(1),
        );
        if whole > at {
            let _ = writeln!(
                fields,
                "    /// Bytes that the shader never looks at.\n    pub padding_{paddings}: [u8; {}],",
                whole - at
            );
        }
        let _ = write!(
            self.text,
            "/// The shader's struct `{name}`.\n#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name} {{\n{fields}}}\n\
             impl {name} {{\n    /// Bytes of it.\n    pub const BYTES: usize = {whole};\n\
             {proofs}    const _SIZE: () = assert!(core::mem::size_of::<{name}>() == {whole});\n    \
             /// As the shader reads it.\n    pub fn to_bytes(&self) -> [u8; {whole}] {{\n        \
             let mut bytes = [0; {whole}];\n{values}        bytes\n    }}\n}}\n"
        );
        Ok(())
    }
}

/// Of a vector, matrix or array: what it is made of, how many, and bytes from one to the next. A matrix is made of what
/// lies together, its columns or its rows.
fn elements(ty: &Type) -> Option<(Type, u32, u64)> {
    let (element, count, stride) = match ty {
        Type::Vector { component, count } => ((**component).clone(), *count, None),
        Type::Matrix {
            column,
            count,
            stride,
            row_major,
        } => {
            let Type::Vector {
                component,
                count: rows,
            } = &**column
            else {
                return None;
            };
            let (lines, length) = match row_major {
                true => (*rows, *count),
                false => (*count, *rows),
            };
            let line = Type::Vector {
                component: component.clone(),
                count: length,
            };
            (line, lines, *stride)
        }
        Type::Array {
            element,
            count: Some(count),
            stride,
        } => ((**element).clone(), *count, *stride),
        _ => return None,
    };
    let step = stride.map_or(size(&element), u64::from);
    Some((element, count, step))
}

/// Statements that put a value's bytes to their places.
fn put(spot: &Spot, ty: &Type, out: &mut String) {
    let Spot { value, at, depth } = spot;
    let margin = " ".repeat(8 + 4 * depth);
    if let Some((element, count, step)) = elements(ty) {
        let part = match step > size(&element) {
            true => ".value",
            false => "",
        };
        let inner = Spot {
            value: format!("{value}[i{depth}]{part}"),
            at: format!("{at} + {step} * i{depth}"),
            depth: depth + 1,
        };
        let _ = writeln!(out, "{margin}for i{depth} in 0..{count} {{");
        put(&inner, &element, out);
        let _ = writeln!(out, "{margin}}}");
        return;
    }
    match ty {
        Type::Scalar { bytes, .. } => {
            let _ = writeln!(
                out,
                "{margin}bytes[{at}..][..{bytes}].copy_from_slice(&{value}.to_le_bytes());"
            );
        }
        Type::Struct { members, .. } => {
            for (number, member) in members.iter().enumerate() {
                let inner = Spot {
                    value: format!("{value}.{}", field(number, member)),
                    at: format!("{at} + {}", member.offset.unwrap_or(0)),
                    depth: *depth,
                };
                put(&inner, &member.ty, out);
            }
        }
        _ => {}
    }
}

/// The name of a member in Rust.
fn field(number: usize, member: &Member) -> String {
    match member.name.as_str() {
        "" => format!("member_{number}"),
        name => field_name(name),
    }
}

/// Bytes of a value in Rust.
fn size(ty: &Type) -> u64 {
    if let Some((_, count, step)) = elements(ty) {
        return step * u64::from(count);
    }
    match ty {
        Type::Struct { members, .. } => {
            let open = |member: &&Member| matches!(member.ty, Type::Array { count: None, .. });
            let closed = members.iter().filter(|member| !open(member));
            let end = closed
                .map(|member| u64::from(member.offset.unwrap_or(0)) + size(&member.ty))
                .max();
            end.unwrap_or(0).next_multiple_of(align(ty))
        }
        _ => ty.bytes(),
    }
}

/// What Rust aligns it to: its largest scalar.
fn align(ty: &Type) -> u64 {
    match ty {
        Type::Scalar { bytes, .. } => (*bytes).max(1),
        Type::Vector {
            component: part, ..
        }
        | Type::Matrix { column: part, .. }
        | Type::Array { element: part, .. } => align(part),
        Type::Struct { members, .. } => {
            let members = members.iter().map(|member| align(&member.ty));
            members.max().unwrap_or(1)
        }
        Type::Opaque { .. } => 1,
    }
}

fn scalar(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "u8" => "u8",
        "i8" => "i8",
        // Half a float: its bits.
        "u16" | "f16" => "u16",
        "i16" => "i16",
        "u32" => "u32",
        "i32" => "i32",
        "f32" => "f32",
        "u64" | "ptr" => "u64",
        "i64" => "i64",
        "f64" => "f64",
        _ => return Err(format!("{name} has no form in Rust")),
    })
}

/// A name as Rust has those of modules and fields.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before_is_small = false;
    for letter in name.chars() {
        match letter.is_ascii_alphanumeric() {
            true => {
                if letter.is_ascii_uppercase() && before_is_small {
                    out.push('_');
                }
                before_is_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
                out.push(letter.to_ascii_lowercase());
            }
            false => {
                if !out.ends_with('_') && !out.is_empty() {
                    out.push('_');
                }
                before_is_small = false;
            }
        }
    }
    if out.is_empty() || out.starts_with(|first: char| first.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

/// Words that a field can't be called as they are.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where",
    "while", "yield",
];

fn field_name(name: &str) -> String {
    let name = snake(name);
    match name.as_str() {
        // These can't be raw either.
        "self" | "super" | "crate" | "_" => format!("{name}_"),
        keyword if KEYWORDS.contains(&keyword) => format!("r#{name}"),
        _ => name,
    }
}

/// A name as Rust has those of types.
fn camel(name: &str) -> String {
    let words = snake(name);
    let words = words.split('_').filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    match name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        true => format!("Struct{name}"),
        false => name,
    }
}
