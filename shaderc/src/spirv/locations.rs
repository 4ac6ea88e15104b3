//! Locations: what of a variable stands where, between one stage and the next.
//!
//! Needs: a type whose members know their decorations.  Guarantees: the parts of a variable come in the order of its scalars,
//! each a scalar or a vector of words of 32 bits, or a built-in.
//! Facts: none of the hardware; locations are those of Vulkan (interfaces between shader stages).
use std::rc::Rc;

use rspirv::spirv::{BuiltIn, Decoration};

use super::decorations::Decorations;
use super::error::{Feature, Invalid};
use super::reader::{Instr, Result};
use super::types::Type;
use crate::ir::{Sampling, TexelKind};

/// Locations are less: as many as a vertex shader may write 128 components to.
const MOST_LOCATIONS: u32 = 32;
/// Components of a location.
const COMPONENTS: u32 = 4;

/// What decorations say of a variable or a member between stages.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Interface {
    pub location: Option<u32>,
    pub component: u32,
    /// Of a colour.
    pub index: u32,
    pub built_in: Option<u32>,
    pub flat: bool,
    pub noperspective: bool,
    pub centroid: bool,
    pub sample: bool,
    pub relaxed: bool,
}

impl Interface {
    pub fn of(decorations: Decorations<'_>) -> Interface {
        Interface {
            location: decorations.literal(Decoration::Location),
            component: decorations.literal(Decoration::Component).unwrap_or(0),
            index: decorations.literal(Decoration::Index).unwrap_or(0),
            built_in: decorations.literal(Decoration::BuiltIn),
            flat: decorations.has(Decoration::Flat),
            noperspective: decorations.has(Decoration::NoPerspective),
            centroid: decorations.has(Decoration::Centroid),
            sample: decorations.has(Decoration::Sample),
            relaxed: decorations.has(Decoration::RelaxedPrecision),
        }
    }

    /// Of a member, what it hasn't itself being said of the whole.
    fn within(self, whole: Interface) -> Interface {
        Interface {
            flat: self.flat || whole.flat,
            noperspective: self.noperspective || whole.noperspective,
            centroid: self.centroid || whole.centroid,
            sample: self.sample || whole.sample,
            relaxed: self.relaxed || whole.relaxed,
            ..self
        }
    }

    /// At which place an input is interpolated.
    pub fn sampling(self) -> Sampling {
        match self {
            Interface { flat: true, .. } => Sampling::Flat,
            Interface { sample: true, .. } => Sampling::Sample,
            Interface { centroid: true, .. } => Sampling::Centroid,
            _ => Sampling::Center,
        }
    }
}

/// A part of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    BuiltIn(BuiltIn, Rc<Type>),
    Slot(Slot),
}

/// A scalar or a vector at a location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub location: u8,
    /// The first one.
    pub component: u8,
    pub count: u8,
    pub kind: TexelKind,
    pub interface: Interface,
}

impl Slot {
    /// Whether 16 bits are enough for it: integers are never narrowed (hardware/graphics-compiler.md 2.1).
    pub fn is_relaxed(self) -> bool {
        self.interface.relaxed && self.kind == TexelKind::Float
    }
}

impl Part {
    /// How many scalars it has.
    pub fn scalars(&self) -> usize {
        match self {
            Part::BuiltIn(_, ty) => ty.scalars() as usize,
            Part::Slot(slot) => slot.count.into(),
        }
    }
}

/// The parts of a variable, in the order of its scalars.
pub(crate) fn parts(instr: &Instr, ty: &Rc<Type>, interface: Interface) -> Result<Vec<Part>> {
    let mut walk = Walk {
        instr,
        next: interface.location,
        parts: vec![],
    };
    walk.part(ty, interface)?;
    Ok(walk.parts)
}

struct Walk<'i> {
    instr: &'i Instr,
    /// The location of what comes next, if it is known.
    next: Option<u32>,
    parts: Vec<Part>,
}

impl Walk<'_> {
    fn part(&mut self, ty: &Rc<Type>, interface: Interface) -> Result<()> {
        // However many there are of them.
        if ty.scalars() == 0 {
            return Ok(());
        }
        if let Some(number) = interface.built_in {
            let built_in = BuiltIn::from_u32(number)
                .ok_or_else(|| self.instr.invalid(Invalid::Literal(number)))?;
            self.parts.push(Part::BuiltIn(built_in, ty.clone()));
            return Ok(());
        }
        match &**ty {
            Type::Struct { members, .. } => {
                for member in members.iter() {
                    let own = member.interface.within(interface);
                    self.next = own.location.or(self.next);
                    self.part(&member.ty, own)?;
                }
                Ok(())
            }
            Type::Array { element, len, .. } => {
                (0..*len).try_for_each(|_| self.part(element, interface))
            }
            Type::Matrix { column, count } => {
                (0..*count).try_for_each(|_| self.part(column, interface))
            }
            _ => self.slot(ty, interface),
        }
    }

    fn slot(&mut self, ty: &Type, interface: Interface) -> Result<()> {
        let instr = self.instr;
        let kind = match ty.component() {
            Type::Float { bits: 32 } => TexelKind::Float,
            Type::Int {
                bits: 32,
                signed: true,
            } => TexelKind::Signed,
            Type::Int {
                bits: 32,
                signed: false,
            } => TexelKind::Unsigned,
            Type::Float { bits: 16 } | Type::Int { bits: 16, .. } => {
                return Err(instr.unsupported(Feature::Capability, "StorageInputOutput16"));
            }
            Type::Float { bits } | Type::Int { bits, .. } => {
                let what = format!("a variable of {bits} bits between stages");
                return Err(instr.unsupported(Feature::Use, what));
            }
            _ => return Err(instr.invalid(Invalid::TypeMismatch)),
        };
        let location = self
            .next
            .ok_or_else(|| instr.invalid(Invalid::NoLayout("Location")))?;
        if location >= MOST_LOCATIONS {
            let limit = format!("location {location}, {MOST_LOCATIONS} or more");
            return Err(instr.unsupported(Feature::Limit, limit));
        }
        self.next = Some(location + 1);
        let count = ty.scalars() as u32;
        if interface.component >= COMPONENTS || interface.component + count > COMPONENTS {
            return Err(instr.invalid(Invalid::Literal(interface.component)));
        }
        self.parts.push(Part::Slot(Slot {
            location: location as u8,
            component: interface.component as u8,
            count: count as u8,
            kind,
            interface,
        }));
        Ok(())
    }
}
