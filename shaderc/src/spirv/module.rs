//! A module: everything outside functions, and the functions that `functions` builds.
//!
//! Needs: instructions of `reader`.  Guarantees: types and constants are built, ids are unique.
//! What isn't supported is refused here unless a function must use it to matter.
//! Functions to which the entry point doesn't come aren't looked into, and what only they use may be of any kind.
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::rc::Rc;

use rspirv::spirv::{AddressingModel, BuiltIn, Decoration, MemoryModel, Op, StorageClass};

use super::capabilities;
use super::constants::{self, Constant};
use super::decorations::DecorationTable;
use super::entry::{EntryPoint, choose_entry};
use super::error::{Error, Feature, Invalid};
use super::functions::SpvFunction;
use super::reach::{Functions, Reach};
use super::reader::{self, Instr, Result};
use super::refusals::Refusals;
use super::types::{self, Type};
use crate::ir::{FragmentStage, Stage, VertexStage};
use crate::options::{Options, ShaderStage};

/// A set of extended instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InstructionSet {
    Glsl,
    /// Instructions without meaning for the result.
    NonSemantic,
    /// One that prints.
    DebugPrintf,
}

/// A variable outside functions.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub instr: Instr,
    pub class: StorageClass,
    pub pointee: Rc<Type>,
    pub initializer: Option<u32>,
}

/// A module that was read.
pub(crate) struct Module {
    pub spec_constants: BTreeMap<u32, u32>,
    pub names: HashMap<u32, String>,
    /// By struct and number.
    pub member_names: HashMap<(u32, u32), String>,
    pub decorations: DecorationTable,
    pub sets: HashMap<u32, InstructionSet>,
    pub globals: Vec<(u32, Global)>,
    pub functions: HashMap<u32, SpvFunction>,
    pub entry: EntryPoint,
    /// What the entry point is run as.
    pub stage: Stage,
    pub workgroup_size: [u32; 3],
    /// The Vulkan memory model, not the one before it.
    pub vulkan_model: bool,
    /// No float operation may be rewritten: zeros keep their signs.
    pub exact: bool,
    /// Fragments are tested before the shader runs and behind it (EarlyAndLateFragmentTestsAMD).
    pub tests_twice: bool,
    strings: HashMap<u32, String>,
    types: HashMap<u32, Rc<Type>>,
    constants: HashMap<u32, Constant>,
    /// By id of a type that is an array or a pointer: the type of what it holds or points to.
    raw_types: HashMap<u32, u32>,
    defined: HashSet<u32>,
    /// By id of a physical pointer's type: the type that it points to.
    pointees: HashMap<u32, u32>,
    /// By id of a result: its type.
    result_types: HashMap<u32, u32>,
    /// What of all this is the entry point's own.
    reach: Reach,
    /// What isn't supported outside functions.
    pub(super) refusals: Refusals,
}

impl Module {
    /// Reads a module for one entry point, and checks what can be checked without looking into functions.
    pub fn read(bytes: &[u8], options: &Options) -> std::result::Result<Module, Vec<Error>> {
        let (stage, name) = (options.stage, options.entry.as_deref());
        let instrs = reader::read(bytes).map_err(|error| vec![*error])?;
        let entry = choose_entry(&instrs, stage, name);
        let function = entry.as_ref().ok().map(|entry| entry.function);
        let functions = Functions::of(&instrs, function);
        let reach = Reach::of(&instrs, &functions, options.bindings);
        let refused = capabilities::refused(&instrs, &functions, &reach, stage);
        if !refused.is_empty() {
            return Err(refused);
        }
        let entry = entry.map_err(|error| vec![*error])?;
        let mut module = Module {
            spec_constants: options.spec_constants.clone(),
            names: HashMap::default(),
            member_names: HashMap::default(),
            vulkan_model: false,
            raw_types: HashMap::default(),
            decorations: DecorationTable::default(),
            sets: HashMap::default(),
            globals: vec![],
            functions: HashMap::default(),
            stage: match stage {
                ShaderStage::Compute => Stage::Compute,
                ShaderStage::Vertex => Stage::Vertex(VertexStage::default()),
                ShaderStage::Fragment => Stage::Fragment(FragmentStage::default()),
            },
            workgroup_size: [0; 3],
            exact: false,
            tests_twice: false,
            entry,
            strings: HashMap::default(),
            types: HashMap::default(),
            constants: HashMap::default(),
            // Nearly every instruction has a result.
            defined: HashSet::with_capacity_and_hasher(instrs.len(), Default::default()),
            pointees: HashMap::default(),
            result_types: HashMap::with_capacity_and_hasher(instrs.len(), Default::default()),
            reach,
            refusals: Refusals::default(),
        };
        match module.build(instrs) {
            Ok(()) => Ok(module),
            Err(error) => Err(module.refusals.with(*error)),
        }
    }

    fn build(&mut self, mut instrs: Vec<Instr>) -> Result<()> {
        for instr in &instrs {
            if instr.op == Op::String {
                let text = instr.string(0)?.0;
                self.strings.insert(instr.result()?, text);
            }
        }
        self.name_lines(&mut instrs);
        let mut body: Option<SpvFunction> = None;
        let mut skipped: Option<Instr> = None;
        for instr in instrs {
            if let Some(id) = instr.result
                && (id == 0 || !self.defined.insert(id))
            {
                return Err(instr.invalid(Invalid::DefinedTwice(id)));
            }
            if let (Some(id), Some(ty)) = (instr.result, instr.ty) {
                self.result_types.insert(id, ty);
            }
            if skipped.is_some() {
                skipped = skipped.filter(|_| instr.op != Op::FunctionEnd);
                continue;
            }
            match (&mut body, instr.op) {
                (None, Op::Function) if !self.reach.has_function(&instr) => skipped = Some(instr),
                (None, Op::Function) => body = Some(self.begin_function(instr)?),
                (None, _) => {
                    // What another entry point uses may be of any kind.
                    if let Err(error) = self.declare(&instr)
                        && self.reach.has(&instr)
                    {
                        self.refusals.note(&instr, error)?;
                    }
                }
                (Some(_), Op::FunctionEnd) => {
                    if let Some(function) = body.take() {
                        self.end_function(function)?;
                    }
                }
                (Some(function), _) => self.add_to_function(function, instr)?,
            }
        }
        if let Some(function) = body.map(|function| function.instr).or(skipped) {
            return Err(function.invalid(Invalid::Unfinished));
        }
        self.find_workgroup_size()
    }

    /// Gives every instruction its line as text, for errors and positions.
    fn name_lines(&self, instrs: &mut [Instr]) {
        for instr in instrs {
            if let Some(line) = instr.line {
                let file = self.strings.get(&line.file).map_or("", String::as_str);
                let text = match line.column {
                    0 => format!("{file}:{}", line.line),
                    column => format!("{file}:{}:{column}", line.line),
                };
                instr.source = Some(text.into());
            }
        }
    }

    /// The text of an OpString.
    pub fn string(&self, id: u32) -> Option<&str> {
        self.strings.get(&id).map(String::as_str)
    }

    /// The variables outside functions that are the entry point's own.
    pub fn own_globals(&self) -> impl Iterator<Item = &(u32, Global)> {
        let globals = self.globals.iter();
        globals.filter(|(id, _)| self.reach.has_variable(*id))
    }

    /// The type with that id.
    pub fn ty(&self, instr: &Instr, id: u32) -> Result<Rc<Type>> {
        match self.types.get(&id) {
            Some(ty) => Ok(ty.clone()),
            None => Err(instr.invalid(self.wanted(id, "a type"))),
        }
    }

    /// The id of a struct's type.
    pub fn type_id(&self, ty: &Rc<Type>) -> Option<u32> {
        let mut types = self.types.iter();
        let found = types.find(|(_, own)| Rc::ptr_eq(own, ty));
        found.map(|(id, _)| *id)
    }

    /// What pointers of the physical pointer type with that id point to.
    pub fn pointee(&self, instr: &Instr, id: u32) -> Result<Rc<Type>> {
        match self.pointees.get(&id) {
            Some(pointee) => self.ty(instr, *pointee),
            None => Err(instr.invalid(self.wanted(id, "a type that is declared"))),
        }
    }

    /// The id of a result's type.
    pub fn type_of(&self, id: u32) -> Option<u32> {
        self.result_types.get(&id).copied()
    }

    /// The id of the block that a pointer to it, or to an array of such, leads to.
    pub fn block_of(&self, pointer: u32) -> Option<u32> {
        let mut at = pointer;
        while let Some(inner) = self.raw_types.get(&at) {
            at = *inner;
        }
        let ty = self.types.get(&at)?;
        matches!(&**ty, Type::Struct { .. }).then_some(at)
    }

    /// Whether shared memory is laid out by its blocks: then all of it is.
    pub fn explicit_workgroup(&self) -> bool {
        let mut shared = self
            .own_globals()
            .filter(|(_, global)| global.class == StorageClass::Workgroup);
        shared.any(|(_, global)| matches!(&*global.pointee, Type::Struct { block: true, .. }))
    }

    /// Whether anything in the module is volatile or coherent.
    pub fn any_volatile(&self) -> bool {
        [Decoration::Volatile, Decoration::Coherent]
            .into_iter()
            .any(|decoration| self.decorations.any(decoration))
    }

    /// The constant with that id.
    pub fn constant(&self, instr: &Instr, id: u32) -> Result<Constant> {
        match self.constants.get(&id) {
            Some(constant) => Ok(constant.clone()),
            None => Err(instr.invalid(self.wanted(id, "a constant"))),
        }
    }

    /// The constant with that id, if it is one.
    pub fn find_constant(&self, id: u32) -> Option<&Constant> {
        self.constants.get(&id)
    }

    /// The bits of a constant integer.
    pub fn constant_word(&self, instr: &Instr, id: u32) -> Result<u32> {
        let constant = self.constant(instr, id)?;
        match (&*constant.ty, &*constant.bits) {
            (Type::Int { .. }, [bits]) => u32::try_from(*bits)
                .map_err(|_| instr.unsupported(Feature::Limit, "a number of more than 32 bits")),
            _ => Err(instr.invalid(Invalid::Wanted(id, "a constant integer"))),
        }
    }

    /// What is wrong with an id that names nothing suitable.
    pub fn wanted(&self, id: u32, what: &'static str) -> Invalid {
        if self.defined.contains(&id) {
            Invalid::Wanted(id, what)
        } else {
            Invalid::UndefinedId(id)
        }
    }

    fn declare(&mut self, instr: &Instr) -> Result<()> {
        match instr.op {
            Op::Capability
            | Op::Extension
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::String
            | Op::ModuleProcessed
            | Op::EntryPoint
            | Op::Nop
            | Op::DecorateString
            | Op::MemberDecorateString
            // Decorations of a group come before the group itself, and those that it is for behind it.
            | Op::DecorationGroup => Ok(()),
            Op::ExtInstImport => {
                let (name, _) = instr.string(0)?;
                let set = match name.as_str() {
                    "GLSL.std.450" => InstructionSet::Glsl,
                    "NonSemantic.DebugPrintf" => InstructionSet::DebugPrintf,
                    _ if name.starts_with("NonSemantic.") => InstructionSet::NonSemantic,
                    _ => return Err(instr.unsupported(Feature::InstructionSet, name)),
                };
                self.sets.insert(instr.result()?, set);
                Ok(())
            }
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => match self.sets.get(&instr.word(0)?) {
                Some(InstructionSet::NonSemantic | InstructionSet::DebugPrintf) => Ok(()),
                _ => Err(instr.invalid(Invalid::Misplaced)),
            },
            Op::MemoryModel => {
                self.vulkan_model = instr.word(1)? == MemoryModel::Vulkan as u32;
                check_model(instr)
            }
            Op::ExecutionMode | Op::ExecutionModeId => self.execution_mode(instr),
            Op::MemberName => {
                let (name, _) = instr.string(2)?;
                let member = (instr.word(0)?, instr.word(1)?);
                self.member_names.insert(member, name);
                Ok(())
            }
            Op::Name => {
                let (name, _) = instr.string(1)?;
                self.names.insert(instr.word(0)?, name);
                Ok(())
            }
            Op::Decorate | Op::DecorateId => {
                let (id, decoration) = (instr.word(0)?, instr.word(1)?);
                self.decorations.decorate(id, decoration, instr.rest(2));
                Ok(())
            }
            Op::MemberDecorate => {
                let (id, member, decoration) = (instr.word(0)?, instr.word(1)?, instr.word(2)?);
                self.decorations
                    .decorate_member(id, member, decoration, instr.rest(3));
                Ok(())
            }
            Op::GroupDecorate => {
                let group = instr.word(0)?;
                for id in instr.rest(1) {
                    self.decorations.decorate_as(group, *id);
                }
                Ok(())
            }
            Op::GroupMemberDecorate => {
                let group = instr.word(0)?;
                for pair in instr.rest(1).chunks(2) {
                    let [id, member] = *pair else {
                        return Err(instr.invalid(Invalid::MissingOperand));
                    };
                    self.decorations.decorate_member_as(group, id, member);
                }
                Ok(())
            }
            Op::Variable => self.global(instr),
            op if constants::is_constant(op) => {
                let constant = constants::declare(self, instr)?;
                self.constants.insert(instr.result()?, constant);
                Ok(())
            }
            Op::TypeForwardPointer => {
                // The struct that holds it stands before its own declaration.
                let id = instr.word(0)?;
                self.types.insert(id, Rc::new(Type::Address { id }));
                Ok(())
            }
            _ if instr.name().starts_with("Type") && instr.result.is_some() => {
                let ty = types::declare(self, instr)?;
                let inner = match instr.op {
                    Op::TypePointer => instr.operands.get(1),
                    Op::TypeArray | Op::TypeRuntimeArray => instr.operands.first(),
                    _ => None,
                };
                if let (Some(id), Some(inner)) = (instr.result, inner) {
                    self.raw_types.insert(id, *inner);
                }
                if let Type::Address { id } = ty {
                    self.pointees.insert(id, instr.word(1)?);
                }
                self.types.insert(instr.result()?, Rc::new(ty));
                Ok(())
            }
            _ => Err(instr.invalid(Invalid::Misplaced)),
        }
    }

    fn global(&mut self, instr: &Instr) -> Result<()> {
        let ty = self.ty(instr, instr.result_type()?)?;
        let Type::Pointer { class, pointee } = &*ty else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        if instr.word(0)? != *class as u32 || *class == StorageClass::Function {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let global = Global {
            instr: instr.clone(),
            class: *class,
            pointee: pointee.clone(),
            initializer: instr.operands.get(1).copied(),
        };
        self.globals.push((instr.result()?, global));
        Ok(())
    }

    fn find_workgroup_size(&mut self) -> Result<()> {
        if self.stage != Stage::Compute {
            self.workgroup_size = [1; 3];
            return Ok(());
        }
        let instr = self.entry.instr.clone();
        if let Some(size) = &self.entry.size {
            for axis in 0..3 {
                self.workgroup_size[axis] = self.constant_word(size, size.word(2 + axis)?)?;
            }
        }
        let mut sizes = self.decorations.with(Decoration::BuiltIn);
        // A constant; naga writes a variable, of GLSL's gl_WorkGroupSize, which has the size of the execution mode.
        let size = sizes.find(|(id, builtin)| {
            let is_variable = || self.globals.iter().any(|(global, _)| global == id);
            *builtin == BuiltIn::WorkgroupSize as u32 && !is_variable()
        });
        if let Some((id, _)) = size {
            let constant = self.constant(&instr, id)?;
            let bits: [u64; 3] = (&*constant.bits)
                .try_into()
                .map_err(|_| instr.invalid(Invalid::WorkgroupSize))?;
            self.workgroup_size = bits.map(|size| size as u32);
        }
        let total = self
            .workgroup_size
            .iter()
            .fold(1u64, |total, size| total.saturating_mul((*size).into()));
        match total {
            0 => Err(instr.invalid(Invalid::WorkgroupSize)),
            1..=1024 => Ok(()),
            _ => Err(instr.unsupported(Feature::Limit, format!("a workgroup of {total}"))),
        }
    }
}

fn check_model(instr: &Instr) -> Result<()> {
    let (addressing, memory) = (instr.word(0)?, instr.word(1)?);
    match AddressingModel::from_u32(addressing) {
        Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64) => {}
        Some(model) => return Err(instr.unsupported(Feature::Model, format!("{model:?}"))),
        None => return Err(instr.invalid(Invalid::Literal(addressing))),
    }
    match MemoryModel::from_u32(memory) {
        Some(MemoryModel::GLSL450 | MemoryModel::Vulkan) => Ok(()),
        Some(model) => Err(instr.unsupported(Feature::Model, format!("{model:?}"))),
        None => Err(instr.invalid(Invalid::Literal(memory))),
    }
}
