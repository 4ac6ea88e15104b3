//! Types of GLSL.
//!
//! Fractions keep to few bits, so that nothing rounds: 32-bit ones are multiples of 1/8 from -256 to 256, 16-bit ones of 1/4 from -8 to 8. A sum
//! or a product of two is exact, and `rounded` brings it back.

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Float,
    Half,
    Int,
    Uint,
    Int64,
    Uint64,
    Int16,
    Uint16,
    Int8,
    Uint8,
}

/// What GLSL calls a scalar and its vectors; the bits that it has in expressions; whether it has a sign.
struct Row(&'static str, &'static str, u32, bool);

impl Kind {
    #[rustfmt::skip]
    fn row(self) -> Row {
        match self {
            Kind::Bool   => Row("bool",      "bvec",    1, false),
            Kind::Float  => Row("float",     "vec",    32, true),
            Kind::Half   => Row("float16_t", "f16vec", 16, true),
            Kind::Int    => Row("int",       "ivec",   32, true),
            Kind::Uint   => Row("uint",      "uvec",   32, false),
            Kind::Int64  => Row("int64_t",   "i64vec", 64, true),
            Kind::Uint64 => Row("uint64_t",  "u64vec", 64, false),
            Kind::Int16  => Row("int16_t",   "i16vec", 16, true),
            Kind::Uint16 => Row("uint16_t",  "u16vec", 16, false),
            Kind::Int8   => Row("int8_t",    "i8vec",   8, true),
            Kind::Uint8  => Row("uint8_t",   "u8vec",   8, false),
        }
    }

    pub(crate) fn bits(self) -> u32 {
        self.row().2
    }

    pub(crate) fn is_signed(self) -> bool {
        self.row().3
    }

    pub(crate) fn is_fraction(self) -> bool {
        matches!(self, Kind::Float | Kind::Half)
    }

    /// Of 32 bits: what most functions of GLSL take.
    pub(crate) fn is_word(self) -> bool {
        matches!(self, Kind::Int | Kind::Uint)
    }

    pub(crate) fn one(self) -> Type {
        Type::Vector(self, 1)
    }
}

/// A type; a vector of one is a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Vector(Kind, u32),
    /// Of `float`: columns and rows.
    Matrix(u32, u32),
    Array(Box<Type>, u32),
    Struct(String, Vec<Member>),
}

/// A member of a structure or of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

impl Type {
    /// What GLSL calls it, which is how its values are constructed, too.
    pub(crate) fn name(&self) -> String {
        match self {
            Type::Vector(kind, 1) => kind.row().0.to_owned(),
            Type::Vector(kind, count) => format!("{}{count}", kind.row().1),
            Type::Matrix(columns, rows) => format!("mat{columns}x{rows}"),
            Type::Array(..) => {
                let (mut dimensions, mut inner) = (String::new(), self);
                while let Type::Array(element, length) = inner {
                    dimensions += &format!("[{length}]");
                    inner = element;
                }
                inner.name() + &dimensions
            }
            Type::Struct(name, _) => name.clone(),
        }
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        !matches!(self, Type::Vector(..))
    }

    pub(crate) fn has_matrix(&self) -> bool {
        self.has(&|ty| matches!(ty, Type::Matrix(..)))
    }

    pub(crate) fn has_bool(&self) -> bool {
        self.has(&|ty| matches!(ty, Type::Vector(Kind::Bool, _)))
    }

    /// Whether it or a part of it is something.
    fn has(&self, is: &dyn Fn(&Type) -> bool) -> bool {
        match self {
            Type::Vector(..) | Type::Matrix(..) => is(self),
            Type::Array(element, _) => element.has(is),
            Type::Struct(_, members) => members.iter().any(|member| member.ty.has(is)),
        }
    }
}

/// The function that brings a type's fractions back to few bits.
pub(crate) fn rounding(ty: &Type) -> String {
    let name = ty.name();
    let body = match ty {
        Type::Vector(Kind::Half, _) => {
            let [four, quarter, low, high] =
                ["4.0", "0.25", "-8.0", "8.0"].map(|value| format!("float16_t({value})"));
            format!("return clamp(floor(x * {four}) * {quarter}, {low}, {high});")
        }
        Type::Matrix(columns, _) => {
            format!("for (int i = 0; i < {columns}; i++) x[i] = rounded(x[i]); return x;")
        }
        _ => "return clamp(floor(x * 8.0) * 0.125, -256.0, 256.0);".to_owned(),
    };
    format!("{name} rounded({name} x) {{ {body} }}")
}
