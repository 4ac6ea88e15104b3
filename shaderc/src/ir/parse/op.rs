//! Operations: their names, with what stands in them.
use super::{ParseError, Parser, Problem};
use crate::ir::inst::{Access, AtomicOp, Held, Memory, Op, Space};
use crate::ir::{
    Alu, Attribute, Combine, ImageOp, LaneOp, Output, Sampling, ScanForm, Spaces, SysVal, TileLoad,
    Uniform, Varying,
};

impl Parser {
    /// The operation of that name.
    pub(super) fn op(&self, name: &str) -> Result<Op, ParseError> {
        if let Some(alu) = Alu::from_name(name) {
            return Ok(Op::Alu(alu));
        }
        if let Some(lanes) = LaneOp::ALL.iter().find(|lanes| lanes.name() == name) {
            return Ok(Op::Lanes(*lanes));
        }
        if let Some(sys_val) = SysVal::from_name(name) {
            return Ok(Op::SysVal(sys_val));
        }
        let (head, tail) = name.split_once('.').unwrap_or((name, ""));
        let unknown = || self.error(Problem::UnknownOperation, name);
        match head {
            "attribute" => {
                let attribute = Attribute::parse(tail).ok_or_else(unknown)?;
                Ok(Op::LoadAttribute(attribute))
            }
            "varying" => Ok(Op::LoadVarying(Varying::parse(tail).ok_or_else(unknown)?)),
            "tile" => Ok(Op::LoadTile(TileLoad::parse(tail).ok_or_else(unknown)?)),
            "frag_w" => Ok(Op::FragW(Sampling::from_name(tail).ok_or_else(unknown)?)),
            "output" => Ok(Op::StoreOutput(Output::parse(tail).ok_or_else(unknown)?)),
            "demote" => Ok(Op::Demote),
            "ballot" => match tail {
                "" => Ok(Op::Ballot(1)),
                "2" => Ok(Op::Ballot(2)),
                _ => Err(self.error(Problem::UnknownOperation, name)),
            },
            "scan" => {
                let (combine, form) = tail.split_once('.').unwrap_or((tail, ""));
                let mut combines = Combine::ALL.iter();
                let combine = combines.find(|found| found.alu().name() == combine);
                let mut forms = ScanForm::ALL.iter();
                let form = forms.find(|(_, name)| *name == form);
                match (combine, form) {
                    (Some(combine), Some((form, _))) => Ok(Op::Scan(*combine, *form)),
                    _ => Err(self.error(Problem::UnknownOperation, name)),
                }
            }
            "uniform" => match tail.split_once('.') {
                Some(("push", offset)) => {
                    Ok(Op::Uniform(Uniform::PushConstant(self.number(offset)?)))
                }
                Some(("num_workgroups", axis)) => {
                    Ok(Op::Uniform(Uniform::NumWorkgroups(self.axis(axis)?)))
                }
                Some(("buffer", tail)) => {
                    let mut numbers = tail.split('.');
                    let binding = self.binding(&mut numbers, tail)?;
                    let element = self.number(numbers.next().unwrap_or_default())?;
                    let offset = self.number(numbers.next().unwrap_or_default())?;
                    Ok(Op::Uniform(Uniform::BufferWord(binding, element, offset)))
                }
                Some(("viewport_scale", axis)) => {
                    Ok(Op::Uniform(Uniform::ViewportScale(self.axis(axis)?)))
                }
                Some(("viewport_offset", axis)) => {
                    Ok(Op::Uniform(Uniform::ViewportOffset(self.axis(axis)?)))
                }
                Some(("blend_constant", component)) => {
                    let component = self.number(component)?;
                    let component = u8::try_from(component).map_err(|_| unknown())?;
                    Ok(Op::Uniform(Uniform::BlendConstant(component)))
                }
                None if tail == "base_vertex" => Ok(Op::Uniform(Uniform::BaseVertex)),
                None if tail == "base_instance" => Ok(Op::Uniform(Uniform::BaseInstance)),
                None if tail == "view_index" => Ok(Op::Uniform(Uniform::ViewIndex)),
                _ => Err(self.error(Problem::UnknownOperation, name)),
            },
            "resource" => {
                let mut numbers = tail.split('.');
                let binding = self.binding(&mut numbers, tail)?;
                Ok(Op::Resource(binding))
            }
            "buffer_size" => Ok(Op::BufferSize),
            "image" => ImageOp::parse(tail)
                .map(Op::Image)
                .ok_or_else(|| self.error(Problem::UnknownOperation, name)),
            "barrier" => Ok(Op::Barrier),
            "fence" => match Spaces::from_name(tail) {
                Some(spaces) => Ok(Op::Fence(spaces)),
                None => Err(self.error(Problem::UnknownOperation, name)),
            },
            "load" | "store" if tail.starts_with('v') && !tail.contains('.') => {
                let var = self.vars.get(tail).copied();
                let var = var.ok_or_else(|| self.error(Problem::UnknownVariable, tail))?;
                Ok(if head == "load" {
                    Op::LoadVar(var)
                } else {
                    Op::StoreVar(var)
                })
            }
            "load" => Ok(Op::Load(self.access(tail)?)),
            "store" => Ok(Op::Store(self.access(tail)?)),
            "atomic" => {
                let (op, access) = tail.split_once('.').unwrap_or((tail, ""));
                let found = AtomicOp::ALL.iter().find(|(_, name)| *name == op);
                let (op, _) = found.ok_or_else(|| self.error(Problem::UnknownOperation, op))?;
                Ok(Op::Atomic(*op, self.access(access)?))
            }
            _ => Err(self.error(Problem::UnknownOperation, name)),
        }
    }

    fn access(&self, text: &str) -> Result<Access, ParseError> {
        let mut parts = text.split('.');
        let space = match parts.next() {
            Some("buffer") => Space::Buffer,
            Some("global") => Space::Global,
            Some("shared") => Space::Shared,
            Some("scratch") => Space::Scratch,
            Some("data") => Space::Data,
            _ => return Err(self.error(Problem::UnknownOperation, text)),
        };
        let mut access = Access {
            align: 0,
            ..Access::words(space, 1)
        };
        for part in parts {
            match part {
                "constant" => access.memory = Memory::Constant,
                "volatile" => access.memory = Memory::Volatile,
                "atomic" => access.memory = Memory::Atomic,
                "zero" => access.held = Held::Zero,
                "sign" => access.held = Held::Sign,
                "2" | "3" | "4" => access.count = part.as_bytes()[0] - b'0',
                _ => match part.strip_prefix("align") {
                    Some(align) => {
                        let bytes = self.number(align)?;
                        access.align = u8::try_from(bytes).unwrap_or(0);
                    }
                    None => access.elem = self.ty(part)?,
                },
            }
        }
        if access.align == 0 {
            access.align = access.elem.bytes() as u8;
        }
        Ok(access)
    }
}
