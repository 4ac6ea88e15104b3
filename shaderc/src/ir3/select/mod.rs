//! Instruction selection: from lowered IR to machine IR in SSA form.
//!
//! Needs: `ir::verify::lowered` holds.  Guarantees: the same blocks in the same order; constants stand as
//! `Operand::Constant` wherever they occur, for `legalise` to place; what a branch asks is a predicate that its own block
//! writes.
//! A boolean is 0 or 1 in a full register, and in a half one, too, where halves are selected by it. An instruction is as wide
//! as the values of its operation. It absorbs what it can read through: sign changes and complements of its sources,
//! products that are added to, shifts that feed masks, a saturation or another width that follows. What was absorbed
//! everywhere is left for `remove_dead`.  Facts: hardware/ir3-isa.md 10 to 15.

mod alu;
mod atomic;
mod bits;
mod boolean;
mod control;
mod float;
mod halves;
mod image;
mod index;
mod integer;
mod lanes;
mod memory;
mod sysval;
mod width;

pub(super) use self::sysval::{LOCAL_ID, WORKGROUP_ID};

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use super::constants;
use super::descriptors;
use super::error::Unsupported;
use super::mir::{
    Block, BlockId, Class, Function, Instr, Location, Op, Operand, Register, Source, Space,
    Terminator, Value, Word,
};
use crate::ir::cfg::Cfg;
use crate::ir::uniformity::Uniformity;
use crate::ir::{self, InstData};
use crate::machine::Origin;
use eitri_ir3_isa::device::Parts;
use eitri_ir3_program::ConstLayout;

/// State of a selection.
struct Selector<'a> {
    ir: &'a ir::Function,
    /// What the device has.
    parts: &'a Parts,
    function: Function,
    /// What stands where in the const file, but for immediates.
    constants: ConstLayout,
    /// By IR value: the word that it is. Made when first asked for, which for a loop's phi is before its definition.
    words: Vec<Option<Value>>,
    /// By IR value of 64 bits that an instruction gives: its words, low and high.
    wide: HashMap<ir::Value, [Word; 2]>,
    /// By IR value: the instructions that read it, and how often anything does.
    users: Vec<Users>,
    /// By binding: the number of its first descriptor in its set.
    descriptors: Vec<u32>,
    /// By IR block: its place in the layout.
    places: HashMap<ir::BlockId, BlockId>,
    preloads: BTreeMap<Register, Value>,
    /// Element numbers of byte offsets that this block has: by offset.
    indices: HashMap<ir::Value, Operand>,
    /// IR values whose instruction another one has already computed.
    done: Vec<bool>,
    /// By IR boolean: the half register that has it, too, for selections of halves.
    half_booleans: HashMap<ir::Value, Word>,
    /// What the block's end asks: the IR value, and whether its opposite is asked.
    asked: Option<(ir::Value, bool)>,
    /// The predicate that holds it, once there is one.
    predicate: Option<Value>,
    /// What lanes have in common.
    uniformity: Uniformity,
    /// By IR block: whether all lanes of a wave run it together.
    whole: HashMap<ir::BlockId, bool>,
    /// Whether they do so with the block at hand, and all waves have whole quads.
    is_whole: bool,
    /// What has no code.
    refused: Vec<Unsupported>,
    position: ir::PositionId,
    location: Location,
    block: BlockId,
}

/// Who reads a value.
#[derive(Clone, Default)]
struct Users {
    insts: Vec<ir::Inst>,
    /// Phis and terminators.
    others: usize,
}

/// Selects instructions for a function.
///
/// # Errors
/// All that has no code; nothing in particular where the uniform values exceed the const file.
pub(super) fn select(ir: &ir::Function, parts: &Parts) -> Result<Function, Vec<Unsupported>> {
    let extra = constants::needs(ir);
    let Some(constants) = extra.layout() else {
        return Err(Vec::new());
    };
    let cfg = Cfg::new(ir);
    let uniformity = Uniformity::new(ir, &cfg);
    let whole = whole_blocks(ir, &cfg, &uniformity);
    let mut selector = Selector {
        ir,
        parts,
        function: Function {
            scratch_bytes: ir.scratch_bytes,
            extra,
            ..Function::default()
        },
        constants,
        words: vec![None; ir.value_count()],
        wide: HashMap::default(),
        users: find_users(ir),
        descriptors: descriptors::number(&ir.bindings),
        places: ir
            .layout
            .iter()
            .enumerate()
            .map(|(place, &block)| (block, BlockId(place as u32)))
            .collect(),
        preloads: BTreeMap::new(),
        indices: HashMap::default(),
        done: vec![false; ir.value_count()],
        half_booleans: HashMap::default(),
        asked: None,
        predicate: None,
        uniformity,
        whole,
        is_whole: false,
        refused: Vec::new(),
        position: ir::PositionId::UNKNOWN,
        location: Location::default(),
        block: BlockId(0),
    };
    selector.run();
    match selector.refused.is_empty() {
        true => Ok(selector.function),
        false => Err(selector.refused),
    }
}

impl Users {
    /// How often anything reads it.
    fn len(&self) -> usize {
        self.insts.len() + self.others
    }
}

/// By block: whether all lanes of a wave come to it together, since all that may come before do so and don't part them.
fn whole_blocks(
    ir: &ir::Function,
    cfg: &Cfg,
    uniformity: &Uniformity,
) -> HashMap<ir::BlockId, bool> {
    let mut whole: HashMap<ir::BlockId, bool> =
        ir.layout.iter().map(|&block| (block, true)).collect();
    loop {
        let mut changed = false;
        for &block in cfg.rpo() {
            let together =
                |from: &ir::BlockId| whole.get(from) == Some(&true) && !uniformity.parts(*from);
            if whole.get(&block) == Some(&true) && !cfg.predecessors(block).iter().all(together) {
                whole.insert(block, false);
                changed = true;
            }
        }
        if !changed {
            return whole;
        }
    }
}

fn find_users(ir: &ir::Function) -> Vec<Users> {
    let mut users = vec![Users::default(); ir.value_count()];
    for (_, inst) in ir.placed_insts() {
        ir.inst(inst)
            .args
            .iter()
            .for_each(|arg| users[arg.index()].insts.push(inst));
    }
    for block in ir.layout.iter().map(|&block| ir.block(block)) {
        let phis = block
            .phis
            .iter()
            .flat_map(|phi| phi.sources.iter().map(|&(_, value)| value));
        phis.chain(block.terminator.operand())
            .for_each(|value| users[value.index()].others += 1);
    }
    users
}

impl Selector<'_> {
    fn run(&mut self) {
        for binding in &self.ir.bindings {
            self.check_binding(binding);
        }
        for _ in &self.ir.layout {
            self.function.blocks.push(Block::new(Terminator::End));
        }
        for (place, &block) in self.ir.layout.iter().enumerate() {
            self.block = BlockId(place as u32);
            self.indices.clear();
            let invocations: u32 = self.ir.workgroup_size.iter().product();
            self.is_whole = self.whole.get(&block) == Some(&true) && invocations.is_multiple_of(4);
            self.find_asked(block);
            for &inst in &self.ir.block(block).insts {
                self.inst(inst);
            }
            self.set_position(self.ir.block(block).position, Origin::end(block));
            self.function.blocks[place].end = self.location;
            self.block_end(block);
        }
        self.finish_preloads();
    }

    fn inst(&mut self, inst: ir::Inst) {
        let data = self.ir.inst(inst);
        self.set_position(data.position, Origin::inst(inst));
        if data
            .results
            .first()
            .is_some_and(|result| self.done[result.index()])
        {
            return;
        }
        match data.op {
            ir::Op::Alu(alu) => self.alu(alu, data),
            ir::Op::Lanes(lanes) => self.lanes(lanes, data),
            ir::Op::Ballot(_) => self.ballot(data),
            ir::Op::Scan(combine, form) => self.scan(combine, form, data),
            ir::Op::SysVal(sysval) => self.sysval(sysval, data.results[0]),
            // Users read the const file itself.
            ir::Op::Uniform(uniform) if !uniform.stages().has(ir::Stage::Compute) => {
                self.refuse("words of a draw");
            }
            ir::Op::Uniform(_) => {}
            ir::Op::Resource(binding) => self.resource(binding, data),
            // Whoever reads the words reads them in the const file.
            ir::Op::Load(_) if self.is_in_const_file(data) => {}
            ir::Op::Load(access) => self.load(access, data),
            ir::Op::Store(access) => self.store(access, data),
            ir::Op::Atomic(atomic, access) => self.atomic(atomic, access, data),
            ir::Op::Barrier => {
                self.fence(ir::Spaces::ALL);
                self.emit(Instr::new(Op::Barrier));
            }
            ir::Op::Fence(spaces) => self.fence(spaces),
            ir::Op::Image(image) => self.image(image, data),
            ir::Op::BufferSize => self.buffer_size(data),
            ir::Op::LoadAttribute(_)
            | ir::Op::LoadVarying(_)
            | ir::Op::FragW(_)
            | ir::Op::LoadTile(_)
            | ir::Op::StoreOutput(_)
            | ir::Op::Demote => self.refuse(&self.ir.show_inst(inst)),
            ir::Op::LoadVar(_) => self.refuse("load_var"),
            ir::Op::StoreVar(_) => self.refuse("store_var"),
        }
    }

    /// Whether all that a load gives stands in the const file.
    fn is_in_const_file(&self, data: &InstData) -> bool {
        constants::uniform_load(self.ir, data)
            .is_some_and(|it| self.uniform_of_buffer(it.binding, it.offset).is_some())
    }

    /// Orders memories: those of one space, or of all that others see. A fence behind which nothing is accessed does it.
    fn fence(&mut self, spaces: ir::Spaces) {
        if spaces.is_empty() {
            return;
        }
        let space = spaces.single(Space::Buffer, Space::Shared);
        let instrs = self.function.blocks[self.block.index()].instrs.iter_mut();
        match instrs.rev().find(|instr| instr.op != Op::Barrier) {
            Some(last) if last.op == Op::Fence => {
                last.space = last.space.filter(|_| last.space == space)
            }
            _ => self.emit(Instr {
                space,
                ..Instr::new(Op::Fence)
            }),
        }
    }

    /// Notes that the instruction at hand has no code.
    fn refuse(&mut self, what: &str) {
        self.refused.push(Unsupported {
            what: what.to_owned(),
            position: self.ir.position(self.position).clone(),
        });
    }

    fn set_position(&mut self, position: ir::PositionId, origin: Origin) {
        self.position = position;
        self.location = match &self.ir.position(position).source {
            Some(line) => {
                let files = &mut self.function.files;
                let known = files.iter().position(|file| *file == line.file);
                let file = known.unwrap_or_else(|| {
                    files.push(line.file.clone());
                    files.len() - 1
                });
                Location {
                    file: file as u32,
                    line: line.line,
                    origin,
                }
            }
            None => Location {
                origin,
                ..Location::default()
            },
        };
    }

    /// Appends an instruction to the block.
    fn emit(&mut self, instr: Instr) {
        let location = self.location;
        self.function.blocks[self.block.index()]
            .instrs
            .push(Instr { location, ..instr });
    }

    /// A new word of a class.
    fn new_word(&mut self, class: Class) -> Word {
        Word::Value(self.function.new_value_of(class))
    }

    /// An instruction's result in a new word of a class.
    fn put_in(&mut self, class: Class, instr: Instr) -> Source {
        let dest = self.new_word(class);
        self.emit(instr.to(dest));
        Source::word(dest)
    }

    /// `op` on `sources` into a new full register.
    fn compute(&mut self, op: Op, sources: &[Source]) -> Source {
        self.put_in(Class::Full, Instr::on(op, sources))
    }

    /// An instruction that defines an IR value; `instr` needs no destination yet.
    fn define(&mut self, value: ir::Value, instr: Instr) {
        let dest = Word::Value(self.word(value));
        self.emit(instr.to(dest));
    }

    /// An IR value is what a source reads.
    fn define_as(&mut self, value: ir::Value, source: Source) {
        let dest = Word::Value(self.word(value));
        self.emit(Instr::moved(dest, source, self.class(value)));
    }

    /// The word of an IR value that is not a constant.
    fn word(&mut self, value: ir::Value) -> Value {
        let class = self.class(value);
        *self.words[value.index()].get_or_insert_with(|| self.function.new_value_of(class))
    }

    /// The registers that an IR value may have.
    fn class(&self, value: ir::Value) -> Class {
        match self.ir.ty(value) {
            ir::Type::W16 => Class::Half,
            _ => Class::Full,
        }
    }

    /// Whether an operation is one on halves.
    fn is_half(&self, data: &InstData) -> bool {
        self.ir.width(data) == ir::Type::W16
    }

    /// `op` on registers of the width that an operation has.
    fn on(&self, data: &InstData, op: Op, sources: &[Source]) -> Instr {
        Instr {
            half: self.is_half(data),
            ..Instr::on(op, sources)
        }
    }

    /// What stands for an IR value where an instruction reads it.
    fn operand(&mut self, value: ir::Value) -> Operand {
        match self.ir.def(value) {
            ir::ValueDef::Word(bits) => Operand::Constant(bits as u32),
            ir::ValueDef::Bool(truth) => Operand::Constant(truth.into()),
            ir::ValueDef::Result(..) => match self.uniform(value) {
                Some(number) => Operand::Const(number),
                None => Operand::Word(Word::Value(self.word(value))),
            },
            ir::ValueDef::Phi(_) => Operand::Word(Word::Value(self.word(value))),
        }
    }

    /// The word of the const file that an IR value is.
    fn uniform(&self, value: ir::Value) -> Option<u16> {
        if let Some((binding, offset)) = constants::uniform_word(self.ir, value) {
            return self.uniform_of_buffer(binding, offset);
        }
        let ir::Op::Uniform(uniform) = self.ir.def_inst(value)?.op else {
            return None;
        };
        let number = match uniform {
            ir::Uniform::PushConstant(offset) => offset / 4,
            ir::Uniform::NumWorkgroups(axis) => {
                let param = eitri_ir3_program::DriverParam::WORKGROUPS[axis.index()];
                self.constants.driver_param(param)?
            }
            // Loads are known for what they are.
            ir::Uniform::BufferWord(..) => return None,
            // `inst` refuses them.
            ir::Uniform::BaseVertex
            | ir::Uniform::BaseInstance
            | ir::Uniform::ViewIndex
            | ir::Uniform::ViewportScale(_)
            | ir::Uniform::ViewportOffset(_)
            | ir::Uniform::BlendConstant(_) => return None,
        };
        u16::try_from(number).ok()
    }

    /// The word of the const file that holds a word of a uniform buffer.
    fn uniform_of_buffer(&self, binding: ir::BindingId, offset: u32) -> Option<u16> {
        let binding = &self.ir.bindings[binding.index()];
        let extra = &self.function.extra;
        let number = extra.uniform_place(binding.set, binding.binding, offset)?;
        u16::try_from(number).ok()
    }

    /// The value as it is.
    fn plain(&mut self, value: ir::Value) -> Source {
        Source::plain(self.operand(value))
    }

    /// The operands of an instruction as they are.
    fn plain_all(&mut self, data: &InstData) -> Vec<Source> {
        data.args.iter().map(|&arg| self.plain(arg)).collect()
    }

    /// The value in a register, as accesses need it.
    fn in_register(&mut self, value: ir::Value) -> Word {
        let source = self.plain(value);
        self.register_of(self.class(value), source)
    }

    /// What a source reads, in a full register.
    fn register(&mut self, source: Source) -> Word {
        self.register_of(Class::Full, source)
    }

    /// What a source reads, in a register of the class that it has.
    fn register_of(&mut self, class: Class, source: Source) -> Word {
        match source.operand {
            Operand::Word(word) if source.is_plain() => word,
            _ => {
                let dest = self.new_word(class);
                self.emit(Instr::moved(dest, source, class));
                dest
            }
        }
    }

    /// The pure operation that defines a value, with its operands.
    fn alu_of(&self, value: ir::Value) -> Option<(ir::Alu, &InstData)> {
        let data = self.ir.def_inst(value)?;
        match data.op {
            ir::Op::Alu(alu) => Some((alu, data)),
            _ => None,
        }
    }

    /// True when exactly one thing reads the value.
    fn single_use(&self, value: ir::Value) -> bool {
        self.users[value.index()].len() == 1
    }

    /// The instruction that alone reads the value.
    fn only_user(&self, value: ir::Value) -> Option<&InstData> {
        if !self.single_use(value) {
            return None;
        }
        let first = self.users[value.index()].insts.first();
        first.map(|&inst| self.ir.inst(inst))
    }
}
