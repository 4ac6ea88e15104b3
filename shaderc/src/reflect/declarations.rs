//! Declarations of a module, by id: names, decorations, constants, types, variables.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use rspirv::spirv::{Decoration, Dim, ImageFormat, Op, StorageClass};

use super::types::{Member, Type};
use super::{Resource, ResourceKind, SpecConstant};
use crate::spirv::reader::Instr;

/// Deepest nesting of types that is followed: a module may hold itself.
const MAX_DEPTH: u32 = 32;
/// Most members that are told of one type, parts of parts included: a few words can name very many.
const MAX_PARTS: u32 = 1 << 14;

/// A variable outside functions.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    pub(super) id: u32,
    pub(super) class: StorageClass,
    pub(super) pointee: u32,
}

/// The declarations of a module.
#[derive(Default)]
pub(super) struct Declarations<'m> {
    /// The first instruction with that result.
    by_id: HashMap<u32, &'m Instr>,
    names: HashMap<u32, String>,
    member_names: HashMap<(u32, u32), String>,
    decorations: HashMap<u32, Vec<&'m [u32]>>,
    member_decorations: HashMap<(u32, u32), Vec<&'m [u32]>>,
    spec_values: BTreeMap<u32, u32>,
    variables: Vec<Variable>,
}

impl<'m> Declarations<'m> {
    /// Everything before the first function.
    pub(super) fn collect(instrs: &'m [Instr], spec_values: &BTreeMap<u32, u32>) -> Self {
        let mut all = Declarations {
            spec_values: spec_values.clone(),
            ..Declarations::default()
        };
        for instr in instrs.iter().take_while(|instr| instr.op != Op::Function) {
            if let Some(id) = instr.result {
                all.by_id.entry(id).or_insert(instr);
            }
            match (instr.op, &*instr.operands) {
                (Op::Name, [id, ..]) => {
                    all.names
                        .extend(instr.string(1).ok().map(|(name, _)| (*id, name)));
                }
                (Op::MemberName, [id, member, ..]) => {
                    let name = instr.string(2).ok();
                    all.member_names
                        .extend(name.map(|(name, _)| ((*id, *member), name)));
                }
                (Op::Decorate | Op::DecorateId, [id, decoration @ ..]) => {
                    all.decorations.entry(*id).or_default().push(decoration);
                }
                (Op::MemberDecorate, [id, member, decoration @ ..]) => {
                    let list = all.member_decorations.entry((*id, *member)).or_default();
                    list.push(decoration);
                }
                _ => {}
            }
        }
        let variables = instrs.iter().take_while(|instr| instr.op != Op::Function);
        let variables = variables.filter(|instr| instr.op == Op::Variable);
        all.variables = variables.filter_map(|instr| all.variable(instr)).collect();
        all
    }

    fn variable(&self, instr: &Instr) -> Option<Variable> {
        let pointer = self.by_id.get(&instr.ty?)?;
        match (pointer.op, &*pointer.operands) {
            (Op::TypePointer, [_, pointee]) => Some(Variable {
                id: instr.result?,
                class: StorageClass::from_u32(*instr.operands.first()?)?,
                pointee: *pointee,
            }),
            _ => None,
        }
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = Variable> {
        self.variables.iter().copied()
    }

    fn name(&self, id: u32) -> String {
        self.names.get(&id).cloned().unwrap_or_default()
    }

    /// The literals of a decoration in a list.
    fn find<'d>(list: Option<&Vec<&'d [u32]>>, decoration: Decoration) -> Option<&'d [u32]> {
        let found = list?.iter().find_map(|words| match words {
            [kind, literals @ ..] if *kind == decoration as u32 => Some(literals),
            _ => None,
        });
        found.map(|literals: &'d [u32]| literals)
    }

    fn decoration(&self, id: u32, decoration: Decoration) -> Option<&'m [u32]> {
        Declarations::find(self.decorations.get(&id), decoration)
    }

    fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.decoration(id, decoration)?.first().copied()
    }

    /// The id with a decoration whose literal is `literal`; the lowest, if there are several.
    pub(super) fn decorated(&self, decoration: Decoration, literal: u32) -> Option<u32> {
        let ids = self.decorations.keys().copied();
        ids.filter(|id| self.literal(*id, decoration) == Some(literal))
            .min()
    }

    /// The parts of a composite constant.
    pub(super) fn composite(&self, id: u32) -> Option<&'m [u32]> {
        let instr: &'m Instr = self.by_id.get(&id)?;
        matches!(instr.op, Op::ConstantComposite | Op::SpecConstantComposite)
            .then_some(&*instr.operands)
    }

    /// The value of a 32-bit constant, with the specialisation given; none where it can't be told.
    pub(super) fn word(&self, id: u32) -> Option<u32> {
        self.word_within(id, MAX_DEPTH)
    }

    fn word_within(&self, id: u32, depth: u32) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        let instr = self.by_id.get(&id)?;
        let given = self
            .literal(id, Decoration::SpecId)
            .and_then(|spec| self.spec_values.get(&spec).copied());
        match (instr.op, &*instr.operands) {
            (Op::Constant, [word]) => Some(*word),
            (Op::SpecConstant, [word]) => Some(given.unwrap_or(*word)),
            (Op::ConstantTrue, []) => Some(1),
            (Op::ConstantFalse | Op::ConstantNull, []) => Some(0),
            (Op::SpecConstantTrue, []) => Some(given.unwrap_or(1)),
            (Op::SpecConstantFalse, []) => Some(given.unwrap_or(0)),
            (Op::SpecConstantOp, [op, operands @ ..]) => {
                let operand = |index: usize| self.word_within(*operands.get(index)?, depth);
                let (a, b) = (operand(0)?, operand(1));
                match Op::from_u32(*op)? {
                    Op::IAdd => Some(a.wrapping_add(b?)),
                    Op::ISub => Some(a.wrapping_sub(b?)),
                    Op::IMul => Some(a.wrapping_mul(b?)),
                    Op::UDiv => a.checked_div(b?),
                    Op::UMod => a.checked_rem(b?),
                    Op::ShiftLeftLogical => a.checked_shl(b?),
                    Op::ShiftRightLogical => a.checked_shr(b?),
                    Op::BitwiseAnd => Some(a & b?),
                    Op::BitwiseOr => Some(a | b?),
                    Op::Select => {
                        if a != 0 {
                            b
                        } else {
                            operand(2)
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn spec_constants(&self) -> Vec<SpecConstant> {
        let mut found = Vec::new();
        for (id, instr) in &self.by_id {
            let default = match (instr.op, &*instr.operands) {
                (Op::SpecConstant, [low]) => (*low).into(),
                (Op::SpecConstant, [low, high]) => u64::from(*high) << 32 | u64::from(*low),
                (Op::SpecConstantTrue, []) => 1,
                (Op::SpecConstantFalse, []) => 0,
                _ => continue,
            };
            if let (Some(spec), Some(ty)) = (self.literal(*id, Decoration::SpecId), instr.ty) {
                found.push(SpecConstant {
                    id: spec,
                    name: self.name(*id),
                    ty: self.ty(ty).to_string(),
                    default,
                });
            }
        }
        found.sort_by(|a, b| (a.id, &a.name).cmp(&(b.id, &b.name)));
        found
    }

    /// A type by its id.
    pub(super) fn ty(&self, id: u32) -> Type {
        let mut parts = MAX_PARTS;
        self.ty_within(id, None, MAX_DEPTH, &mut parts)
    }

    /// As [`Declarations::ty`], inside of a struct's member, and so deep at most.
    fn ty_within(&self, id: u32, member: Option<(u32, u32)>, depth: u32, parts: &mut u32) -> Type {
        let unknown = || Type::Opaque {
            name: format!("%{id}"),
        };
        let (Some(depth), Some(left), Some(instr)) = (
            depth.checked_sub(1),
            parts.checked_sub(1),
            self.by_id.get(&id),
        ) else {
            return unknown();
        };
        *parts = left;
        let scalar = |name: String, bits: u32| Type::Scalar {
            name,
            bytes: u64::from(bits) / 8,
        };
        let of_member = |decoration| {
            Declarations::find(
                member.and_then(|key| self.member_decorations.get(&key)),
                decoration,
            )
        };
        match (instr.op, &*instr.operands) {
            (Op::TypeBool, []) => scalar("bool".to_owned(), 32),
            (Op::TypeInt, [bits, 0]) => scalar(format!("u{bits}"), *bits),
            (Op::TypeInt, [bits, _]) => scalar(format!("i{bits}"), *bits),
            (Op::TypeFloat, [bits, ..]) => scalar(format!("f{bits}"), *bits),
            (Op::TypePointer, [_, _]) => scalar("ptr".to_owned(), 64),
            (Op::TypeVector, [component, count]) => Type::Vector {
                component: Box::new(self.ty_within(*component, None, depth, parts)),
                count: *count,
            },
            (Op::TypeMatrix, [column, count]) => Type::Matrix {
                column: Box::new(self.ty_within(*column, None, depth, parts)),
                count: *count,
                stride: of_member(Decoration::MatrixStride)
                    .and_then(|words| words.first().copied()),
                row_major: of_member(Decoration::RowMajor).is_some(),
            },
            (Op::TypeArray, [element, count]) => Type::Array {
                element: Box::new(self.ty_within(*element, member, depth, parts)),
                count: self.word(*count),
                stride: self.literal(id, Decoration::ArrayStride),
            },
            (Op::TypeRuntimeArray, [element]) => Type::Array {
                element: Box::new(self.ty_within(*element, member, depth, parts)),
                count: None,
                stride: self.literal(id, Decoration::ArrayStride),
            },
            (Op::TypeStruct, members) => {
                let mut list = Vec::new();
                for (index, ty) in (0u32..).zip(members) {
                    let key = (id, index);
                    let offset =
                        Declarations::find(self.member_decorations.get(&key), Decoration::Offset);
                    list.push(Member {
                        name: self.member_names.get(&key).cloned().unwrap_or_default(),
                        offset: offset.and_then(|words| words.first().copied()),
                        ty: self.ty_within(*ty, Some(key), depth, parts),
                    });
                }
                Type::Struct {
                    name: self.name(id),
                    members: list,
                }
            }
            (Op::TypeSampler, []) => Type::Opaque {
                name: "sampler".to_owned(),
            },
            (Op::TypeSampledImage, [image]) => Type::Opaque {
                name: format!("sampled {}", self.ty_within(*image, None, depth, parts)),
            },
            (
                Op::TypeImage,
                [
                    component,
                    dim,
                    depth_image,
                    arrayed,
                    multisampled,
                    _,
                    format,
                    ..,
                ],
            ) => {
                let mut name = match Dim::from_u32(*dim) {
                    Some(dim) => format!("image{}", format!("{dim:?}").trim_start_matches("Dim")),
                    None => "image".to_owned(),
                };
                for (flag, word) in [(*arrayed, "Array"), (*multisampled, "MS")] {
                    if flag == 1 {
                        name.push_str(word);
                    }
                }
                name.push_str(&format!(
                    " of {}",
                    self.ty_within(*component, None, depth, parts)
                ));
                match ImageFormat::from_u32(*format) {
                    Some(ImageFormat::Unknown) | None => {}
                    Some(format) => {
                        name.push_str(&format!(" {}", format!("{format:?}").to_lowercase()))
                    }
                }
                if *depth_image == 1 {
                    name.push_str(" depth");
                }
                Type::Opaque { name }
            }
            _ => unknown(),
        }
    }

    /// A variable as a resource.
    pub(super) fn resource(&self, variable: Variable) -> Resource {
        let mut inner = variable.pointee;
        let mut count = Some(1u32);
        // Arrays of descriptors, of one dimension or several.
        for _ in 0..MAX_DEPTH {
            let Some(instr) = self.by_id.get(&inner) else {
                break;
            };
            match (instr.op, &*instr.operands) {
                (Op::TypeArray, [element, length]) => {
                    let length = self.word(*length);
                    count = count.zip(length).map(|(a, b)| a.saturating_mul(b));
                    inner = *element;
                }
                (Op::TypeRuntimeArray, [element]) => {
                    count = None;
                    inner = *element;
                }
                _ => break,
            }
        }
        let name = match self.name(variable.id) {
            name if name.is_empty() => self.name(inner),
            name => name,
        };
        let has = |decoration| {
            let members = self
                .by_id
                .get(&inner)
                .map_or(0, |instr| instr.operands.len());
            let of_member = |index| {
                let list = self.member_decorations.get(&(inner, index));
                Declarations::find(list, decoration).is_some()
            };
            self.decoration(variable.id, decoration).is_some()
                || (members > 0 && (0..members as u32).all(of_member))
        };
        let kind = self.kind(variable.class, inner);
        Resource {
            set: self
                .literal(variable.id, Decoration::DescriptorSet)
                .unwrap_or(0),
            binding: self.literal(variable.id, Decoration::Binding).unwrap_or(0),
            name,
            kind,
            count,
            write_only: has(Decoration::NonReadable),
            read_only: kind.is_read_only() || has(Decoration::NonWritable),
            ty: self.ty(inner),
        }
    }

    fn kind(&self, class: StorageClass, inner: u32) -> ResourceKind {
        let buffer_block = self.decoration(inner, Decoration::BufferBlock).is_some();
        match class {
            StorageClass::StorageBuffer => return ResourceKind::StorageBuffer,
            // Before SPIR-V 1.3 a storage buffer had class Uniform and BufferBlock on its struct.
            StorageClass::Uniform if buffer_block => return ResourceKind::StorageBuffer,
            StorageClass::Uniform => return ResourceKind::UniformBuffer,
            _ => {}
        }
        let buffer = Dim::DimBuffer as u32;
        match self
            .by_id
            .get(&inner)
            .map(|instr| (instr.op, &*instr.operands))
        {
            Some((Op::TypeSampler, _)) => ResourceKind::Sampler,
            Some((Op::TypeSampledImage, [image])) => match self.by_id.get(image) {
                Some(image) if image.operands.get(1) == Some(&buffer) => {
                    ResourceKind::UniformTexelBuffer
                }
                _ => ResourceKind::CombinedImageSampler,
            },
            // Operand 5 says whether it is used with a sampler: 2 is never.
            Some((Op::TypeImage, [_, dim, _, _, _, sampled, ..])) => {
                match (*dim == buffer, *sampled == 2) {
                    (true, true) => ResourceKind::StorageTexelBuffer,
                    (true, false) => ResourceKind::UniformTexelBuffer,
                    (false, true) => ResourceKind::StorageImage,
                    (false, false) => ResourceKind::SampledImage,
                }
            }
            _ => ResourceKind::Other,
        }
    }
}
