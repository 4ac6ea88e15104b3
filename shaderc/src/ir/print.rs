//! Printer: the text form, which `parse` reads back.
//!
//! Needs: any function, even a wrong one.  Guarantees: prints every block of the layout.
use std::fmt;

use super::block::{Merge, Phi, Terminator};
use super::function::{Function, ValueDef};
use super::inst::{Access, Held, Inst, Memory, Op, Space};
use super::{BindingId, Kind, Lanes, Stage, Type, Uniform, Value};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        for block in &self.layout {
            writeln!(f, "{block}:")?;
            let data = self.block(*block);
            if let Some(merge) = data.merge {
                writeln!(f, "  {merge}")?;
            }
            for phi in &data.phis {
                writeln!(f, "  {}", self.show_phi(phi))?;
            }
            for inst in &data.insts {
                writeln!(f, "  {}", self.show_inst(*inst))?;
            }
            writeln!(f, "  {}", self.show_terminator(&data.terminator))?;
        }
        Ok(())
    }
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Merge::At(merge) => write!(f, "merge {merge}"),
            Merge::InCall { merge, returned } => match returned {
                Some(returned) => write!(f, "merge {merge} else {returned}"),
                None => write!(f, "merge {merge} else unknown"),
            },
            Merge::Nowhere => f.write_str("merge nowhere"),
        }
    }
}

impl Function {
    /// What stands before the first block, a line each.
    pub(crate) fn show_head(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = self.write_head(&mut text);
        text
    }

    fn write_head(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let [x, y, z] = self.workgroup_size;
        writeln!(f, "function {}", self.name)?;
        match self.stage {
            Stage::Compute => writeln!(f, "workgroup {x} {y} {z}")?,
            stage => writeln!(f, "stage {}", stage.show())?,
        }
        if self.lanes != Lanes::DEFAULT {
            writeln!(f, "lanes {}", self.lanes.count())?;
        }
        for (name, bytes) in [
            ("shared", self.shared_bytes),
            ("scratch", self.scratch_bytes),
            ("push", self.push_constant_bytes),
        ] {
            if bytes != 0 {
                writeln!(f, "{name} {bytes}")?;
            }
        }
        for binding in &self.bindings {
            let kind = binding.kind.name();
            write!(f, "binding {} {} {kind}", binding.set, binding.binding)?;
            if binding.count != 1 {
                write!(f, " count {}", binding.count)?;
            }
            if binding.min_bytes != 0 {
                write!(f, " bytes {}", binding.min_bytes)?;
            }
            if let Some(image) = binding.image {
                write!(f, " image {}", image.show())?;
            }
            if binding.written {
                write!(f, " written")?;
            }
            if binding.restrict {
                write!(f, " restrict")?;
            }
            if binding.non_uniform {
                write!(f, " non_uniform")?;
            }
            writeln!(f)?;
        }
        if !self.data.is_empty() {
            let words: Vec<String> = self.data.iter().map(|word| format!("{word:#x}")).collect();
            writeln!(f, "data {}", words.join(" "))?;
        }
        for (var, data) in self.vars() {
            writeln!(f, "var {var} {} {}", data.ty, data.len)?;
        }
        Ok(())
    }

    /// A phi as the text form has it.
    pub(crate) fn show_phi(&self, phi: &Phi) -> String {
        let mut text = format!("{} = phi.{}", phi.result, self.ty(phi.result));
        for (number, (from, value)) in phi.sources.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let value = self.show(*value, self.ty(phi.result).kind());
            text += &format!("{comma} {from}: {value}");
        }
        text
    }
}

impl Function {
    /// A value as an operand of that kind: constants as themselves (with their type, if it isn't w32), others by number.
    pub(crate) fn show(&self, value: Value, kind: Kind) -> String {
        if value.index() >= self.value_count() {
            return format!("{value}");
        }
        match self.def(value) {
            ValueDef::Word(bits) => match self.ty(value) {
                Type::W32 if kind.is_float() => show_float(bits as u32),
                Type::W32 => show_word(bits as u32),
                Type::Resource => self.show_resource(bits),
                ty => format!("{bits:#x}:{ty}"),
            },
            ValueDef::Bool(value) => value.to_string(),
            ValueDef::Result(..) | ValueDef::Phi(_) => value.to_string(),
        }
    }

    /// An element of a binding: set, binding, and the element if it isn't the first.
    fn show_resource(&self, bits: u64) -> String {
        let (binding, element) = (BindingId((bits >> 32) as u32), bits as u32);
        let binding = self.show_binding(binding);
        match element {
            0 => format!("@{binding}"),
            element => format!("@{binding}.{element}"),
        }
    }

    fn show_binding(&self, id: BindingId) -> String {
        match self.binding(id) {
            Some(binding) => format!("{}.{}", binding.set, binding.binding),
            None => format!("{id}"),
        }
    }

    /// An instruction as the text form has it.
    pub fn show_inst(&self, inst: Inst) -> String {
        let data = self.inst(inst);
        let results: Vec<String> = data.results.iter().map(Value::to_string).collect();
        let (kinds, _) = self.signature(data.op);
        let args: Vec<String> = data
            .args
            .iter()
            .enumerate()
            .map(|(number, arg)| self.show(*arg, kinds.get(number).copied().unwrap_or(Kind::W32)))
            .collect();
        let mut text = String::new();
        if !results.is_empty() {
            text = format!("{} = ", results.join(", "));
        }
        text += &self.show_op(data.op);
        if data.exact {
            text += " exact";
        }
        if !args.is_empty() {
            text += &format!(" {}", args.join(", "));
        }
        text
    }

    /// The end of a block as text.
    pub fn show_terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(target) => format!("jump {target}"),
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => format!(
                "branch {}, {then}, {otherwise}",
                self.show(*condition, Kind::B)
            ),
            Terminator::Switch {
                selector,
                cases,
                default,
            } => {
                let mut text = format!("switch {}", self.show(*selector, Kind::N));
                for (value, target) in cases {
                    text += &format!(", {value}: {target}");
                }
                text + &format!(", default: {default}")
            }
            Terminator::Return => "return".into(),
            Terminator::Unreachable => "unreachable".into(),
        }
    }
}

/// Small numbers of either sign in decimal, others in hexadecimal.
fn show_word(bits: u32) -> String {
    let signed = bits as i32;
    if (-4096..1 << 20).contains(&signed) {
        signed.to_string()
    } else {
        format!("{bits:#x}")
    }
}

/// A float that reads back as the same bits: decimal with a point, or its bits.
fn show_float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_finite() {
        format!("{value:?}")
    } else {
        format!("{bits:#x}")
    }
}

fn show_access(access: Access) -> String {
    let space = match access.space {
        Space::Buffer => "buffer",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Scratch => "scratch",
        Space::Data => "data",
    };
    let memory = match access.memory {
        Memory::Constant => ".constant",
        Memory::Plain => "",
        Memory::Volatile => ".volatile",
        Memory::Atomic => ".atomic",
    };
    let elem = match access.elem {
        Type::W32 => String::new(),
        elem => format!(".{elem}"),
    };
    let held = match access.held {
        Held::Own => "",
        Held::Zero => ".zero",
        Held::Sign => ".sign",
    };
    let count = if access.count == 1 {
        String::new()
    } else {
        format!(".{}", access.count)
    };
    let align = if u32::from(access.align) == access.elem.bytes() {
        String::new()
    } else {
        format!(".align{}", access.align)
    };
    format!("{space}{memory}{elem}{held}{count}{align}")
}

impl Function {
    fn show_op(&self, op: Op) -> String {
        match op {
            Op::Alu(alu) => alu.name().into(),
            Op::Lanes(lanes) => lanes.name().into(),
            Op::Ballot(1) => "ballot".into(),
            Op::Ballot(words) => format!("ballot.{words}"),
            Op::Scan(combine, form) => format!("scan.{}.{}", combine.alu().name(), form.name()),
            Op::SysVal(sys_val) => sys_val.name(),
            Op::Uniform(Uniform::PushConstant(offset)) => format!("uniform.push.{offset}"),
            Op::Uniform(Uniform::NumWorkgroups(axis)) => {
                format!("uniform.num_workgroups.{}", axis.name())
            }
            Op::Uniform(Uniform::BufferWord(binding, element, offset)) => {
                let binding = self.show_binding(binding);
                format!("uniform.buffer.{binding}.{element}.{offset}")
            }
            Op::Uniform(Uniform::BaseVertex) => "uniform.base_vertex".into(),
            Op::Uniform(Uniform::BaseInstance) => "uniform.base_instance".into(),
            Op::Uniform(Uniform::ViewIndex) => "uniform.view_index".into(),
            Op::Uniform(Uniform::ViewportScale(axis)) => {
                format!("uniform.viewport_scale.{}", axis.name())
            }
            Op::Uniform(Uniform::BlendConstant(component)) => {
                format!("uniform.blend_constant.{component}")
            }
            Op::Uniform(Uniform::ViewportOffset(axis)) => {
                format!("uniform.viewport_offset.{}", axis.name())
            }
            Op::Resource(binding) => format!("resource.{}", self.show_binding(binding)),
            Op::BufferSize => "buffer_size".into(),
            Op::Load(access) => format!("load.{}", show_access(access)),
            Op::Store(access) => format!("store.{}", show_access(access)),
            Op::Atomic(atomic, access) => {
                format!("atomic.{}.{}", atomic.name(), show_access(access))
            }
            Op::Image(image) => format!("image.{}", image.show()),
            Op::Barrier => "barrier".into(),
            Op::Fence(spaces) => match spaces.name() {
                "" => "fence".into(),
                name => format!("fence.{name}"),
            },
            Op::LoadAttribute(attribute) => format!("attribute.{}", attribute.show()),
            Op::LoadVarying(varying) => format!("varying.{}", varying.show()),
            Op::FragW(sampling) => format!("frag_w.{}", sampling.name()),
            Op::LoadTile(tile) => format!("tile.{}", tile.show()),
            Op::StoreOutput(output) => format!("output.{}", output.show()),
            Op::Demote => "demote".into(),
            Op::LoadVar(var) => format!("load.{var}"),
            Op::StoreVar(var) => format!("store.{var}"),
        }
    }
}
