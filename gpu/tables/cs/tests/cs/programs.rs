//! Random structured programs: built into small chunks and run word by word, they do what their structure says.

use eitri_cs::builder::{BuildFault, Builder, Chunk, ChunkSource, Config, Label, Loop};
use eitri_cs::enums::Condition;
use eitri_cs::{Arch, Instr, Layout, Pair, Reg, d, r};
use proptest::prelude::*;

/// A statement over the variables r66 to r69.
#[derive(Clone, Debug)]
enum Statement {
    Add(Reg, i32),
    If(Condition, Reg, Vec<Statement>),
    IfElse(Condition, Reg, Vec<Statement>, Vec<Statement>),
    /// Unless a 64-bit condition holds.
    Unless64(Condition, Pair, Vec<Statement>),
    /// So many rounds; a round begins with counting down.
    Repeat(u32, Vec<Statement>),
    /// Leaves or begins again the loop that is so many loops further out; nothing where there are fewer.
    BreakIf(usize, Condition, Reg),
    ContinueIf(usize, Condition, Reg),
    Match(Reg, Vec<(u32, Vec<Statement>)>, Option<Vec<Statement>>),
}

const SCRATCH: Reg = r!(80);

fn counter(depth: usize) -> Reg {
    Reg::new(70 + depth as u8)
}

fn build<'m, S: ChunkSource<'m>>(
    b: &mut Builder<'m, S>,
    body: &[Statement],
    loops: &mut Vec<Loop>,
) {
    for statement in body {
        match statement {
            Statement::Add(to, value) => {
                b.add32(*to, *to, *value);
            }
            Statement::If(condition, value, then) => {
                b.if_then(*condition, *value, |b| build(b, then, loops));
            }
            Statement::IfElse(condition, value, then, otherwise) => {
                // Both closures need the loops; only one runs at a time.
                let loops = std::cell::RefCell::new(&mut *loops);
                b.if_else(
                    *condition,
                    *value,
                    |b| build(b, then, &mut loops.borrow_mut()),
                    |b| build(b, otherwise, &mut loops.borrow_mut()),
                );
            }
            Statement::Unless64(condition, value, body) => {
                b.block(|b| {
                    let mut over = Label::new();
                    b.branch64(*condition, *value, &mut over);
                    build(b, body, loops);
                    b.bind(&mut over);
                });
            }
            Statement::Repeat(rounds, body) => {
                let counter = counter(loops.len());
                b.move32(counter, *rounds);
                b.while_do(Condition::Greater, counter, |b, this| {
                    loops.push(std::mem::take(this));
                    b.add32(counter, counter, -1);
                    build(b, body, loops);
                    *this = loops.pop().unwrap();
                });
            }
            Statement::BreakIf(out, condition, value) => {
                if let Some(of) = loops.iter_mut().rev().nth(*out) {
                    b.break_if(of, *condition, *value);
                }
            }
            Statement::ContinueIf(out, condition, value) => {
                if let Some(of) = loops.iter_mut().rev().nth(*out) {
                    b.continue_if(of, *condition, *value);
                }
            }
            Statement::Match(value, cases, default) => {
                b.match_on(*value, SCRATCH, |m| {
                    for (case, body) in cases {
                        m.case(*case, |b| build(b, body, loops));
                    }
                    if let Some(body) = default {
                        m.default(|b| build(b, body, loops));
                    }
                });
            }
        }
    }
}

/// How a body ends.
enum End {
    Normal,
    Break(usize),
    Continue(usize),
    OutOfSteps,
}

#[derive(Clone, Debug, PartialEq)]
struct Variables([u32; 256]);

impl Variables {
    fn holds(&self, condition: Condition, value: Reg) -> bool {
        compare(
            condition,
            self.0[value.number() as usize].cast_signed().into(),
        )
    }

    fn pair(&self, pair: Pair) -> i64 {
        let half = |reg: Reg| u64::from(self.0[reg.number() as usize]);
        (half(pair.high()) << 32 | half(pair.low())).cast_signed()
    }
}

fn compare(condition: Condition, value: i64) -> bool {
    match condition {
        Condition::LessEqual => value <= 0,
        Condition::Greater => value > 0,
        Condition::Equal => value == 0,
        Condition::NotEqual => value != 0,
        Condition::Less => value < 0,
        Condition::GreaterEqual => value >= 0,
        Condition::Always => true,
    }
}

/// Runs the structure itself.
fn interpret(body: &[Statement], depth: usize, v: &mut Variables, steps: &mut u32) -> End {
    for statement in body {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return End::OutOfSteps;
        }
        let end = match statement {
            Statement::Add(to, value) => {
                let to = &mut v.0[to.number() as usize];
                *to = to.wrapping_add_signed(*value);
                End::Normal
            }
            Statement::If(condition, value, then) => match v.holds(*condition, *value) {
                true => interpret(then, depth, v, steps),
                false => End::Normal,
            },
            Statement::IfElse(condition, value, then, otherwise) => {
                let taken = if v.holds(*condition, *value) {
                    then
                } else {
                    otherwise
                };
                interpret(taken, depth, v, steps)
            }
            Statement::Unless64(condition, value, body) => {
                match compare(*condition, v.pair(*value)) {
                    true => End::Normal,
                    false => interpret(body, depth, v, steps),
                }
            }
            Statement::Repeat(rounds, body) => repeat(*rounds, body, depth, v, steps),
            Statement::BreakIf(out, condition, value) => {
                match *out < depth && v.holds(*condition, *value) {
                    true => End::Break(*out),
                    false => End::Normal,
                }
            }
            Statement::ContinueIf(out, condition, value) => {
                match *out < depth && v.holds(*condition, *value) {
                    true => End::Continue(*out),
                    false => End::Normal,
                }
            }
            Statement::Match(value, cases, default) => {
                let value = v.0[value.number() as usize];
                let case = cases.iter().find(|(case, _)| *case == value);
                match case.map(|(_, body)| body).or(default.as_ref()) {
                    Some(body) => interpret(body, depth, v, steps),
                    None => End::Normal,
                }
            }
        };
        if !matches!(end, End::Normal) {
            return end;
        }
    }
    End::Normal
}

fn repeat(
    rounds: u32,
    body: &[Statement],
    depth: usize,
    v: &mut Variables,
    steps: &mut u32,
) -> End {
    let counter = counter(depth).number() as usize;
    v.0[counter] = rounds;
    let mut again = rounds > 0;
    while again {
        v.0[counter] = v.0[counter].wrapping_sub(1);
        match interpret(body, depth + 1, v, steps) {
            End::Break(0) => break,
            End::Break(out) => return End::Break(out - 1),
            // To the start of the body, without the test.
            End::Continue(0) => {}
            End::Continue(out) => return End::Continue(out - 1),
            End::OutOfSteps => return End::OutOfSteps,
            End::Normal => again = v.0[counter].cast_signed() > 0,
        }
    }
    End::Normal
}

/// Runs words; follows jumps from chunk to chunk.
fn run(chunks: &[(u64, Vec<u64>)], address: u64, length: u32, v: &mut Variables) {
    let find = |address: u64| chunks.iter().find(|chunk| chunk.0 == address).unwrap();
    let (mut words, mut end) = (&find(address).1, length as usize / 8);
    let mut at = 0;
    while at < end {
        let instr = Instr::decode(words[at], Arch::V10).unwrap();
        at += 1;
        match instr {
            Instr::Move32(i) => v.0[i.destination.number() as usize] = i.immediate,
            Instr::Move48(i) => {
                v.0[i.destination.low().number() as usize] = i.immediate as u32;
                v.0[i.destination.high().number() as usize] = (i.immediate >> 32) as u32;
            }
            Instr::AddImm32(i) => {
                let source = v.0[i.source.number() as usize];
                v.0[i.destination.number() as usize] = source.wrapping_add_signed(i.immediate);
            }
            Instr::Branch(i) => {
                if v.holds(i.condition, i.value) {
                    at = at.checked_add_signed(i.offset.into()).unwrap();
                    assert!(at <= end, "a branch leaves its chunk");
                }
            }
            Instr::Jump(i) => {
                words = &find(v.pair(i.address).cast_unsigned()).1;
                end = v.0[i.length.number() as usize] as usize / 8;
                at = 0;
            }
            other => panic!("{other:?} was not built"),
        }
    }
}

fn conditions() -> impl Strategy<Value = Condition> {
    use Condition::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    proptest::sample::select(vec![
        LessEqual,
        Greater,
        Equal,
        NotEqual,
        Less,
        GreaterEqual,
    ])
}

fn variables() -> impl Strategy<Value = Reg> {
    (66..70u8).prop_map(Reg::new)
}

fn programs() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        3 => (variables(), -3..4i32).prop_map(|(to, value)| Statement::Add(to, value)),
        1 => (0..3usize, conditions(), variables()).prop_map(|(o, c, v)| Statement::BreakIf(o, c, v)),
        1 => (0..3usize, conditions(), variables()).prop_map(|(o, c, v)| Statement::ContinueIf(o, c, v)),
    ];
    let statement = leaf.prop_recursive(4, 40, 4, |inner| {
        let body = proptest::collection::vec(inner, 0..4);
        let cases = proptest::collection::vec((0..5u32, body.clone()), 0..4);
        let pairs = proptest::sample::select(vec![d!(66), d!(68)]);
        prop_oneof![
            (conditions(), variables(), body.clone()).prop_map(|(c, v, b)| Statement::If(c, v, b)),
            (conditions(), variables(), body.clone(), body.clone())
                .prop_map(|(c, v, a, b)| Statement::IfElse(c, v, a, b)),
            (conditions(), pairs, body.clone()).prop_map(|(c, v, b)| Statement::Unless64(c, v, b)),
            (0..4u32, body.clone()).prop_map(|(rounds, b)| Statement::Repeat(rounds, b)),
            (variables(), cases, proptest::option::of(body))
                .prop_map(|(v, cases, default)| Statement::Match(v, cases, default)),
        ]
    });
    proptest::collection::vec(statement, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if eitri_testdata::long() { 4_000 } else { 1_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn programs_do_what_their_structure_says(
        program in programs(),
        start in proptest::array::uniform4(-2..3i32),
        capacity in 5..80usize,
    ) {
        let mut memory = vec![vec![0; capacity]; 400];
        let addresses: Vec<u64> = (0..400).map(|i| 0x41_0000_0000 + i * 0x1000).collect();
        let mut free = memory.iter_mut().zip(&addresses);
        let mut next = || free.next().map(|(words, &address)| Chunk { address, words });
        let root = next().unwrap();
        let config = Config { layout: Layout::of(Arch::V10), ..Config::new(Arch::V10) };
        let mut builder = Builder::new(config, root, next);
        build(&mut builder, &program, &mut Vec::new());
        let stream = match builder.finish() {
            Ok(stream) => stream,
            Err(error) => {
                let too_long = matches!(error.fault, BuildFault::BlockTooLong { .. });
                prop_assert!(too_long, "{error}");
                return Ok(());
            }
        };

        let mut expected = Variables([0; 256]);
        for (i, value) in start.into_iter().enumerate() {
            expected.0[66 + i] = value.cast_unsigned();
        }
        let mut got = expected.clone();
        let end = interpret(&program, 0, &mut expected, &mut 5_000);
        prop_assume!(!matches!(end, End::OutOfSteps));
        let chunks: Vec<_> = addresses.into_iter().zip(memory).collect();
        run(&chunks, stream.address, stream.length, &mut got);
        prop_assert_eq!(&got.0[66..70], &expected.0[66..70]);
    }
}
