//! Instructions: operation, operands, results, position.
//!
//! Needs: `alu` for what is pure.  Guarantees: `signature` says for every operation which operands and results it has.
use super::binding::BindingId;
use super::function::{PositionId, Var};
use super::lanes::Among;
use super::stage::Stages;
use super::{
    Alu, Attribute, Combine, ImageOp, Kind, LaneOp, Output, Sampling, ScanForm, Spaces, SysVal,
    TileLoad, Type, Uniform, Value, Varying,
};
use smallvec::{SmallVec, smallvec};

/// What an instruction does. Everything but its operands, so two pure instructions with equal operations and equal
/// operands give the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A pure operation on scalars.
    Alu(Alu),
    /// An operation of the lanes that run it together.
    Lanes(LaneOp),
    /// Operand: a boolean. Results: so many words, as many as [`super::Lanes::mask_words`] says, with a bit for each lane that
    /// runs this with a true operand.
    Ballot(u8),
    /// Operand: a word. Result: the words of the lanes that run it together, combined from the lowest lane on, after the
    /// word that changes nothing.
    Scan(Combine, ScanForm),
    /// A number that the hardware gives each invocation. No operands.
    SysVal(SysVal),
    /// A word that is the same for the whole dispatch or draw. No operands.
    Uniform(Uniform),
    /// The element of a binding whose number is the operand, which is less than the binding's count.
    Resource(BindingId),
    /// Size in bytes of the buffer that the operand is.
    BufferSize,
    /// Operands: address. Results: `access.count` elements from there.
    Load(Access),
    /// Operands: address, then `access.count` elements. They are written one after the other from the address.
    Store(Access),
    /// Operands: address, value, and for [`AtomicOp::CompareExchange`] the expected value. Result: the element before.
    /// `access.count` is 1, and the element has 32 or 64 bits.
    Atomic(AtomicOp, Access),
    /// An operation on an image or a texel buffer. Operands and results as [`mod@super::image`] says.
    Image(ImageOp),
    /// All invocations of the workgroup arrive before any leaves. It orders all memories as [`Op::Fence`] does.
    Barrier,
    /// Accesses of these memories before it are seen by others before those of any of them after it; nobody waits.
    Fence(Spaces),
    /// Components of a vertex attribute. No operands.
    LoadAttribute(Attribute),
    /// Components of a varying. Operands: as [`Sampling::operands`] says.
    LoadVarying(Varying),
    /// 1/w of the primitive at that place, a float: what a varying is multiplied with to be without regard to perspective.
    /// Operands: as [`Sampling::operands`] says.
    FragW(Sampling),
    /// What a target holds of the fragment before its colour is written. Operand: the number of the sample, which is the lane's own
    /// where it has one. Results: four components, of which those that the format lacks are 0, 0, 0, 1.
    LoadTile(TileLoad),
    /// Operands: the output, whole. No output is stored twice, and nothing is done after one but storing others.
    StoreOutput(Output),
    /// Operand: a boolean. Lanes where it is true only help their quad from here on: their stores and atomics do nothing any more.
    Demote,
    /// Operand: element number. High. An element out of range reads as any value.
    LoadVar(Var),
    /// Operands: element number, value. High. An element out of range writes at most another of the variable.
    StoreVar(Var),
}

/// A load, store or atomic without its operands.
///
/// The address is two operands in [`Space::Buffer`], resource then byte offset, and one in the others: a byte offset, or in
/// [`Space::Global`] a 64-bit address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// What lies there; not a boolean.
    pub elem: Type,
    /// Number of elements, 1 to 4.
    pub count: u8,
    /// The byte offset is a multiple of this: a power of two, at most 16.
    pub align: u8,
    /// What else may happen to the memory.
    pub memory: Memory,
    /// How values hold the elements.
    pub held: Held,
}

/// How values hold the elements of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Held {
    /// As words of the element's width.
    Own,
    /// As words of 32 bits with zeros above; a store takes the low bits. Of elements of 8 and 16 bits.
    Zero,
    /// As words of 32 bits with the sign above; a store takes the low bits. Of elements of 8 and 16 bits.
    Sign,
}

/// Kinds of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Space {
    /// Storage and uniform buffers, by resource. Bytes outside the buffer read as zero.
    Buffer,
    /// All memory, by address: buffers lie in it.
    Global,
    /// Shared by the workgroup: `Function::shared_bytes` of them.
    Shared,
    /// Of one invocation: `Function::scratch_bytes` of them.
    Scratch,
    /// Of the program: the words of `Function::data`, which nothing writes. Beyond them a load gives some value.
    Data,
}

/// What may be assumed of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// Nobody writes it during the dispatch: a load may move, repeat or go.
    Constant,
    /// Others write it only where they synchronise with this invocation.
    Plain,
    /// May change at any time: every access stays, in order.
    Volatile,
    /// The same of an atomic load or store: what one of them has seen, a later one of the same word has seen, too.
    Atomic,
}

impl Memory {
    /// Whether every access stays, in order.
    pub fn is_volatile(self) -> bool {
        matches!(self, Memory::Volatile | Memory::Atomic)
    }
}

/// Read-modify-write operations on a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// old + value
    Add,
    /// Signed minimum.
    SMin,
    /// Signed maximum.
    SMax,
    /// Unsigned minimum.
    UMin,
    /// Unsigned maximum.
    UMax,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// value
    Exchange,
    /// value if old equals the expected value, else old
    CompareExchange,
}

/// What an operation does besides giving its results: all that passes need to know of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// What it gives depends on memory that may change.
    pub reads: bool,
    /// It changes memory.
    pub writes: bool,
    /// It keeps its place among others that are ordered, and is never left out.
    pub ordered: bool,
    /// Accesses of these memories keep the side of it on which they stand.
    pub orders: Spaces,
    /// What it does depends on which lanes run it together.
    pub convergent: bool,
    /// What it gives depends on what the other lanes of its quad give it, those that only help among them. Such an operation is
    /// convergent, too.
    pub needs_quad: bool,
    /// It may be run where the source doesn't run it, moved, and shared with an equal one.
    pub speculatable: bool,
}

/// A few values. Most instructions have no more operands and results, and then need no memory for them.
pub type Values = SmallVec<[Value; 4]>;

/// Kinds of operands or results.
pub type Kinds = SmallVec<[Kind; 8]>;

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub args: Values,
    /// What it defines.
    pub results: Values,
    /// No rewrite may change the value (SPIR-V's NoContraction): no contraction, no reassociation.
    pub exact: bool,
    /// Where it came from.
    pub position: PositionId,
}

super::id! {
    /// An instruction of a function, printed `i7`.
    Inst, "i"
}

impl Inst {
    /// The instruction with that number, as [`Inst::index`] gives it.
    pub fn from_number(number: u32) -> Inst {
        Inst(number)
    }
}

impl Access {
    /// Plain access to 32-bit words that are aligned to their size, one by one.
    pub fn words(space: Space, count: u8) -> Access {
        Access {
            space,
            elem: Type::W32,
            count,
            align: 4,
            memory: Memory::Plain,
            held: Held::Own,
        }
    }

    /// Bytes from the first element to the end of the last.
    pub fn bytes(self) -> u32 {
        self.elem.bytes() * u32::from(self.count)
    }

    /// The type of the values that hold its elements.
    pub fn value(self) -> Type {
        match self.held {
            Held::Own => self.elem,
            Held::Zero | Held::Sign => Type::W32,
        }
    }

    /// Number of operands that make the address.
    pub fn address_operands(self) -> usize {
        match self.space {
            Space::Buffer => 2,
            Space::Global | Space::Shared | Space::Scratch | Space::Data => 1,
        }
    }
}

impl Op {
    /// The access, if it touches memory through one.
    pub fn access(self) -> Option<Access> {
        match self {
            Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => Some(access),
            Op::Alu(_)
            | Op::Lanes(_)
            | Op::Ballot(_)
            | Op::Scan(..)
            | Op::SysVal(_)
            | Op::Uniform(_)
            | Op::Resource(_)
            | Op::BufferSize
            | Op::Image(_)
            | Op::Barrier
            | Op::Fence(_)
            | Op::LoadAttribute(_)
            | Op::LoadVarying(_)
            | Op::FragW(_)
            | Op::LoadTile(_)
            | Op::StoreOutput(_)
            | Op::Demote
            | Op::LoadVar(_)
            | Op::StoreVar(_) => None,
        }
    }

    /// The stages that have it.
    pub fn stages(self) -> Stages {
        match self {
            Op::Alu(_)
            | Op::Resource(_)
            | Op::BufferSize
            | Op::Fence(_)
            | Op::LoadVar(_)
            | Op::StoreVar(_) => Stages::ALL,
            Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => match access.space {
                Space::Shared => Stages::COMPUTE,
                Space::Buffer | Space::Global | Space::Scratch | Space::Data => Stages::ALL,
            },
            Op::Lanes(lanes) => lanes.stages(),
            Op::Ballot(_) | Op::Scan(..) => Stages::TOGETHER,
            Op::SysVal(sys_val) => sys_val.stages(),
            Op::Uniform(uniform) => uniform.stages(),
            Op::Image(image) if image.needs_quad() => Stages::FRAGMENT,
            Op::Image(_) => Stages::ALL,
            Op::Barrier => Stages::COMPUTE,
            Op::LoadAttribute(_) => Stages::VERTEX,
            Op::LoadVarying(_) | Op::FragW(_) | Op::LoadTile(_) | Op::Demote => Stages::FRAGMENT,
            Op::StoreOutput(output) => output.stages(),
        }
    }

    /// What it does besides giving its results, and what must hold where it stands.
    // Nearly all passes ask, and most instructions compute.
    #[inline]
    pub fn effects(self) -> Effects {
        match self {
            Op::Alu(_) => Effects {
                speculatable: true,
                ..Effects::default()
            },
            _ => self.effects_but_of_alu(),
        }
    }

    // Apart, so that what asks of an operation of the ALU becomes a comparison.
    #[inline(never)]
    fn effects_but_of_alu(self) -> Effects {
        let none = Effects::default();
        match self {
            Op::Alu(_)
            | Op::SysVal(_)
            | Op::Uniform(_)
            | Op::Resource(_)
            | Op::BufferSize
            | Op::LoadAttribute(_)
            | Op::LoadVarying(_)
            | Op::FragW(_)
            | Op::LoadTile(_) => Effects {
                speculatable: true,
                ..none
            },
            Op::Lanes(lanes) => Effects {
                convergent: true,
                needs_quad: lanes.among() == Among::Quad,
                ..none
            },
            Op::Ballot(_) | Op::Scan(..) => Effects {
                convergent: true,
                ..none
            },
            Op::StoreOutput(_) => Effects {
                ordered: true,
                ..none
            },
            // Which lanes still change memory is decided here.
            Op::Demote => Effects {
                ordered: true,
                orders: Spaces::BUFFERS,
                ..none
            },
            Op::Load(access) => Effects {
                reads: access.memory != Memory::Constant,
                ordered: access.memory.is_volatile(),
                speculatable: access.memory == Memory::Constant,
                ..none
            },
            Op::Store(access) => Effects {
                writes: true,
                ordered: access.memory.is_volatile(),
                ..none
            },
            Op::Atomic(..) => Effects {
                reads: true,
                writes: true,
                ordered: true,
                ..none
            },
            Op::Image(image) => image.effects(),
            Op::Barrier => Effects {
                ordered: true,
                orders: Spaces::ALL,
                convergent: true,
                ..none
            },
            Op::Fence(orders) => Effects {
                ordered: !orders.is_empty(),
                orders,
                ..none
            },
            Op::LoadVar(_) => Effects {
                reads: true,
                ..none
            },
            Op::StoreVar(_) => Effects {
                writes: true,
                ..none
            },
        }
    }

    /// Whether it does something besides giving its results, so that it stays though nobody reads them.
    #[inline]
    pub fn has_effect(self) -> bool {
        let effects = self.effects();
        effects.writes || effects.ordered
    }

    /// Whether equal operands give equal results wherever it stands, so that it may move and be shared.
    #[inline]
    pub fn is_pure(self) -> bool {
        self.effects().speculatable
    }

    /// Whether what it does depends on which invocations run it together, so that it may not be run by more, fewer or
    /// others of them than the source says.
    #[inline]
    pub fn is_convergent(self) -> bool {
        self.effects().convergent
    }

    /// Kinds of the operands and of the results. `var` tells the kind of a variable's elements.
    pub fn signature(self, var: impl Fn(Var) -> Kind) -> (Kinds, Kinds) {
        let none = Kinds::new;
        let address = |access: Access| -> Kinds {
            match access.space {
                Space::Buffer => smallvec![Kind::R, Kind::W32],
                Space::Global => smallvec![Kind::W64],
                Space::Shared | Space::Scratch | Space::Data => smallvec![Kind::W32],
            }
        };
        let elements =
            |access: Access, count: usize| std::iter::repeat_n(access.value().kind(), count);
        match self {
            Op::Alu(alu) => (alu.operands().into(), smallvec![alu.result()]),
            Op::Lanes(lanes) => (lanes.operands().into(), smallvec![lanes.result()]),
            Op::Ballot(words) => (smallvec![Kind::B], smallvec![Kind::W32; usize::from(words)]),
            Op::Scan(..) => (smallvec![Kind::W32], smallvec![Kind::W32]),
            Op::SysVal(sys_val) => (none(), smallvec![sys_val.kind()]),
            Op::Uniform(_) => (none(), smallvec![Kind::W32]),
            Op::Resource(_) => (smallvec![Kind::W32], smallvec![Kind::R]),
            Op::BufferSize => (smallvec![Kind::R], smallvec![Kind::W32]),
            Op::Load(access) => {
                let results = elements(access, access.count.into());
                (address(access), results.collect())
            }
            Op::Store(access) => {
                let mut args = address(access);
                args.extend(elements(access, access.count.into()));
                (args, none())
            }
            Op::Atomic(atomic, access) => {
                let mut args = address(access);
                args.extend(elements(access, atomic.operands()));
                (args, elements(access, 1).collect())
            }
            Op::Image(image) => {
                let (args, results) = image.signature();
                (args.into(), results.into())
            }
            Op::Barrier | Op::Fence(_) => (none(), none()),
            Op::LoadAttribute(it) => (none(), smallvec![Kind::W32; it.count.into()]),
            Op::LoadVarying(it) => {
                let results = smallvec![Kind::W32; it.words().into()];
                (it.sampling.operands().into(), results)
            }
            Op::FragW(sampling) => (sampling.operands().into(), smallvec![Kind::F32]),
            Op::LoadTile(tile) => (smallvec![Kind::W32], tile.results()),
            Op::StoreOutput(output) => (output.operands(), none()),
            Op::Demote => (smallvec![Kind::B], none()),
            Op::LoadVar(name) => (smallvec![Kind::W32], smallvec![var(name)]),
            Op::StoreVar(name) => (smallvec![Kind::W32, var(name)], none()),
        }
    }
}

impl AtomicOp {
    /// All of them, with their names in the text form.
    pub const ALL: &'static [(AtomicOp, &'static str)] = &[
        (AtomicOp::Add, "add"),
        (AtomicOp::SMin, "smin"),
        (AtomicOp::SMax, "smax"),
        (AtomicOp::UMin, "umin"),
        (AtomicOp::UMax, "umax"),
        (AtomicOp::And, "and"),
        (AtomicOp::Or, "or"),
        (AtomicOp::Xor, "xor"),
        (AtomicOp::Exchange, "exchange"),
        (AtomicOp::CompareExchange, "compare_exchange"),
    ];

    /// Number of operands after the address.
    pub fn operands(self) -> usize {
        if self == AtomicOp::CompareExchange {
            2
        } else {
            1
        }
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        AtomicOp::ALL
            .iter()
            .find(|(op, _)| *op == self)
            .map_or("?", |(_, name)| name)
    }
}

impl Type {
    /// The kind of a value of exactly this type.
    pub fn kind(self) -> Kind {
        match self {
            Type::Bool => Kind::B,
            Type::W8 => Kind::W8,
            Type::W16 => Kind::W16,
            Type::W32 => Kind::W32,
            Type::W64 => Kind::W64,
            Type::Resource => Kind::R,
        }
    }
}
