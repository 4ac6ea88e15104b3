//! Source: a board as the Rust expression that an image is compiled with.
//!
//! A serialiser: names of types, variants and fields come from the types themselves, so that a field more is no line more here.

use crate::target::Target;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Display, Write};
use serde::{Serialize, ser};

/// The name of a "new type" that stands for a reference.
pub(crate) const REFERENCE: &str = "&";

/// What an image is compiled with for a board that a file describes: the contents of the file that `EITRI_BOARD_SOURCE` names.
///
/// # Errors
/// Where the board is one that no file can describe: QEMU's, whose host is code.
pub fn rust_source(target: Target) -> Result<String, fmt::Error> {
    let expression = |value: &dyn Fn(&mut Source) -> fmt::Result| {
        let mut source = Source(String::new());
        value(&mut source).map(|()| source.0)
    };
    let (what, is) = match target {
        Target::Board(board) => {
            let description = board.description();
            let value = expression(&|to| Ok(description.serialize(to)?))?;
            let made = format!(
                "// SAFETY: whoever wrote the file says that there are such registers and such memory where this image runs.\n\
                 const BOARD: Board = unsafe {{ Board::new({value}) }};\n"
            );
            (made, "Target::Board(&BOARD)")
        }
        Target::Outline(outline) => {
            let value = expression(&|to| Ok(outline.serialize(to)?))?;
            let made = format!("const OUTLINE: Outline = {value}.checked();\n");
            (made, "Target::Outline(&OUTLINE)")
        }
    };
    Ok(format!(
        "{what}pub(crate) const OUTSIDE: &[Target] = &[{is}];\n"
    ))
}

/// What has been written.
struct Source(String);

/// There is no such expression.
#[derive(Debug)]
struct NoExpression;

impl Display for NoExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no file can describe it")
    }
}

impl core::error::Error for NoExpression {}

impl ser::Error for NoExpression {
    fn custom<T: Display>(_: T) -> NoExpression {
        NoExpression
    }
}

impl From<fmt::Error> for NoExpression {
    fn from(_: fmt::Error) -> NoExpression {
        NoExpression
    }
}

impl From<NoExpression> for fmt::Error {
    fn from(_: NoExpression) -> fmt::Error {
        fmt::Error
    }
}

type Written = Result<(), NoExpression>;

/// What is between brackets, and the bracket that ends it.
struct Inside<'a> {
    source: &'a mut Source,
    end: &'static str,
}

impl Inside<'_> {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Written {
        value.serialize(&mut *self.source)?;
        Ok(self.source.0.write_str(", ")?)
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Written {
        write!(self.source.0, "{name}: ")?;
        self.item(value)
    }

    fn done(self) -> Written {
        Ok(self.source.0.write_str(self.end)?)
    }
}

impl Source {
    fn put(&mut self, text: impl Display) -> Written {
        Ok(write!(self.0, "{text}")?)
    }

    fn inside(
        &mut self,
        begin: impl Display,
        end: &'static str,
    ) -> Result<Inside<'_>, NoExpression> {
        self.put(begin)?;
        Ok(Inside { source: self, end })
    }
}

macro_rules! plain {
    ($($name:ident $type:ty, $format:literal;)*) => {
        $(fn $name(self, value: $type) -> Written {
            self.put(format_args!($format, value))
        })*
    };
}

impl<'a> ser::Serializer for &'a mut Source {
    type Ok = ();
    type Error = NoExpression;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = ser::Impossible<(), NoExpression>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    plain! {
        serialize_bool bool, "{}";
        serialize_i8 i8, "{}";
        serialize_i16 i16, "{}";
        serialize_i32 i32, "{}";
        serialize_i64 i64, "{}";
        serialize_u8 u8, "{:#x}";
        serialize_u16 u16, "{:#x}";
        serialize_u32 u32, "{:#x}";
        serialize_u64 u64, "{:#x}";
        serialize_char char, "{:?}";
        serialize_str &str, "{:?}";
    }

    fn serialize_f32(self, _: f32) -> Written {
        Err(NoExpression)
    }

    fn serialize_f64(self, _: f64) -> Written {
        Err(NoExpression)
    }

    fn serialize_bytes(self, _: &[u8]) -> Written {
        Err(NoExpression)
    }

    fn serialize_none(self) -> Written {
        self.put("None")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        self.serialize_newtype_struct("Some", value)
    }

    fn serialize_unit(self) -> Written {
        self.put("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Written {
        self.put(name)
    }

    fn serialize_unit_variant(self, name: &'static str, _: u32, variant: &'static str) -> Written {
        self.put(format_args!("{name}::{variant}"))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Written {
        self.put(format_args!("{name}("))?;
        value.serialize(&mut *self)?;
        self.put(")")
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        self.put(format_args!("{name}::{variant}("))?;
        value.serialize(&mut *self)?;
        self.put(")")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>, NoExpression> {
        self.inside("&[", "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'a>, NoExpression> {
        self.inside("[", "]")
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, NoExpression> {
        self.inside(format_args!("{name}("), ")")
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, NoExpression> {
        self.inside(format_args!("{name}::{variant}("), ")")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NoExpression> {
        Err(NoExpression)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Inside<'a>, NoExpression> {
        self.inside(format_args!("{name} {{ "), "}")
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, NoExpression> {
        self.inside(format_args!("{name}::{variant} {{ "), "}")
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Written {
        self.serialize_str(&value.to_string())
    }
}

macro_rules! items {
    ($($trait:ident $item:ident;)*) => {
        $(impl ser::$trait for Inside<'_> {
            type Ok = ();
            type Error = NoExpression;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                self.item(value)
            }

            fn end(self) -> Written {
                self.done()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! fields {
    ($($trait:ident;)*) => {
        $(impl ser::$trait for Inside<'_> {
            type Ok = ();
            type Error = NoExpression;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Written {
                self.field(name, value)
            }

            fn end(self) -> Written {
                self.done()
            }
        })*
    };
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}
