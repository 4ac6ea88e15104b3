//! Types: a tree with sizes and the layout that decorations give.
//!
//! Needs: types declared before their use.  Guarantees: depth and size are bounded, so recursion over a type ends soon.
use std::rc::Rc;

use rspirv::spirv::{self, Decoration, ImageFormat, Op, StorageClass};
use smallvec::SmallVec;

use super::error::{Feature, Invalid};
use super::locations::Interface;
use super::module::Module;
use super::reader::{Instr, Result};
use crate::ir::{self, Dim, ImageShape, TexelKind};

/// Deepest nesting of arrays and structs.
const MAX_DEPTH: u32 = 32;
/// Most scalars in a value: larger arrays may exist in memory but not be loaded whole.
pub(crate) const MAX_SCALARS: u64 = 1 << 14;

/// The types in the IR of a value's scalars. Most values have one, or are small vectors.
pub(crate) type ScalarTypes = SmallVec<[ir::Type; 16]>;

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Type {
    Void,
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    Float {
        bits: u32,
    },
    Vector {
        component: Rc<Type>,
        count: u32,
    },
    Matrix {
        column: Rc<Type>,
        count: u32,
    },
    Array {
        element: Rc<Type>,
        len: u32,
        stride: Option<u32>,
    },
    RuntimeArray {
        element: Rc<Type>,
        stride: Option<u32>,
    },
    Struct {
        members: Rc<[Member]>,
        /// Decorated BufferBlock: a storage buffer in class Uniform.
        buffer_block: bool,
        /// Decorated Block: in shared memory it says itself where its members lie.
        block: bool,
    },
    Pointer {
        class: StorageClass,
        pointee: Rc<Type>,
    },
    /// A pointer by physical address: a number. To what it points the module knows by the id of its type, since that may
    /// hold such pointers in turn.
    Address {
        id: u32,
    },
    Function {
        result: Rc<Type>,
        parameters: Rc<[Rc<Type>]>,
    },
    Image(ImageType),
    Sampler,
    SampledImage(ImageType),
}

/// An image, or texels of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ImageType {
    /// A scalar.
    pub texel: Rc<Type>,
    pub shape: ImageShape,
    /// Read and written by texel, not sampled.
    pub storage: bool,
    /// An input attachment: read at the fragment's own place.
    pub subpass: bool,
    /// Components of its format; all of them where that isn't said.
    pub components: u8,
    /// The name of its format, unless it has none.
    pub format: Option<ImageFormat>,
}

impl ImageType {
    /// What a binding says of it.
    pub fn in_binding(&self) -> ir::ImageType {
        let texel = match &*self.texel {
            Type::Int { signed: true, .. } => TexelKind::Signed,
            Type::Int { signed: false, .. } => TexelKind::Unsigned,
            _ => TexelKind::Float,
        };
        ir::ImageType {
            shape: self.shape,
            texel,
        }
    }
}

/// A member of a struct, with the decorations that say where it lies.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Member {
    pub ty: Rc<Type>,
    pub offset: Option<u32>,
    pub matrix: MatrixLayout,
    /// Volatile or Coherent.
    pub volatile: bool,
    /// What it is to the stages before and behind.
    pub interface: Interface,
}

/// How matrices of a member lie in memory.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct MatrixLayout {
    pub stride: Option<u32>,
    pub row_major: bool,
}

impl Type {
    /// Number of scalars; a runtime array counts as none.
    pub fn scalars(&self) -> u64 {
        match self {
            Type::Void | Type::RuntimeArray { .. } | Type::Function { .. } => 0,
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) => 0,
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Address { .. } => 1,
            Type::Pointer { class, .. } => variable(*class).len() as u64,
            Type::Vector {
                component: part,
                count,
            }
            | Type::Matrix {
                column: part,
                count,
            } => part.scalars().saturating_mul((*count).into()),
            Type::Array { element, len, .. } => element.scalars().saturating_mul((*len).into()),
            Type::Struct { members, .. } => members.iter().fold(0, |sum: u64, member| {
                sum.saturating_add(member.ty.scalars())
            }),
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::Address { .. } => 0,
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) => 0,
            Type::Vector {
                component: part, ..
            }
            | Type::Matrix { column: part, .. }
            | Type::Array { element: part, .. }
            | Type::RuntimeArray { element: part, .. }
            | Type::Pointer { pointee: part, .. } => part.depth() + 1,
            Type::Struct { members, .. } => members
                .iter()
                .map(|member| member.ty.depth() + 1)
                .max()
                .unwrap_or(1),
            Type::Function { .. } => 1,
        }
    }

    /// The part that a constant index selects, and the number of scalars before it.
    pub fn part(&self, index: u32) -> Option<(Rc<Type>, u64)> {
        let (part, count) = match self {
            Type::Vector {
                component: part,
                count,
            }
            | Type::Matrix {
                column: part,
                count,
            }
            | Type::Array {
                element: part,
                len: count,
                ..
            } => (part, *count),
            Type::RuntimeArray { element, .. } => (element, u32::MAX),
            Type::Struct { members, .. } => {
                let member = members.get(index as usize)?;
                let before = members[..index as usize].iter();
                let before = before.map(|member| member.ty.scalars()).sum();
                return Some((member.ty.clone(), before));
            }
            Type::Void
            | Type::Bool
            | Type::Int { .. }
            | Type::Float { .. }
            | Type::Address { .. }
            | Type::Pointer { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_) => return None,
        };
        (index < count).then(|| (part.clone(), part.scalars() * u64::from(index)))
    }

    /// Whether a part of it is a variable pointer, which no memory holds.
    pub fn holds_pointer(&self) -> bool {
        match self {
            Type::Pointer { .. } => true,
            Type::Array { element: part, .. } => part.holds_pointer(),
            Type::Struct { members, .. } => members.iter().any(|member| member.ty.holds_pointer()),
            _ => false,
        }
    }

    /// The type in the IR, of a scalar.
    pub fn scalar(&self) -> Option<ir::Type> {
        match self {
            Type::Bool => Some(ir::Type::Bool),
            Type::Int { bits: 8, .. } => Some(ir::Type::W8),
            Type::Int { bits: 16, .. } | Type::Float { bits: 16 } => Some(ir::Type::W16),
            Type::Int { bits: 64, .. } | Type::Address { .. } => Some(ir::Type::W64),
            Type::Int { .. } | Type::Float { .. } => Some(ir::Type::W32),
            _ => None,
        }
    }

    /// The types in the IR of all scalars, in order. The caller has checked that there aren't too many.
    pub fn flatten(&self) -> ScalarTypes {
        let mut types = ScalarTypes::new();
        self.flatten_into(&mut types);
        types
    }

    /// The same of what is a value; none of what is none.
    pub fn value_types(&self) -> ScalarTypes {
        match self.is_value() {
            true => self.flatten(),
            false => ScalarTypes::new(),
        }
    }

    fn flatten_into(&self, out: &mut ScalarTypes) {
        match self {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Address { .. } => {
                out.extend(self.scalar());
            }
            Type::Pointer { class, .. } => out.extend_from_slice(variable(*class)),
            Type::Vector {
                component: part,
                count,
            }
            | Type::Matrix {
                column: part,
                count,
            }
            | Type::Array {
                element: part,
                len: count,
                ..
            } => (0..*count).for_each(|_| part.flatten_into(out)),
            Type::Struct { members, .. } => members
                .iter()
                .for_each(|member| member.ty.flatten_into(out)),
            Type::Void | Type::RuntimeArray { .. } | Type::Function { .. } => {}
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) => {}
        }
    }

    /// The component type of a scalar or vector.
    pub fn component(&self) -> &Type {
        match self {
            Type::Vector { component, .. } => component,
            other => other,
        }
    }

    /// Whether it is a float, or a vector or matrix of them.
    pub fn is_float(&self) -> bool {
        match self {
            Type::Matrix { column, .. } => column.is_float(),
            other => matches!(other.component(), Type::Float { .. }),
        }
    }

    /// Whether a value of it can be held: known size, not too large, no functions inside, of pointers those that may vary.
    pub fn is_value(&self) -> bool {
        match self {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Address { .. } => true,
            Type::Pointer { class, .. } => !variable(*class).is_empty(),
            Type::Vector { .. } | Type::Matrix { .. } => true,
            Type::Array { element, .. } => element.is_value() && self.scalars() <= MAX_SCALARS,
            Type::Struct { members, .. } => {
                members.iter().all(|member| member.ty.is_value()) && self.scalars() <= MAX_SCALARS
            }
            Type::Void | Type::RuntimeArray { .. } | Type::Function { .. } => false,
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) => false,
        }
    }
}

/// The scalars that make a variable pointer; none if pointers of that class can't vary.
fn variable(class: StorageClass) -> &'static [ir::Type] {
    match class {
        StorageClass::StorageBuffer => &[ir::Type::Resource, ir::Type::W32],
        StorageClass::Workgroup => &[ir::Type::W32],
        _ => &[],
    }
}

/// Builds the type of an OpType instruction.
pub(crate) fn declare(module: &Module, instr: &Instr) -> Result<Type> {
    let id = instr.result()?;
    let ty = |index: usize| module.ty(instr, instr.word(index)?);
    let decorations = module.decorations.of(id);
    let made = match instr.op {
        Op::TypeVoid => Type::Void,
        Op::TypeBool => Type::Bool,
        Op::TypeInt => match (instr.word(0)?, instr.word(1)?) {
            (bits @ (8 | 16 | 32 | 64), signed @ (0 | 1)) => Type::Int {
                bits,
                signed: signed == 1,
            },
            (width, 0 | 1) => {
                return Err(instr.unsupported(Feature::Type, format!("{width}-bit integer")));
            }
            (_, other) => return Err(instr.invalid(Invalid::Literal(other))),
        },
        Op::TypeFloat => match instr.word(0)? {
            bits @ (16 | 32) if instr.operands.len() == 1 => Type::Float { bits },
            width => return Err(instr.unsupported(Feature::Type, format!("{width}-bit float"))),
        },
        Op::TypeVector => {
            let component = ty(0)?;
            if component.scalar().is_none() {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let count = instr.word(1)?;
            if !(2..=4).contains(&count) {
                return Err(instr.invalid(Invalid::Literal(count)));
            }
            Type::Vector { component, count }
        }
        Op::TypeMatrix => {
            let column = ty(0)?;
            if !matches!(&*column, Type::Vector { component, .. } if matches!(&**component, Type::Float { .. }))
            {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            let count = instr.word(1)?;
            if !(2..=4).contains(&count) {
                return Err(instr.invalid(Invalid::Literal(count)));
            }
            Type::Matrix { column, count }
        }
        Op::TypeArray => {
            let len = module.constant_word(instr, instr.word(1)?)?;
            if len == 0 {
                return Err(instr.invalid(Invalid::Index(0)));
            }
            Type::Array {
                element: storable(instr, ty(0)?)?,
                len,
                stride: decorations.literal(Decoration::ArrayStride),
            }
        }
        Op::TypeRuntimeArray => Type::RuntimeArray {
            element: storable(instr, ty(0)?)?,
            stride: decorations.literal(Decoration::ArrayStride),
        },
        Op::TypeStruct => {
            let mut members = vec![];
            for (index, member) in instr.operands.iter().enumerate() {
                let decorations = module.decorations.of_member(id, index as u32);
                members.push(Member {
                    ty: storable(instr, module.ty(instr, *member)?)?,
                    offset: decorations.literal(Decoration::Offset),
                    matrix: MatrixLayout {
                        stride: decorations.literal(Decoration::MatrixStride),
                        row_major: decorations.has(Decoration::RowMajor),
                    },
                    volatile: decorations.has(Decoration::Volatile)
                        || decorations.has(Decoration::Coherent),
                    interface: Interface::of(decorations),
                });
            }
            Type::Struct {
                members: members.into(),
                buffer_block: decorations.has(Decoration::BufferBlock),
                block: decorations.has(Decoration::Block),
            }
        }
        Op::TypeImage => Type::Image(image(module, instr)?),
        Op::TypeSampler => Type::Sampler,
        Op::TypeSampledImage => match &*ty(0)? {
            Type::Image(image) if !image.storage => Type::SampledImage(image.clone()),
            _ => return Err(instr.invalid(Invalid::TypeMismatch)),
        },
        Op::TypePointer => {
            let class = instr.word(0)?;
            let class = StorageClass::from_u32(class)
                .ok_or_else(|| instr.invalid(Invalid::Literal(class)))?;
            match class {
                StorageClass::PhysicalStorageBuffer => Type::Address { id },
                _ => Type::Pointer {
                    class,
                    pointee: ty(1)?,
                },
            }
        }
        Op::TypeFunction => {
            let parameters: Result<Vec<_>> = instr
                .rest(1)
                .iter()
                .map(|parameter| module.ty(instr, *parameter))
                .collect();
            Type::Function {
                result: ty(0)?,
                parameters: parameters?.into(),
            }
        }
        _ => return Err(instr.unsupported(Feature::Type, format!("Op{}", instr.name()))),
    };
    if made.depth() > MAX_DEPTH {
        return Err(instr.unsupported(
            Feature::Limit,
            format!("a type nested more than {MAX_DEPTH} deep"),
        ));
    }
    Ok(made)
}

fn image(module: &Module, instr: &Instr) -> Result<ImageType> {
    let texel = module.ty(instr, instr.word(0)?)?;
    let literal = |index: usize, most: u32| match instr.word(index)? {
        word if word <= most => Ok(word),
        word => Err(instr.invalid(Invalid::Literal(word))),
    };
    match &*texel {
        Type::Int { bits: 32, .. } | Type::Float { bits: 32 } => {}
        Type::Int { bits, .. } => {
            let name = format!("an image of {bits}-bit integers");
            return Err(instr.unsupported(Feature::Type, name));
        }
        Type::Float { bits } => {
            let name = format!("an image of {bits}-bit floats");
            return Err(instr.unsupported(Feature::Type, name));
        }
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    }
    let dim = instr.word(1)?;
    let subpass = dim == spirv::Dim::DimSubpassData as u32;
    let dim = match spirv::Dim::from_u32(dim) {
        Some(spirv::Dim::Dim1D) => Dim::D1,
        Some(spirv::Dim::Dim2D) => Dim::D2,
        Some(spirv::Dim::Dim3D) => Dim::D3,
        Some(spirv::Dim::DimCube) => Dim::Cube,
        Some(spirv::Dim::DimBuffer) => Dim::Buffer,
        Some(spirv::Dim::DimSubpassData) => Dim::D2,
        Some(other) => {
            return Err(instr.unsupported(Feature::Type, format!("an image of {other:?}")));
        }
        None => return Err(instr.invalid(Invalid::Literal(dim))),
    };
    let (arrayed, multisampled) = (literal(3, 1)? == 1, literal(4, 1)? == 1);
    let storage = match literal(5, 2)? {
        1 => false,
        2 => !subpass,
        _ => return Err(instr.invalid(Invalid::Literal(0))),
    };
    let format = instr.word(6)?;
    let format =
        ImageFormat::from_u32(format).ok_or_else(|| instr.invalid(Invalid::Literal(format)))?;
    let format = Some(format).filter(|format| *format != ImageFormat::Unknown);
    let name = format.map_or(String::new(), |format| format!("{format:?}"));
    if name.starts_with("R64") {
        return Err(instr.unsupported(Feature::Type, format!("an image of {name}")));
    }
    let components = match name.as_str() {
        name if name.starts_with("Rgba") || name.starts_with("Rgb10") => 4,
        "R11fG11fB10f" => 3,
        name if name.starts_with("Rg") => 2,
        name if name.starts_with('R') => 1,
        _ => 4,
    };
    Ok(ImageType {
        texel,
        shape: ImageShape {
            dim,
            arrayed,
            multisampled,
        },
        storage,
        subpass,
        components,
        format,
    })
}

/// A type that may be part of another.
fn storable(instr: &Instr, ty: Rc<Type>) -> Result<Rc<Type>> {
    match &*ty {
        Type::Void | Type::Function { .. } => Err(instr.invalid(Invalid::TypeMismatch)),
        // A variable pointer is a value, and a variable may hold several.
        Type::Pointer { .. } if !ty.is_value() => {
            Err(instr.unsupported(Feature::Use, "a pointer inside a type"))
        }
        _ => Ok(ty),
    }
}
