//! The translator: blocks in reverse postorder, ids to values and pointers; functions are inlined (`calls`).
//!
//! Needs: a module.  Guarantees: bounded: the number of instructions has a limit.
//! Of merge instructions the loops' merges are kept, from which `ir::layout` derives the order of blocks; the flow must
//! be reducible, which `verify` checks afterwards.  Facts: hardware/compiler-ir.md 1.3; hardware/compiler-isel.md 15.

use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

use rspirv::spirv::{Decoration, Op};

use super::Translated;
use super::error::{Error, Feature, Invalid, Warning};
use super::functions::SpvBlock;
use super::glsl;
use super::module::{InstructionSet, Module};
use super::observe::Root;
use super::ops;
use super::pointer::{Opaque, Pointer};
use super::printf::Printf;
use super::reader::{Instr, Result};
use super::refusals::Refusals;
use super::stage_interface;
use super::stage_interface::StageState;
use super::types::{ImageType, Type};
use crate::color_state::InputPlace;
use crate::ir::{self, BlockId, Builder, Function, Kind, Position, PositionId, SourceLine, Value};
use crate::options::{DescriptorCounts, Options};
use crate::target::Limits;

/// Most instructions of the function that results from inlining.
const MAX_INSTRUCTIONS: usize = 1 << 17;

/// A value of any type, as its scalars in order.
#[derive(Clone, Debug)]
pub(crate) struct Composite {
    pub ty: Rc<Type>,
    pub scalars: Rc<[Value]>,
}

/// What an id names inside a function.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Value(Composite),
    Pointer(Pointer),
    /// An image, with a sampler if it is a sampled image.
    Image(Image, Option<Value>),
    /// A sampler.
    Sampler(Value),
}

/// An image that was loaded.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub ty: ImageType,
    pub opaque: Opaque,
}

/// A phi whose sources are filled in when all blocks of the function are translated.
pub(super) struct PendingPhi {
    pub instr: Instr,
    pub block: BlockId,
    pub results: Rc<[Value]>,
}

/// A function that is being translated at one place of call.
pub(crate) struct Frame {
    pub(super) function: u32,
    pub(super) items: HashMap<u32, Item>,
    /// First block of each label.
    pub starts: HashMap<u32, BlockId>,
    /// Block in which the translation of each label's block ended.
    pub ends: HashMap<u32, BlockId>,
    pub phis: Vec<PendingPhi>,
    /// Where to go on after it; none for the entry point.
    pub continuation: Option<BlockId>,
    pub returns: Vec<(BlockId, Rc<[Value]>)>,
    /// Whether lanes may be killed in it.
    pub kills: bool,
    pub result: Rc<Type>,
    /// What is known of pointers and images by id, for notes.
    pub(super) roots: HashMap<u32, Root>,
    /// Where it is called; none of the entry point.
    pub(super) call: Option<PositionId>,
}

/// Translates one entry point.
pub(crate) struct Translator<'m> {
    pub module: &'m Module,
    pub builder: Builder<'m>,
    pub globals: HashMap<u32, Item>,
    /// Of the machine.
    pub limits: Limits,
    /// Whether it has scans, and the value of the first lane.
    pub has_scans: bool,
    /// Lengths of unsized arrays of descriptors.
    pub descriptor_counts: &'m DescriptorCounts,
    /// By InputAttachmentIndex, what holds input attachments.
    pub input_places: &'m [Option<InputPlace>],
    /// Bindings of input attachments, and the index that each begins with.
    pub input_attachments: BTreeMap<u32, u32>,
    pub(super) frames: Vec<Frame>,
    /// What a vertex or fragment shader has beside its code.
    pub(super) stage: StageState,
    pub(super) refusals: Refusals,
    warnings: Vec<Warning>,
    pub(super) printf: Printf,
    /// Whether notes are kept.
    pub(crate) notes: bool,
    /// What is known of the arguments of the next call.
    pub(super) argument_roots: HashMap<u32, Root>,
}

/// Translates a module's entry point.
pub(crate) fn translate(
    module: &Module,
    options: &Options,
) -> std::result::Result<Translated, Vec<Error>> {
    let mut function = Function::new(&module.entry.name);
    function.workgroup_size = module.workgroup_size;
    function.stage = stage_interface::stage(module, options);
    function.lanes = options.target.lanes;
    let prologue = function.new_block();
    let mut translator = Translator {
        module,
        builder: Builder::new(&mut function, prologue),
        globals: HashMap::default(),
        limits: options.target.limits,
        has_scans: options.target.has_scans(),
        descriptor_counts: &options.descriptor_counts,
        input_places: &options.colors.inputs,
        input_attachments: BTreeMap::new(),
        frames: vec![],
        stage: StageState::default(),
        refusals: module.refusals.clone(),
        warnings: vec![],
        printf: Printf::new(options.printf),
        notes: options.notes,
        argument_roots: HashMap::default(),
    };
    let done = translator.entry();
    let (refusals, warnings) = (translator.refusals, translator.warnings);
    let printf = translator.printf.calls;
    match done {
        Ok(()) => refusals.finish()?,
        Err(error) => return Err(refusals.with(*error)),
    }
    ir::layout::order_blocks(&mut function);
    Ok(Translated {
        function,
        warnings,
        printf,
    })
}

impl Translator<'_> {
    /// Translates the entry point with all that it calls.
    fn entry(&mut self) -> Result<()> {
        self.declare_globals()?;
        if self.notes {
            self.name_globals();
        }
        let module = self.module;
        let entry = module.functions.get(&module.entry.function);
        let entry = entry.ok_or_else(|| {
            let wanted = module.wanted(module.entry.function, "a function");
            module.entry.instr.invalid(wanted)
        })?;
        if !entry.parameters.is_empty() || *entry.result != Type::Void {
            return Err(entry.instr.invalid(Invalid::TypeMismatch));
        }
        // What a vertex or fragment shader hands on, it stores behind all its returns.
        let end = match self.builder.function.stage {
            ir::Stage::Compute => None,
            ir::Stage::Vertex(_) | ir::Stage::Fragment(_) => {
                Some(self.builder.function.new_block())
            }
        };
        self.function(module.entry.function, entry, vec![], end)?;
        if end.is_some() {
            self.store_outputs()?;
        }
        Ok(())
    }

    /// The function that is being translated.
    pub fn frame(&mut self, instr: &Instr) -> Result<&mut Frame> {
        self.frames
            .last_mut()
            .ok_or_else(|| instr.invalid(Invalid::Misplaced))
    }

    /// What an id names.
    pub fn item(&mut self, instr: &Instr, id: u32) -> Result<Item> {
        let local = self.frames.last().and_then(|frame| frame.items.get(&id));
        if let Some(item) = local.or_else(|| self.globals.get(&id)) {
            return Ok(item.clone());
        }
        let Some(constant) = self.module.find_constant(id) else {
            return Err(instr.invalid(self.module.wanted(id, "a value that is defined before")));
        };
        let types = constant.ty.flatten();
        let scalars = types
            .iter()
            .zip(constant.bits.iter())
            .map(|(ty, bits)| self.builder.function.constant_of(*ty, *bits));
        Ok(Item::Value(Composite {
            ty: constant.ty.clone(),
            scalars: scalars.collect(),
        }))
    }

    /// The value of an id.
    pub fn composite(&mut self, instr: &Instr, id: u32) -> Result<Composite> {
        match self.item(instr, id)? {
            Item::Value(composite) => Ok(composite),
            Item::Pointer(pointer) => self.value_of(instr, id, &pointer),
            Item::Image(..) | Item::Sampler(_) => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// The value of the operand with that index.
    pub fn operand(&mut self, instr: &Instr, index: usize) -> Result<Composite> {
        self.composite(instr, instr.word(index)?)
    }

    /// The single scalar of an operand that must have that type.
    pub fn scalar(&mut self, instr: &Instr, index: usize, ty: ir::Type) -> Result<Value> {
        let composite = self.operand(instr, index)?;
        match *composite.scalars {
            [value] if self.builder.function.ty(value) == ty => Ok(value),
            _ => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// The single integer of an operand, as one of 32 bits.
    pub fn integer(&mut self, instr: &Instr, index: usize) -> Result<Value> {
        let composite = self.operand(instr, index)?;
        match (&*composite.ty, &*composite.scalars) {
            (Type::Int { signed, .. }, [value]) => {
                Ok(ops::convert::to_word(&mut self.builder, *value, *signed))
            }
            _ => Err(instr.invalid(Invalid::TypeMismatch)),
        }
    }

    /// The pointer that an operand names.
    pub fn pointer(&mut self, instr: &Instr, index: usize) -> Result<Pointer> {
        let id = instr.word(index)?;
        match self.item(instr, id)? {
            Item::Pointer(pointer) => Ok(pointer),
            Item::Value(value) => match self.place_of(instr, &value)? {
                Some(pointer) => Ok(pointer),
                None => Err(instr.invalid(Invalid::Wanted(id, "a pointer"))),
            },
            Item::Image(..) | Item::Sampler(_) => {
                Err(instr.invalid(Invalid::Wanted(id, "a pointer")))
            }
        }
    }

    /// The result type of an instruction.
    pub fn result_type(&self, instr: &Instr) -> Result<Rc<Type>> {
        self.module.ty(instr, instr.result_type()?)
    }

    /// Gives the result of an instruction its scalars, which must fit its type.
    pub fn define(&mut self, instr: &Instr, scalars: impl Into<Rc<[Value]>>) -> Result<()> {
        let ty = self.result_type(instr)?;
        let types = ty.value_types();
        let scalars = scalars.into();
        let function = &self.builder.function;
        if !types
            .iter()
            .copied()
            .eq(scalars.iter().map(|value| function.ty(*value)))
        {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        self.define_item(instr, Item::Value(Composite { ty, scalars }))
    }

    /// Gives the result of an instruction its meaning.
    pub fn define_item(&mut self, instr: &Instr, item: Item) -> Result<()> {
        let id = instr.result()?;
        self.frame(instr)?.items.insert(id, item);
        Ok(())
    }

    pub(super) fn block(&mut self, block: &SpvBlock) -> Result<()> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        self.builder.block = frame.starts[&block.label];
        for instr in &block.instrs {
            self.builder.position = self.position(instr);
            let decorations = instr.result.map(|id| self.module.decorations.of(id));
            self.builder.exact = self.module.exact
                || decorations.is_some_and(|list| list.has(Decoration::NoContraction));
            if self.builder.function.inst_count() > MAX_INSTRUCTIONS {
                let limit = format!("a program of more than {MAX_INSTRUCTIONS} instructions");
                return Err(instr.unsupported(Feature::Limit, limit));
            }
            let before = self.builder.function.inst_count();
            let done = self.instr(instr).and_then(|()| {
                if self.notes && instr.op != Op::FunctionCall {
                    self.observe(instr, before)?;
                }
                if self.notes {
                    self.name_result(instr);
                }
                Ok(())
            });
            if let Err(error) = done.and_then(|()| self.check_effects(instr, before)) {
                self.refuse(instr, error)?;
            }
        }
        let end = self.builder.block;
        if let Some(frame) = self.frames.last_mut() {
            frame.ends.insert(block.label, end);
        }
        Ok(())
    }

    /// Notes what isn't supported, and gives its result a value so that what follows can be looked at.
    fn refuse(&mut self, instr: &Instr, error: Box<Error>) -> Result<()> {
        // What went wrong in a function was noted there; what comes out of it can't be gone on from.
        if instr.op == Op::FunctionCall {
            return Err(error);
        }
        self.refusals.note(instr, error)?;
        let ty = instr.ty.and_then(|id| self.module.ty(instr, id).ok());
        if let (Some(id), Some(ty)) = (instr.result, ty.filter(|ty| ty.is_value())) {
            let types = ty.flatten();
            // A pointer would have to lead somewhere.
            if types.contains(&ir::Type::Resource) || matches!(*ty, Type::Pointer { .. }) {
                return Ok(());
            }
            let zeros = types
                .iter()
                .map(|ty| self.builder.function.constant_of(*ty, 0));
            let scalars = zeros.collect();
            self.define_item(instr, Item::Value(Composite { ty, scalars }))?;
            self.refusals.give_meaning(id);
        }
        Ok(())
    }

    pub(super) fn position(&mut self, instr: &Instr) -> PositionId {
        let source = instr.line.map(|line| SourceLine {
            file: self.module.string(line.file).unwrap_or("").to_owned(),
            line: line.line,
            column: line.column,
        });
        self.builder.function.position_id(Position {
            offset: instr.offset,
            id: instr.result,
            source,
            call: self.frames.last().and_then(|frame| frame.call),
        })
    }

    fn instr(&mut self, instr: &Instr) -> Result<()> {
        if let Some(recipe) = ops::scalar::recipe(instr.op) {
            return self.by_component(instr, recipe);
        }
        match instr.op {
            Op::Nop
            | Op::Line
            | Op::NoLine
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::Name
            | Op::ModuleProcessed => Ok(()),
            Op::Phi => self.phi(instr),
            Op::FunctionCall => self.call(instr),
            Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable => self.terminator(instr),
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                let set = instr.word(0)?;
                match self.module.sets.get(&set) {
                    Some(InstructionSet::Glsl) => glsl::instr(self, instr),
                    Some(InstructionSet::NonSemantic) => Ok(()),
                    Some(InstructionSet::DebugPrintf) if self.prints() => self.print(instr),
                    Some(InstructionSet::DebugPrintf) => {
                        let place = instr.place();
                        let what = "`debugPrintfEXT` prints nothing here: it is left out";
                        let warning = Warning { place, what };
                        // A function that is called several times is looked at as often.
                        if !self.warnings.contains(&warning) {
                            self.warnings.push(warning);
                        }
                        Ok(())
                    }
                    None => Err(instr.invalid(self.module.wanted(set, "an instruction set"))),
                }
            }
            op => {
                let done = ops::memory::instr(self, instr, op)?
                    || super::address::instr(self, instr, op)?
                    || ops::convert::instr(self, instr, op)?
                    || ops::composite::instr(self, instr, op)?
                    || ops::algebra::instr(self, instr, op)?
                    || ops::integer::instr(self, instr, op)?
                    || ops::group::instr(self, instr, op)?
                    || ops::atomic::instr(self, instr, op)?
                    || ops::barrier::instr(self, instr, op)?
                    || ops::image::instr(self, instr, op)?
                    || ops::quad::instr(self, instr, op)?;
                match done {
                    true => Ok(()),
                    false => {
                        Err(instr.unsupported(Feature::Instruction, format!("Op{}", instr.name())))
                    }
                }
            }
        }
    }

    fn by_component(&mut self, instr: &Instr, recipe: ops::scalar::Recipe) -> Result<()> {
        let mut operands = vec![];
        for index in 0..recipe.operands {
            let composite = self.operand(instr, index)?;
            let kind = recipe.operand(index);
            if !is_of(&composite.ty, kind) {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            operands.push(match kind {
                // An amount, of whatever width.
                Kind::W32 => {
                    let words = composite.scalars.iter();
                    let words = words
                        .map(|value| ops::convert::fit(&mut self.builder, *value, ir::Type::W32));
                    Composite {
                        ty: composite.ty.clone(),
                        scalars: words.collect(),
                    }
                }
                _ => composite,
            });
        }
        // All that have the instruction's width must have the same.
        let own = (0..recipe.operands).filter(|index| recipe.operand(*index).is_common());
        let mut own = own.map(|index| operands[index].ty.component().scalar());
        let width = own.next();
        if own.any(|other| Some(other) != width) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let ty = self.result_type(instr)?;
        let count = ty.scalars() as usize;
        let same = |operand: &Composite| operand.scalars.len() == count;
        if !is_of(&ty, recipe.result()) || !operands.iter().all(same) {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let results = (0..count).map(|component| {
            let args: Vec<Value> = operands
                .iter()
                .map(|operand| operand.scalars[component])
                .collect();
            let value = recipe.build(&mut self.builder, &args);
            match (recipe.result(), ty.component().scalar()) {
                // A count, whatever the width that is wanted.
                (Kind::W32, Some(wanted)) => ops::convert::fit(&mut self.builder, value, wanted),
                _ => value,
            }
        });
        let results: Rc<[Value]> = results.collect();
        self.define(instr, results)
    }
}

/// Whether a type is a scalar or vector of that kind.
fn is_of(ty: &Type, kind: Kind) -> bool {
    match kind {
        Kind::B => *ty.component() == Type::Bool,
        Kind::T => ty.component().scalar().is_some(),
        kind if kind.is_float() => matches!(ty.component(), Type::Float { .. }),
        _ => matches!(ty.component(), Type::Int { .. }),
    }
}
