//! Random programs of subgroup operations in divergent control flow, and what they compute.
//!
//! A program is a tree of structured statements. [`spirv`] writes it as a module, and [`oracle`] runs it with all lanes of
//! a subgroup in lock step: a statement and a set of lanes in, the set of lanes that go on out. The oracle knows neither
//! blocks nor their order, so it is independent of the compiler and of the interpreters that it is held against.
//! Every invocation writes only words of its own, and every program ends.

mod generate;
mod oracle;
mod spirv;
mod spirv_words;

pub use generate::generate;
pub use oracle::Outputs;

use super::random_function::Random;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};

/// A variable of the function that is running, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var(usize);

/// Set at the start of every function: to the input of `main`, or to a call's argument.
const INPUT: Var = Var(0);
/// What a function returns and what the program writes: set to the input, shifted right.
const RESULT: Var = Var(1);
/// Number of the lane. Never written.
const LANE: Var = Var(2);
/// Number of the invocation among all of the dispatch. Never written.
const INVOCATION: Var = Var(3);
/// The variables that every function has.
const COMMON: usize = 4;

/// Operations on two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

/// Comparisons of unsigned words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compare {
    Equal,
    NotEqual,
    Less,
    AtLeast,
}

/// What a reduction or a scan combines values by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Which lanes' values are combined for a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// All.
    Reduce,
    /// Those up to its own.
    Inclusive,
    /// Those below its own.
    Exclusive,
}

/// A word.
#[derive(Clone, Debug)]
enum Expr {
    Var(Var),
    Word(u32),
    Binary(Binary, Box<[Expr; 2]>),
    ShiftRight(Box<Expr>, u32),
    Select(Box<Cond>, Box<[Expr; 2]>),
    Combine(Combine, Form, Box<Expr>),
    /// Reduces aligned clusters of so many lanes.
    Cluster(Combine, u32, Box<Expr>),
    /// The value of the lowest active lane.
    First(Box<Expr>),
    /// The value of the lane with that number, modulo the subgroup's size, if it is active; else of the lowest active one.
    Shuffle(Box<[Expr; 2]>),
    /// How many of the lanes have a true condition.
    Count(Form, Box<Cond>),
    /// The first word of a ballot, plus three times the second.
    Ballot(Box<Cond>),
}

/// A boolean.
#[derive(Clone, Debug)]
enum Cond {
    Compare(Compare, Box<[Expr; 2]>),
    /// Whether a bit of a variable is set.
    Bit(Var, u32),
    Elect,
    All(Box<Cond>),
    Any(Box<Cond>),
    AllEqual(Box<Expr>),
    Not(Box<Cond>),
    /// Both, which are computed by all lanes.
    And(Box<[Cond; 2]>),
    /// The own bit of a ballot.
    InverseBallot(Box<Cond>),
}

/// How an assignment combines the old value with the new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Set,
    Add,
    Xor,
}

type Block = Vec<Stmt>;

#[derive(Clone, Debug)]
enum Stmt {
    Set(Var, How, Expr),
    /// Adds to the invocation's word of memory, atomically; the variable is set to what it was.
    AddOwn(Var, Expr),
    /// Takes a number from the workgroup's counter, uses it as a lane's number, and adds up what those lanes have: the
    /// order in which lanes take their numbers doesn't show. Only where all invocations are, in a workgroup of one subgroup;
    /// so many numbers have been taken before.
    Ticket(Var, Expr, u32),
    If(Cond, Block, Block),
    Loop(Box<Loop>),
    Switch(Box<Switch>),
    /// The variable is set to what the function returns for an argument.
    Call(Var, usize, Expr),
    Break,
    Continue,
    Return,
}

impl Stmt {
    /// Whether no lane gets past it.
    fn ends(&self) -> bool {
        let last = |block: &Block| block.last().is_some_and(Stmt::ends);
        match self {
            Stmt::Break | Stmt::Continue | Stmt::Return => true,
            Stmt::If(_, then, otherwise) => last(then) && last(otherwise),
            Stmt::Switch(switch) => {
                last(&switch.default) && switch.cases.iter().all(|(_, block)| last(block))
            }
            Stmt::Loop(own) => {
                matches!(own.test, Test::Never) && !own.body.iter().any(Stmt::breaks)
            }
            Stmt::Set(..) | Stmt::AddOwn(..) | Stmt::Ticket(..) | Stmt::Call(..) => false,
        }
    }

    /// Whether a lane leaves the innermost loop in it.
    fn breaks(&self) -> bool {
        let any = |block: &Block| block.iter().any(Stmt::breaks);
        match self {
            Stmt::Break => true,
            Stmt::If(_, then, otherwise) => any(then) || any(otherwise),
            Stmt::Switch(switch) => {
                any(&switch.default) || switch.cases.iter().any(|(_, block)| any(block))
            }
            _ => false,
        }
    }
}

/// A loop. Its counter begins with zero, its limit is computed once.
#[derive(Clone, Debug)]
struct Loop {
    counter: Var,
    limit: Var,
    rounds: Expr,
    test: Test,
    body: Block,
    /// What lanes do that go round again: assignments alone.
    next: Block,
}

/// Where a loop tests whether it goes on.
#[derive(Clone, Debug)]
enum Test {
    /// Before each round, whether the counter is below the limit.
    Top,
    /// After each round, whether the counter is below the limit and a condition holds.
    Bottom(Cond),
    /// Nowhere: the body ends it.
    Never,
}

/// A switch over the low two bits of a word. No case falls into another.
#[derive(Clone, Debug)]
struct Switch {
    selector: Expr,
    cases: Vec<(Vec<u32>, Block)>,
    default: Block,
}

#[derive(Clone, Debug)]
struct Function {
    /// How many variables it has.
    vars: usize,
    body: Block,
}

/// A program, for subgroups of a size.
#[derive(Clone, Debug)]
pub struct Program {
    /// Lanes of a subgroup.
    lanes: u32,
    /// Invocations of a workgroup.
    invocations: u32,
    /// The last one is `main`; each calls only those before it.
    functions: Vec<Function>,
    input: Vec<u32>,
    /// Whether a `return` of the last function ends the invocation; else `main` calls that function.
    returns_itself: bool,
}

/// Workgroups of a dispatch.
const GROUPS: u32 = 2;

/// The bindings: what is read, what each invocation writes last, its word of memory, and the counters of workgroups.
const READ: u32 = 0;
const WRITTEN: u32 = 1;
const OWN: u32 = 2;
const COUNTERS: u32 = 3;

impl Program {
    /// Invocations of a dispatch.
    fn all(&self) -> u32 {
        self.invocations * GROUPS
    }

    /// What the program is given.
    pub fn buffers(&self) -> Buffers {
        let zeros = |count: u32| vec![0; count as usize];
        let contents = [
            (READ, self.input.clone()),
            (WRITTEN, zeros(self.all())),
            (OWN, zeros(self.all())),
            (COUNTERS, zeros(GROUPS)),
        ];
        let buffer = |(binding, words): (u32, Vec<u32>)| {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            ((0, binding, 0), Buffer { bytes })
        };
        contents.map(buffer).into()
    }

    /// How it is run.
    pub fn dispatch(&self) -> Dispatch {
        Dispatch {
            groups: [GROUPS, 1, 1],
            push_constants: vec![],
            step_limit: 1 << 24,
        }
    }
}

/// What buffers hold where the program writes.
pub fn outputs(buffers: &Buffers) -> Outputs {
    let words = |binding: u32| {
        let bytes = &buffers[&(0, binding, 0)].bytes;
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    };
    Outputs {
        written: words(WRITTEN),
        own: words(OWN),
    }
}
