//! What a vertex or fragment shader is given and what it hands on: input and output variables, and how it ends.
//!
//! Inputs are loaded at the start, all of each; what nobody reads goes again. Outputs are variables of the invocation, which
//! are stored once and whole behind all returns. A lane that is killed only helps its quad from there on, and goes to the
//! end: out of calls by a branch behind each, so that constructs stay whole.
//! Facts: hardware/graphics-compiler.md 1.1 (the sequence of outputs at the end), 3, 4, 5.
use std::collections::BTreeMap;

use rspirv::spirv::{BuiltIn, StorageClass};
use rustc_hash::FxHashSet as HashSet;

use super::built_ins;
use super::error::{Feature, Invalid};
use super::locations::{Interface, Part, Slot, parts};
use super::module::{Global, Module};
use super::pointer::{InputWay, Local, Offset, Pointer, Target};
use super::reader::{Instr, Result};
use super::translate::{Composite, Item, Translator};
use super::types::Type;
use crate::ir::{
    self, Attribute, Memory, Op, Output, Sampling, Stage, SysVal, Terminator, TexelKind, Value,
    Var, VarData, Varying,
};
use crate::lower::clip_distances::{CLIP_DISTANCES, MOST_CLIP_DISTANCES, load_distances};
use crate::options::Options;

/// Locations of attributes are less (hardware/graphics.md 1.13).
const MOST_ATTRIBUTES: u8 = 16;

/// What a vertex or fragment shader has beside its code.
#[derive(Default)]
pub(crate) struct StageState {
    outputs: Vec<OutputVariable>,
    /// Whether a lane only helps its quad.
    helper: Option<Var>,
    /// Whether a lane was killed in a function that was called.
    killed: Option<Var>,
    /// Whether lanes may be killed in the function that was translated last.
    pub callee_kills: bool,
}

/// A variable of class Output.
struct OutputVariable {
    global: Global,
    pointer: Pointer,
    parts: Vec<Part>,
}

/// The stage of the entry point, with all that the module says of it.
pub(super) fn stage(module: &Module, options: &Options) -> Stage {
    let Stage::Fragment(mut fragment) = module.stage else {
        return module.stage;
    };
    let by_sample = |interface: Interface| {
        let numbers = [BuiltIn::SampleId as u32, BuiltIn::SamplePosition as u32];
        let built_in = interface.built_in;
        interface.sample || built_in.is_some_and(|number| numbers.contains(&number))
    };
    let mut inputs = module
        .own_globals()
        .filter(|(_, global)| global.class == StorageClass::Input);
    fragment.sample_shading = options.sample_shading
        || inputs.any(|(id, global)| {
            let members = match &*global.pointee {
                Type::Struct { members, .. } => &**members,
                _ => &[],
            };
            by_sample(Interface::of(module.decorations.of(*id)))
                || members.iter().any(|member| by_sample(member.interface))
        });
    Stage::Fragment(fragment)
}

impl Translator<'_> {
    /// What every invocation of the stage begins with.
    pub(super) fn begin_stage(&mut self) {
        if let Stage::Fragment(_) = self.builder.function.stage {
            let helper = self.builder.function.new_var(VarData {
                ty: ir::Type::Bool,
                len: 1,
                name: String::new(),
            });
            let (zero, from) = (
                self.builder.word(0),
                self.builder.sys_val(SysVal::HelperInvocation),
            );
            self.builder.store_var(helper, zero, from);
            self.stage.helper = Some(helper);
        }
    }

    /// Whether the lane only helps its quad by now.
    pub(crate) fn is_helper(&mut self, instr: &Instr) -> Result<Value> {
        let helper = self.load_helper();
        helper.ok_or_else(|| instr.invalid(Invalid::Misplaced))
    }

    fn load_helper(&mut self) -> Option<Value> {
        let helper = self.stage.helper?;
        let zero = self.builder.word(0);
        Some(self.builder.load_var(helper, zero))
    }

    /// Whether the lane still does more than to help its quad; `None` where none only helps.
    pub(crate) fn is_no_helper(&mut self) -> Option<Value> {
        let helper = self.load_helper()?;
        Some(self.builder.alu(ir::Alu::BNot, &[helper]))
    }

    /// A variable of class Input.
    pub(super) fn input(&mut self, id: u32, global: &Global) -> Result<()> {
        let instr = &global.instr;
        let interface = Interface::of(self.module.decorations.of(id));
        let is_flow = interface.built_in == Some(BuiltIn::HelperInvocation as u32);
        if let (Some(helper), true) = (self.stage.helper, is_flow) {
            // What it says changes where a lane is demoted.
            let pointer = Pointer {
                ty: global.pointee.clone(),
                target: Target::Local {
                    node: Local::Leaf(helper).into(),
                    at: Offset::default(),
                },
            };
            self.globals.insert(id, Item::Pointer(pointer));
            return Ok(());
        }
        if !global.pointee.is_value() {
            return Err(instr.unsupported(Feature::Use, "an input of that type"));
        }
        let mut scalars = vec![];
        let mut places = vec![];
        for part in parts(instr, &global.pointee, interface)? {
            match part {
                Part::BuiltIn(built_in, ty) => {
                    let before = scalars.len();
                    let in_fragment = self.builder.function.stage.fragment().is_some();
                    match (built_in, u8::try_from(ty.scalars())) {
                        (BuiltIn::ClipDistance, Ok(count)) if in_fragment => {
                            scalars.extend(load_distances(&mut self.builder, count));
                        }
                        _ => scalars.extend(self.built_in_input(instr, built_in)?),
                    }
                    places.extend(scalars[before..].iter().map(|_| None));
                }
                Part::Slot(slot) => self.load_slot(instr, slot, &mut scalars, &mut places)?,
            }
        }
        let types = global.pointee.flatten();
        let function = &self.builder.function;
        let own = scalars.iter().map(|value| function.ty(*value));
        if !types.iter().copied().eq(own) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let composite = Composite {
            ty: global.pointee.clone(),
            scalars: scalars.into(),
        };
        let pointer = Pointer {
            ty: global.pointee.clone(),
            target: match places.iter().any(Option::is_some) {
                true => {
                    let way = InputWay {
                        condition: None,
                        places: places.into(),
                    };
                    Target::Input(composite, [way].into())
                }
                false => Target::Fixed(composite),
            },
        };
        self.globals.insert(id, Item::Pointer(pointer));
        Ok(())
    }

    /// Loads what stands at a location.
    fn load_slot(
        &mut self,
        instr: &Instr,
        slot: Slot,
        scalars: &mut Vec<Value>,
        places: &mut Vec<Option<Varying>>,
    ) -> Result<()> {
        let (location, first, count) = (slot.location, slot.component, slot.count);
        match self.builder.function.stage {
            Stage::Compute => {
                let class = "Input without BuiltIn";
                return Err(instr.unsupported(Feature::StorageClass, class));
            }
            Stage::Vertex(_) if location >= MOST_ATTRIBUTES => {
                let limit = format!("attribute {location}, {MOST_ATTRIBUTES} or more");
                return Err(instr.unsupported(Feature::Limit, limit));
            }
            Stage::Vertex(_) => {
                let attribute = Attribute {
                    location,
                    kind: slot.kind,
                    first,
                    count,
                };
                let op = Op::LoadAttribute(attribute);
                scalars.extend(self.builder.inst(op, &[]));
                places.extend((0..count).map(|_| None));
            }
            Stage::Fragment(_) => {
                // Integers are not interpolated.
                let sampling = match slot.kind {
                    TexelKind::Float => slot.interface.sampling(),
                    TexelKind::Signed | TexelKind::Unsigned => Sampling::Flat,
                };
                let varying = Varying {
                    location,
                    first,
                    count,
                    sampling,
                    noperspective: slot.interface.noperspective && sampling != Sampling::Flat,
                    relaxed: slot.is_relaxed(),
                    half: false,
                };
                scalars.extend(self.builder.inst(Op::LoadVarying(varying), &[]));
                places.extend((0..count).map(|number| {
                    Some(Varying {
                        first: first + number,
                        count: 1,
                        ..varying
                    })
                }));
            }
        }
        Ok(())
    }

    /// A variable of class Output.
    pub(super) fn output(&mut self, id: u32, global: &Global) -> Result<()> {
        let instr = &global.instr;
        if self.builder.function.stage == Stage::Compute {
            return Err(instr.unsupported(Feature::StorageClass, "Output"));
        }
        let interface = Interface::of(self.module.decorations.of(id));
        let pointer = self.private(instr, &global.pointee, &self.name(id))?;
        let parts = parts(instr, &global.pointee, interface)?;
        self.initialize(instr, &pointer, global.initializer)?;
        if global.initializer.is_none() {
            self.begin_alpha(instr, &pointer, &parts)?;
        }
        self.globals.insert(id, Item::Pointer(pointer.clone()));
        self.stage.outputs.push(OutputVariable {
            global: global.clone(),
            pointer,
            parts,
        });
        Ok(())
    }

    /// The alpha of colour 0 is 1 unless the shader says something else.
    fn begin_alpha(&mut self, instr: &Instr, pointer: &Pointer, parts: &[Part]) -> Result<()> {
        if let (Stage::Fragment(_), [Part::Slot(slot)]) = (self.builder.function.stage, parts)
            && (slot.location, slot.interface.index) == (0, 0)
            && slot.kind == TexelKind::Float
            && slot.count == 4
            && let (Target::Local { node, .. }, Type::Vector { component, .. }) =
                (&pointer.target, &*pointer.ty)
        {
            let alpha = Pointer {
                ty: component.clone(),
                target: Target::Local {
                    node: node.clone(),
                    at: Offset {
                        constant: 3,
                        dynamic: None,
                    },
                },
            };
            let one = Composite {
                ty: component.clone(),
                scalars: [self.builder.float(1.0)].into(),
            };
            self.store(instr, &alpha, &one, Memory::Plain)?;
        }
        Ok(())
    }

    /// Stores all outputs that were written, and ends the shader.
    pub(super) fn store_outputs(&mut self) -> Result<()> {
        let stage = self.builder.function.stage;
        let written = self.written_vars();
        let mut stored: Vec<(Output, Vec<Value>)> = vec![];
        let mut slots: BTreeMap<(u8, u8), Location> = BTreeMap::new();
        for variable in std::mem::take(&mut self.stage.outputs) {
            let instr = &variable.global.instr;
            let mut vars = vec![];
            if let Target::Local { node, .. } = &variable.pointer.target {
                vars_of(node, &variable.pointer.ty, &mut vars);
            }
            let value = self.load(instr, &variable.pointer, Memory::Plain)?;
            let mut scalars = &*value.scalars;
            let mut vars = vars.as_slice();
            for part in variable.parts {
                let (own, rest) = scalars.split_at(part.scalars().min(scalars.len()));
                let (own_vars, rest_vars) = vars.split_at(own.len().min(vars.len()));
                (scalars, vars) = (rest, rest_vars);
                let is_written = variable.global.initializer.is_some()
                    || own_vars.iter().any(|var| written.contains(var));
                if !is_written {
                    continue;
                }
                match part {
                    // Whatever it would be, it was tested before.
                    Part::BuiltIn(BuiltIn::FragDepth | BuiltIn::FragStencilRefEXT, _)
                        if stage.fragment().is_some_and(|stage| stage.early_tests) => {}
                    Part::BuiltIn(BuiltIn::ClipDistance, _)
                        if matches!(stage, Stage::Vertex(_)) =>
                    {
                        stored.extend(self.clip_distances(instr, own)?);
                    }
                    Part::BuiltIn(built_in, _) => {
                        let Some(output) = built_ins::output(stage, built_in) else {
                            let name = built_ins::name(built_in);
                            let error = instr.unsupported(Feature::BuiltIn, name);
                            self.refusals.note(instr, error)?;
                            continue;
                        };
                        if own.len() != output.operands().len() {
                            return Err(instr.invalid(Invalid::TypeMismatch));
                        }
                        stored.push((output, own.to_vec()));
                    }
                    Part::Slot(slot) => {
                        let index = slot.interface.index;
                        let index = u8::try_from(index)
                            .map_err(|_| instr.invalid(Invalid::Literal(index)))?;
                        let key = (slot.location, index);
                        slots.entry(key).or_default().add(slot, own);
                    }
                }
            }
        }
        for ((location, index), slot) in slots {
            let output = match stage {
                Stage::Fragment(_) => Output::Color {
                    target: location,
                    index,
                    kind: slot.kind.unwrap_or(TexelKind::Float),
                    relaxed: !slot.precise,
                    half: false,
                },
                Stage::Compute | Stage::Vertex(_) => Output::Varying {
                    location,
                    count: slot.count(),
                    relaxed: !slot.precise,
                },
            };
            if !output.is_possible() {
                let place = &self.module.entry.instr;
                let limit = format!("a colour at location {location}, index {index}");
                return Err(place.unsupported(Feature::Limit, limit));
            }
            let words = (0..output.operands().len()).map(|component| {
                let missing = match output {
                    // Alpha to coverage and blending read it.
                    Output::Color {
                        target: 0,
                        kind: TexelKind::Float,
                        ..
                    } if component == 3 => f32::to_bits(1.0),
                    _ => 0,
                };
                let given = slot.words.get(component).copied().flatten();
                given.unwrap_or_else(|| self.builder.word(missing))
            });
            let words = words.collect();
            stored.push((output, words));
        }
        for (output, words) in stored {
            self.builder.inst(Op::StoreOutput(output), &words);
        }
        self.builder.terminate(Terminator::Return);
        Ok(())
    }

    /// Clip distances as varyings behind all locations.
    fn clip_distances(
        &mut self,
        instr: &Instr,
        distances: &[Value],
    ) -> Result<Vec<(Output, Vec<Value>)>> {
        let count = distances.len();
        if count > MOST_CLIP_DISTANCES {
            let limit = format!("{count} clip distances, more than {MOST_CLIP_DISTANCES}");
            return Err(instr.unsupported(Feature::Limit, limit));
        }
        if let Stage::Vertex(stage) = &mut self.builder.function.stage {
            stage.clip_distances = count as u8;
        }
        let chunks = distances.chunks(4).zip(CLIP_DISTANCES..);
        let stored = chunks.map(|(words, location)| {
            let output = Output::Varying {
                location,
                count: words.len() as u8,
                relaxed: false,
            };
            (output, words.to_vec())
        });
        Ok(stored.collect())
    }

    /// The variables that are stored to, but for what they begin with.
    fn written_vars(&self) -> HashSet<Var> {
        let function = &self.builder.function;
        let prologue = function.entry();
        let stores =
            function
                .placed_insts()
                .filter_map(|(block, inst)| match function.inst(inst).op {
                    Op::StoreVar(var) if block != prologue => Some(var),
                    _ => None,
                });
        stores.collect()
    }

    /// Makes a lane one that only helps its quad.
    pub(crate) fn demote(&mut self, instr: &Instr) -> Result<()> {
        let helper = self.stage.helper;
        let helper = helper.ok_or_else(|| instr.invalid(Invalid::Misplaced))?;
        let (zero, yes) = (self.builder.word(0), self.builder.function.bool(true));
        self.builder.inst(Op::Demote, &[yes]);
        self.builder.store_var(helper, zero, yes);
        Ok(())
    }

    /// Ends a lane: it helps until the end, to which it goes at once.
    pub(super) fn kill(&mut self, instr: &Instr) -> Result<Terminator> {
        self.demote(instr)?;
        if self.frames.len() > 1 {
            let killed = match self.stage.killed {
                Some(killed) => killed,
                None => self.builder.function.new_var(VarData {
                    ty: ir::Type::Bool,
                    len: 1,
                    name: String::new(),
                }),
            };
            self.stage.killed = Some(killed);
            let (zero, yes) = (self.builder.word(0), self.builder.function.bool(true));
            self.builder.store_var(killed, zero, yes);
            self.frame(instr)?.kills = true;
        }
        let continuation = self.give_nothing_back(instr)?;
        Ok(Terminator::Jump(continuation))
    }

    /// Behind a call: lanes that were killed in it leave the calling function too.
    pub(super) fn leave_if_killed(&mut self, instr: &Instr) -> Result<()> {
        let (true, Some(killed)) = (self.stage.callee_kills, self.stage.killed) else {
            return Ok(());
        };
        let zero = self.builder.word(0);
        let condition = self.builder.load_var(killed, zero);
        let then = self.give_nothing_back(instr)?;
        let otherwise = self.builder.function.new_block();
        self.builder.terminate(Terminator::Branch {
            condition,
            then,
            otherwise,
        });
        self.builder.block = otherwise;
        self.frame(instr)?.kills = true;
        Ok(())
    }

    /// A return of zeros from the function at hand, at the block at hand; where to.
    fn give_nothing_back(&mut self, instr: &Instr) -> Result<ir::BlockId> {
        let types = self.frame(instr)?.result.value_types();
        let zeros = types.iter();
        let zeros = zeros.map(|ty| self.builder.function.constant_of(*ty, 0));
        let zeros = zeros.collect();
        let block = self.builder.block;
        let frame = self.frame(instr)?;
        frame.returns.push((block, zeros));
        frame
            .continuation
            .ok_or_else(|| instr.invalid(Invalid::Misplaced))
    }
}

/// What is stored at a location, word by word.
#[derive(Default)]
struct Location {
    words: [Option<Value>; 4],
    kind: Option<TexelKind>,
    /// Whether some of it needs 32 bits.
    precise: bool,
}

impl Location {
    fn add(&mut self, slot: Slot, words: &[Value]) {
        let places = self.words.iter_mut().skip(slot.component.into());
        for (place, word) in places.zip(words) {
            *place = Some(*word);
        }
        self.kind = Some(slot.kind);
        self.precise |= !slot.is_relaxed();
    }

    /// Up to the last word.
    fn count(&self) -> u8 {
        let last = self.words.iter().rposition(Option::is_some);
        last.map_or(0, |last| last as u8 + 1)
    }
}

/// The variables that hold the scalars of a value, in order.
fn vars_of(node: &Local, ty: &Type, out: &mut Vec<Var>) {
    match (node, ty) {
        (Local::Leaf(var), ty) => out.extend((0..ty.scalars()).map(|_| *var)),
        (Local::Struct(parts), Type::Struct { members, .. }) => {
            for (part, member) in parts.iter().zip(members.iter()) {
                vars_of(part, &member.ty, out);
            }
        }
        (Local::Struct(parts), Type::Array { element, .. }) => {
            parts.iter().for_each(|part| vars_of(part, element, out));
        }
        (Local::Struct(_) | Local::Pointer(_), _) => {}
    }
}
