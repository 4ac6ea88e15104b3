//! Instruction selection: from lowered IR to machine IR in SSA form.
//!
//! Needs: `ir::verify::lowered` holds.  Guarantees: the same blocks in the same order; constants stand as
//! `Operand::Constant` wherever they occur, for `legalise_constants` to place.
//! A boolean is a word, all ones or zero. One instruction absorbs what it can read through: sign changes, halves and
//! bytes of its sources, compares that feed selects, shifts that feed logic, a saturation that follows. What was
//! absorbed everywhere is left for `remove_dead`.  Facts: hardware/compiler-isel.md 2 to 9.

mod alu;
mod atomic;
mod bits;
mod boolean;
mod control;
mod convert;
mod float;
mod halves;
mod image;
mod inputs;
mod integer;
mod lanes;
mod memory;
mod outputs;
mod query_lod;
mod resource;
mod sysval;
mod texture;
mod tile;
mod transcendental;
mod uniform_work;
mod wide;

use smallvec::smallvec;
use std::collections::BTreeMap;
use std::sync::Arc;

use eitri_isa::Arch;
use rustc_hash::FxHashMap as HashMap;

use super::back_end::WARP;
use super::descriptors;
use super::error::Unsupported;
use super::mir::{
    Block, BlockId, Extra, Function, Instr, Location, Op, Operand, Register, Source, Sources,
    Space, Terminator, Value, Word,
};
use crate::ir;
use crate::ir::range::Tested;
use crate::link::VaryingLayout;
use crate::lists::Lists;
use crate::machine::Origin;
use crate::target::Target;

/// State of a selection.
struct Selector<'a> {
    ir: &'a ir::Function,
    target: Target,
    function: Function,
    /// By IR value: the word that it is. Made when first asked for, which for a loop's phi is before its definition.
    words: Vec<Option<Value>>,
    /// By IR value of 64 bits that an instruction gives: its words.
    wide: HashMap<ir::Value, [Value; 2]>,
    /// Who reads which IR value.
    users: Users,
    /// IR values that are uniform words, and which.
    uniforms: HashMap<ir::Value, usize>,
    /// By binding: the handle of its first element.
    handles: Vec<u32>,
    /// By IR block index: its place in the layout.
    places: HashMap<ir::BlockId, BlockId>,
    preloads: BTreeMap<Register, Value>,
    cfg: Arc<ir::cfg::Cfg>,
    may_keep_addresses: bool,
    /// Whether an address of another block was used.
    keeps_addresses: bool,
    /// IR instructions selected so far.
    selected: usize,
    /// Addresses of buffers, and where each was made.
    addresses: HashMap<(Option<ir::Value>, Option<ir::Value>), memory::Made<memory::Address>>,
    /// Addresses of output elements made in this block.
    elements: HashMap<outputs::Element, [Word; 2]>,
    /// The place in a point, if this block has loaded it.
    point: Option<[Word; 2]>,
    /// Both coordinates of the sample in its pixel, if this block has loaded them.
    sample_place: Option<Word>,
    /// Where varyings lie.
    varyings: &'a VaryingLayout,
    /// Addresses in shared memory, by base and the constant that is in them, and where each was made.
    shared_addresses: HashMap<(Option<ir::Value>, i64), memory::Made<Source>>,
    /// The same of thread-local memory.
    scratch_addresses: HashMap<(Option<ir::Value>, i64), memory::Made<Source>>,
    /// What holds in the block that was asked for last.
    tested: Option<(ir::BlockId, Tested)>,
    /// IR values whose instruction another one has already computed.
    done: Vec<bool>,
    /// The instruction being selected, for messages and listings.
    position: ir::PositionId,
    location: Location,
    block: BlockId,
}

/// Who reads values, by value.
struct Users {
    /// Instructions; one that reads it twice is there twice.
    insts: Lists<ir::inst::Inst>,
    /// How many phis and terminators.
    others: Vec<usize>,
}

impl Users {
    /// Whether anything reads a value.
    fn are_there(&self, value: ir::Value) -> bool {
        !self.insts.of(value.index()).is_empty() || self.others[value.index()] > 0
    }
}

/// What selection made.
pub(crate) struct Selected {
    pub(crate) function: Function,
    /// Whether an address that one block made is used in another: it takes registers on the way.
    pub(crate) keeps_addresses: bool,
}

/// Selects instructions for a function. Addresses may be kept from one block to the next, or be made in each anew.
pub(crate) fn select(
    ir: &ir::Function,
    arch: Arch,
    target: &Target,
    varyings: &VaryingLayout,
    may_keep_addresses: bool,
) -> Result<Selected, Unsupported> {
    if ir.lanes != WARP {
        return Err(Unsupported {
            what: format!("subgroups of {} lanes", ir.lanes.count()),
            position: ir::Position::default(),
        });
    }
    let mut selector = Selector {
        ir,
        target: *target,
        function: Function {
            scratch_bytes: ir.scratch_bytes,
            extra: Extra {
                arch,
                stage: sysval::stage(ir.stage),
                ..Extra::default()
            },
            ..Function::default()
        },
        words: vec![None; ir.value_count()],
        wide: HashMap::default(),
        users: find_users(ir),
        uniforms: HashMap::default(),
        handles: descriptors::handles(&ir.bindings),
        places: ir
            .layout
            .iter()
            .enumerate()
            .map(|(place, &block)| (block, BlockId(place as u32)))
            .collect(),
        preloads: BTreeMap::new(),
        cfg: ir::cfg::Cfg::shared(ir),
        may_keep_addresses,
        keeps_addresses: false,
        selected: 0,
        addresses: HashMap::default(),
        elements: HashMap::default(),
        point: None,
        sample_place: None,
        varyings,
        shared_addresses: HashMap::default(),
        scratch_addresses: HashMap::default(),
        tested: None,
        done: vec![false; ir.value_count()],
        position: ir::PositionId::UNKNOWN,
        location: Location::default(),
        block: BlockId(0),
    };
    selector.run()?;
    Ok(Selected {
        function: selector.function,
        keeps_addresses: selector.keeps_addresses,
    })
}

fn find_users(ir: &ir::Function) -> Users {
    let insts = ir.placed_insts().flat_map(|(_, inst)| {
        let args = ir.inst(inst).args.iter();
        args.map(move |arg| (arg.index(), inst))
    });
    let mut others = vec![0; ir.value_count()];
    for block in ir.layout.iter().map(|&block| ir.block(block)) {
        let phis = block
            .phis
            .iter()
            .flat_map(|phi| phi.sources.iter().map(|&(_, value)| value));
        phis.chain(block.terminator.operand())
            .for_each(|value| others[value.index()] += 1);
    }
    Users {
        insts: Lists::gather(ir.value_count(), insts),
        others,
    }
}

impl Selector<'_> {
    fn run(&mut self) -> Result<(), Unsupported> {
        self.number_uniforms()?;
        for _ in &self.ir.layout {
            self.function.blocks.push(Block::new(Terminator::End));
        }
        for (place, &block) in self.ir.layout.iter().enumerate() {
            self.block = BlockId(place as u32);
            self.elements.clear();
            self.point = None;
            self.sample_place = None;
            for &inst in &self.ir.block(block).insts {
                self.inst(inst)?;
            }
            self.set_position(self.ir.block(block).position, Origin::end(block));
            self.function.blocks[place].end = self.location;
            self.block_end(block)?;
        }
        self.finish_preloads();
        Ok(())
    }

    fn inst(&mut self, inst: ir::inst::Inst) -> Result<(), Unsupported> {
        let data = self.ir.inst(inst);
        self.selected += 1;
        self.set_position(data.position, Origin::inst(inst));
        if data
            .results
            .first()
            .is_some_and(|result| self.done[result.index()])
        {
            return Ok(());
        }
        match data.op {
            ir::Op::Alu(alu) => self.alu(alu, data),
            ir::Op::Lanes(lanes) => self.lanes(lanes, data),
            ir::Op::Ballot(_) => {
                self.ballot(data);
                Ok(())
            }
            // `Target::has_scans` says that there are none.
            ir::Op::Scan(..) => Err(self.unsupported("scan")),
            ir::Op::SysVal(sysval) => self.sysval(sysval, data.results[0]),
            // Users read the uniform word itself.
            ir::Op::Uniform(_) => Ok(()),
            ir::Op::Resource(binding) => {
                self.resource(binding, data);
                Ok(())
            }
            ir::Op::Load(access) => self.load(access, data),
            ir::Op::Store(access) => self.store(access, data),
            ir::Op::Atomic(atomic, access) => self.atomic(atomic, access, data),
            ir::Op::Barrier => {
                self.emit(Instr::new(Op::Barrier));
                Ok(())
            }
            ir::Op::Fence(spaces) => {
                self.fence(spaces);
                Ok(())
            }
            ir::Op::Image(image) => self.image(image, data),
            ir::Op::BufferSize => {
                self.buffer_size(data);
                Ok(())
            }
            ir::Op::LoadAttribute(attribute) => self.load_attribute(attribute, data),
            ir::Op::LoadVarying(varying) => self.load_varying(varying, data),
            ir::Op::LoadTile(tile) => {
                self.load_tile(tile, data);
                Ok(())
            }
            ir::Op::FragW(sampling) => {
                self.frag_w(sampling, data);
                Ok(())
            }
            ir::Op::StoreOutput(output) => {
                if output.group().is_some() {
                    self.store_output(output, data);
                }
                Ok(())
            }
            ir::Op::Demote => {
                self.demote(data);
                Ok(())
            }
            ir::Op::LoadVar(_) => Err(self.unsupported("load_var")),
            ir::Op::StoreVar(_) => Err(self.unsupported("store_var")),
        }
    }

    /// Orders memories: those of one space, or of all that others see. What is volatile keeps its side of it, whatever memory it
    /// is in: it may be what tells others that they may go on.
    fn fence(&mut self, spaces: ir::Spaces) {
        if spaces.is_empty() {
            return;
        }
        let space = spaces.single(Space::Buffer, Space::Shared);
        self.emit(Instr {
            space,
            volatile: true,
            ..Instr::new(Op::Fence)
        });
    }

    /// The error for the instruction at hand.
    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported {
            what: what.to_owned(),
            position: self.ir.position(self.position).clone(),
        }
    }

    fn set_position(&mut self, position: ir::PositionId, origin: Origin) {
        self.position = position;
        self.location = match &self.ir.position(position).source {
            Some(line) => {
                let known = self
                    .function
                    .files
                    .iter()
                    .position(|file| *file == line.file);
                let file = known.unwrap_or_else(|| {
                    self.function.files.push(line.file.clone());
                    self.function.files.len() - 1
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

    /// `op` on `sources` into a new word.
    fn compute(&mut self, op: Op, sources: &[Source]) -> Source {
        let dest = self.function.new_value();
        self.emit(Instr {
            dests: smallvec![Word::Value(dest)],
            sources: Sources::from_slice(sources),
            ..Instr::new(op)
        });
        Source::value(dest)
    }

    /// An instruction that defines an IR value; `instr` needs no destination yet.
    fn define(&mut self, value: ir::Value, instr: Instr) {
        let dest = self.word(value);
        self.emit(Instr {
            dests: smallvec![Word::Value(dest)],
            ..instr
        });
    }

    /// The word of an IR value that is not a constant.
    fn word(&mut self, value: ir::Value) -> Value {
        *self.words[value.index()].get_or_insert_with(|| self.function.new_value())
    }

    /// What stands for an IR value where an instruction reads it.
    fn operand(&mut self, value: ir::Value) -> Operand {
        match self.ir.def(value) {
            ir::ValueDef::Word(bits) => {
                Operand::Constant(self.known_handle(value).unwrap_or(bits as u32))
            }
            ir::ValueDef::Bool(truth) => Operand::Constant(if truth { u32::MAX } else { 0 }),
            ir::ValueDef::Result(..) => match self.uniforms.get(&value) {
                Some(&index) => u8::try_from(index).map_or(Operand::Constant(0), Operand::Fau),
                None => Operand::Word(Word::Value(self.word(value))),
            },
            ir::ValueDef::Phi(_) => Operand::Word(Word::Value(self.word(value))),
        }
    }

    /// The value as it is.
    fn plain(&mut self, value: ir::Value) -> Source {
        Source::plain(self.operand(value))
    }

    /// The value in a register, as payloads need it.
    fn in_register(&mut self, value: ir::Value) -> Word {
        match self.operand(value) {
            Operand::Word(word) => word,
            other => self.moved(Source::plain(other)),
        }
    }

    /// What a source reads, in a register.
    fn moved(&mut self, source: Source) -> Word {
        let dest = Word::Value(self.function.new_value());
        self.emit(Instr {
            dests: smallvec![dest],
            sources: smallvec![source],
            ..Instr::new(Op::Mov)
        });
        dest
    }

    /// The pure operation that defines a value, with its operands.
    fn alu_of(&self, value: ir::Value) -> Option<(ir::Alu, &ir::InstData)> {
        let data = self.ir.def_inst(value)?;
        match data.op {
            ir::Op::Alu(alu) => Some((alu, data)),
            _ => None,
        }
    }

    /// True when exactly one thing reads the value.
    fn single_use(&self, value: ir::Value) -> bool {
        let insts = self.users.insts.of(value.index());
        insts.len() + self.users.others[value.index()] == 1
    }

    /// The instruction that alone reads the value.
    fn only_user(&self, value: ir::Value) -> Option<&ir::InstData> {
        if !self.single_use(value) {
            return None;
        }
        let user = self.users.insts.of(value.index()).first();
        user.map(|&inst| self.ir.inst(inst))
    }
}
