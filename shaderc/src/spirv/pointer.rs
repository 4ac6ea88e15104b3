//! Pointers: what a chain of accesses leads to, resolved while translating.
//!
//! Needs: variables of `interface` and of functions.  Guarantees: no pointer is a value of the IR: it is a variable's
//! element number, or a place in memory as constant plus dynamic byte offset.
use std::rc::Rc;

use rspirv::spirv::Decoration;

use super::error::{Feature, Invalid};
use super::layout::{MAX_ALIGN, Rules, scalar_bytes};
use super::reader::{Instr, Result};
use super::translate::{Composite, Translator};
use super::types::{MatrixLayout, Type};
use crate::ir::{
    self, Alu, BindingId, ImageAction, ImageOp, ImageShape, Memory, Op, Value, Var, Varying,
};

/// A place, and the type of what is there.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub ty: Rc<Type>,
    pub target: Target,
}

/// Kinds of places.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A private variable, from that scalar on.
    Local { node: Rc<Local>, at: Offset },
    /// Memory.
    Memory(Place),
    /// A read-only value.
    Fixed(Composite),
    /// What a fragment shader is given: the value, and from where. Of several ways the last whose condition holds counts.
    Input(Composite, Rc<[InputWay]>),
    /// Descriptors, before one is chosen.
    Descriptors {
        binding: BindingId,
        count: u32,
        memory: Memory,
    },
    /// An image or sampler.
    Opaque(Opaque),
    /// A texel of a storage image.
    Texel(Texel),
}

/// Where each scalar of an input is interpolated, if it is.
#[derive(Clone, Debug)]
pub(crate) struct InputWay {
    /// None of the first.
    pub condition: Option<Value>,
    pub places: Rc<[Option<Varying>]>,
}

/// An image or sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opaque {
    pub resource: Value,
    /// The binding of which that is an element.
    pub binding: BindingId,
    /// Of the texels.
    pub memory: Memory,
}

/// A texel of a storage image.
#[derive(Clone, Debug)]
pub(crate) struct Texel {
    pub image: Opaque,
    pub shape: ImageShape,
    /// The operands that say which.
    pub at: Rc<[Value]>,
}

/// A private variable: structs are taken apart, so that each part can become a value of its own.
#[derive(Debug)]
pub(crate) enum Local {
    /// All scalars are elements of one variable. If they are of several types, it has words in which all have place.
    Leaf(Var),
    /// A part for each member; or for each element of an array that holds pointers.
    Struct(Vec<Rc<Local>>),
    /// A variable pointer, scalar by scalar.
    Pointer(Vec<Var>),
}

/// A place in memory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub area: Area,
    pub rules: Rules,
    pub at: Offset,
    /// Largest power of two, up to 16, that divides the byte offset.
    pub align: u32,
    pub matrix: MatrixLayout,
    /// Bytes from one component of a vector to the next, where they don't lie together.
    pub component_stride: Option<u32>,
    pub memory: Memory,
}

/// What memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Area {
    /// With its resource, and the binding of which that is an element, where it is known.
    Buffer(Value, Option<BindingId>),
    /// At an address of 64 bits, with the id of the pointer's type.
    Global(Value, u32),
    Shared,
    /// Read word by word.
    Push,
}

/// A number of scalars or bytes: constant plus dynamic part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offset {
    pub constant: u32,
    pub dynamic: Option<Value>,
}

/// An index of an access chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    Constant(u32),
    Dynamic(Value),
}

impl Translator<'_> {
    /// The pointer to a part.
    pub fn step(&mut self, instr: &Instr, pointer: &Pointer, index: Index) -> Result<Pointer> {
        if let Target::Descriptors {
            binding,
            count,
            memory,
        } = pointer.target
        {
            return self.choose_descriptor(instr, pointer, (binding, count, memory), index);
        }
        // A constant index past the end is legal in code that never runs: it means the last part.
        let index = match (index, &*pointer.ty) {
            (
                Index::Constant(index),
                Type::Array { len: count, .. }
                | Type::Vector { count, .. }
                | Type::Matrix { count, .. },
            ) => Index::Constant(index.min(count - 1)),
            (index, _) => index,
        };
        let constant = match index {
            Index::Constant(index) => index,
            Index::Dynamic(_) => 0,
        };
        if matches!(&*pointer.ty, Type::Struct { .. }) && matches!(index, Index::Dynamic(_)) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let Some((ty, before)) = pointer.ty.part(constant) else {
            let composite = pointer.ty.part(0).is_some();
            return Err(instr.invalid(match composite {
                true => Invalid::Index(constant),
                false => Invalid::TypeMismatch,
            }));
        };
        let target = match &pointer.target {
            Target::Local { node, at } => match (&**node, index) {
                (Local::Struct(parts), Index::Constant(index)) => Target::Local {
                    node: parts[index as usize].clone(),
                    at: Offset::default(),
                },
                (Local::Struct(_), Index::Dynamic(_)) => {
                    let what = "an index that varies, into an array of pointers";
                    return Err(instr.unsupported(Feature::Use, what));
                }
                (_, index) => {
                    let mut at = *at;
                    match index {
                        Index::Constant(_) => {
                            at.constant = at.constant.wrapping_add(before as u32);
                        }
                        Index::Dynamic(index) => {
                            self.add_scaled(&mut at, index, ty.scalars() as u32);
                        }
                    }
                    Target::Local {
                        node: node.clone(),
                        at,
                    }
                }
            },
            Target::Memory(place) => {
                Target::Memory(self.step_in_memory(instr, &pointer.ty, place, index)?)
            }
            Target::Fixed(composite) | Target::Input(composite, _) => {
                let scalars = ty.scalars() as usize;
                let part = match index {
                    Index::Constant(_) => {
                        let start = before as usize;
                        composite.scalars[start..start + scalars].to_vec()
                    }
                    Index::Dynamic(index) => self.extract_dynamic(composite, &ty, index),
                };
                let part = Composite {
                    ty: ty.clone(),
                    scalars: part.into(),
                };
                match &pointer.target {
                    Target::Input(_, ways) => {
                        let ways = self.step_in_input(ways, scalars, before as usize, index);
                        Target::Input(part, ways)
                    }
                    _ => Target::Fixed(part),
                }
            }
            Target::Descriptors { .. } | Target::Opaque(_) | Target::Texel(_) => {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
        };
        Ok(Pointer { ty, target })
    }

    /// The ways to a part of an input, which has so many scalars and so many before it.
    fn step_in_input(
        &mut self,
        ways: &[InputWay],
        scalars: usize,
        before: usize,
        index: Index,
    ) -> Rc<[InputWay]> {
        let mut parts = vec![];
        for way in ways {
            let index = match index {
                Index::Constant(_) => {
                    parts.push(InputWay {
                        condition: way.condition,
                        places: way.places[before..before + scalars].into(),
                    });
                    continue;
                }
                Index::Dynamic(index) => index,
            };
            for (number, places) in way.places.chunks(scalars.max(1)).enumerate() {
                let here = match number {
                    0 => None,
                    _ => Some(self.builder.alu_word(Alu::UGe, index, number as u32)),
                };
                let condition = match (way.condition, here) {
                    (Some(outer), Some(here)) => Some(self.builder.alu(Alu::BAnd, &[outer, here])),
                    (outer, here) => outer.or(here),
                };
                parts.push(InputWay {
                    condition,
                    places: places.into(),
                });
            }
        }
        parts.into()
    }

    /// A part of a value chosen at run time: a chain of selects; out of range gives the last.
    pub fn extract_dynamic(
        &mut self,
        composite: &Composite,
        part: &Rc<Type>,
        index: Value,
    ) -> Vec<Value> {
        let size = (part.scalars() as usize).max(1);
        let mut parts = composite.scalars.chunks(size).enumerate();
        let Some((_, first)) = parts.next() else {
            return vec![];
        };
        let mut chosen = first.to_vec();
        for (number, scalars) in parts {
            let here = self.builder.alu_word(Alu::UGe, index, number as u32);
            for (value, scalar) in chosen.iter_mut().zip(scalars) {
                *value = self.builder.select(here, *scalar, *value);
            }
        }
        chosen
    }

    fn choose_descriptor(
        &mut self,
        instr: &Instr,
        pointer: &Pointer,
        (binding, count, memory): (BindingId, u32, Memory),
        index: Index,
    ) -> Result<Pointer> {
        let (Type::Array { element, .. } | Type::RuntimeArray { element, .. }) = &*pointer.ty
        else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        let resource = match index {
            Index::Constant(index) if index < count => {
                self.builder.function.resource(binding, index)
            }
            Index::Constant(index) => return Err(instr.invalid(Invalid::Index(index))),
            Index::Dynamic(index) => {
                // Past the end lie other descriptors: compiler-lowering.md 3.1.
                let clamped = self.builder.alu_word(Alu::UMin, index, count - 1);
                // What is decorated is what uses the element; whether lanes differ is looked at later.
                if self.module.decorations.any(Decoration::NonUniform) {
                    self.builder.function.bindings[binding.index()].non_uniform = true;
                }
                self.builder.inst(Op::Resource(binding), &[clamped])[0]
            }
        };
        Ok(Pointer {
            ty: element.clone(),
            target: self.descriptor(resource, binding, memory),
        })
    }

    pub(super) fn step_in_memory(
        &mut self,
        instr: &Instr,
        ty: &Rc<Type>,
        place: &Place,
        index: Index,
    ) -> Result<Place> {
        let mut place = place.clone();
        let stride = match &**ty {
            Type::Struct { members, .. } => {
                let Index::Constant(index) = index else {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                };
                let offset = place.rules.member_offset(instr, ty, index)?;
                let member = &members[index as usize];
                place.matrix = member.matrix;
                if member.volatile {
                    place.memory = Memory::Volatile;
                }
                place.add_constant(offset);
                return Ok(place);
            }
            Type::Array { .. } | Type::RuntimeArray { .. } => {
                place.rules.array_stride(instr, ty)?
            }
            Type::Matrix { column, .. } => {
                let stride = place.rules.matrix_stride(instr, column, place.matrix)?;
                if place.matrix.row_major {
                    place.component_stride = Some(stride);
                    scalar_bytes(column.component())
                } else {
                    stride
                }
            }
            Type::Vector { component, .. } => match place.component_stride {
                Some(stride) => stride,
                None => scalar_bytes(component),
            },
            _ => return Err(instr.invalid(Invalid::TypeMismatch)),
        };
        self.advance(&mut place, index, stride);
        Ok(place)
    }

    /// Adds `index * scale`.
    pub fn add_scaled(&mut self, at: &mut Offset, index: Value, scale: u32) {
        let scaled = match scale {
            1 => index,
            scale => self.builder.alu_word(Alu::IMul, index, scale),
        };
        at.dynamic = Some(match at.dynamic {
            None => scaled,
            Some(other) => self.builder.alu(Alu::IAdd, &[other, scaled]),
        });
    }

    /// The offset as one value, so much further.
    pub fn offset_value(&mut self, at: Offset, plus: u32) -> Value {
        let constant = at.constant.wrapping_add(plus);
        match at.dynamic {
            None => self.builder.word(constant),
            Some(dynamic) if constant == 0 => dynamic,
            Some(dynamic) => self.builder.alu_word(Alu::IAdd, dynamic, constant),
        }
    }

    /// Reads all that a pointer points to.
    pub fn load(&mut self, instr: &Instr, pointer: &Pointer, memory: Memory) -> Result<Composite> {
        if !pointer.ty.is_value() {
            return Err(instr.unsupported(Feature::Use, "a load of that type"));
        }
        let mut scalars = vec![];
        match &pointer.target {
            Target::Fixed(composite) | Target::Input(composite, _) => {
                return Ok(composite.clone());
            }
            Target::Local { node, at } => self.load_local(node, *at, &pointer.ty, &mut scalars),
            Target::Memory(place) => {
                let mut place = place.clone();
                place.strengthen(memory);
                self.load_memory(instr, &place, &pointer.ty, &mut scalars)?;
            }
            Target::Descriptors { .. } => {
                return Err(instr.unsupported(Feature::Use, "a load of descriptors"));
            }
            Target::Opaque(_) => return Err(instr.invalid(Invalid::TypeMismatch)),
            Target::Texel(texel) => {
                let op = ImageOp {
                    memory: Memory::Atomic,
                    ..ImageOp::new(ImageAction::Read, texel.shape)
                };
                let words = self.texel_op(op, texel, &[]);
                scalars.extend(words.first());
            }
        }
        Ok(Composite {
            ty: pointer.ty.clone(),
            scalars: scalars.into(),
        })
    }

    /// Writes a value of the pointer's type.
    pub fn store(
        &mut self,
        instr: &Instr,
        pointer: &Pointer,
        value: &Composite,
        memory: Memory,
    ) -> Result<()> {
        if value.ty != pointer.ty {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        match &pointer.target {
            Target::Local { node, at } => {
                let mut scalars = value.scalars.iter().copied();
                self.store_local(node, *at, &pointer.ty, &mut scalars);
                Ok(())
            }
            Target::Memory(place) => {
                let mut place = place.clone();
                match place.area {
                    Area::Push => return Err(instr.invalid(Invalid::TypeMismatch)),
                    Area::Buffer(_, binding) => self.mark_written(instr, binding)?,
                    Area::Shared | Area::Global(..) => {}
                }
                place.strengthen(memory);
                self.store_memory(
                    instr,
                    &place,
                    &pointer.ty,
                    &mut value.scalars.iter().copied(),
                )
            }
            Target::Texel(texel) => {
                self.write_texel(instr, texel.image)?;
                let op = ImageOp {
                    memory: Memory::Atomic,
                    ..ImageOp::new(ImageAction::Write(1), texel.shape)
                };
                self.texel_op(op, texel, &value.scalars);
                Ok(())
            }
            Target::Fixed(_)
            | Target::Input(..)
            | Target::Descriptors { .. }
            | Target::Opaque(_) => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// Notes that a buffer is written: any of them, where it isn't known which.
    pub fn mark_written(&mut self, instr: &Instr, binding: Option<BindingId>) -> Result<()> {
        let bindings = &mut self.builder.function.bindings;
        match binding {
            Some(id) => {
                let binding = &mut bindings[id.index()];
                if binding.kind == ir::BindingKind::Uniform {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                }
                binding.written = true;
            }
            None => {
                let storage = |binding: &&mut ir::Binding| binding.kind == ir::BindingKind::Storage;
                for binding in bindings.iter_mut().filter(storage) {
                    binding.written = true;
                }
            }
        }
        Ok(())
    }
}

impl Place {
    pub fn add_constant(&mut self, bytes: u32) {
        self.at.constant = self.at.constant.wrapping_add(bytes);
        self.weaken(bytes);
    }

    /// Nothing better is known than that so many bytes were added, or a multiple.
    pub fn weaken(&mut self, bytes: u32) {
        self.align = self.align.min(power_of_two(bytes));
    }

    pub(super) fn strengthen(&mut self, memory: Memory) {
        if memory.is_volatile() {
            self.memory = memory;
        }
    }
}

/// The largest power of two up to [`MAX_ALIGN`] that divides a number of bytes.
fn power_of_two(bytes: u32) -> u32 {
    match bytes {
        0 => MAX_ALIGN,
        bytes => (1 << bytes.trailing_zeros()).min(MAX_ALIGN),
    }
}
