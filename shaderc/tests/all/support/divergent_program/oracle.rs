//! Lock step: what a program computes, statement by statement, for all lanes of a subgroup together.
//!
//! Guarantees: lanes that part at a statement are together again behind it. Those that leave a loop wait behind it, those
//! that return wait at the end of the function, those that continue wait for the rest of the round.
//! Facts: hardware/valhall-isa.md 12.3 (cross-lane operations see the lanes that are together at that point).

use super::{
    Binary, Block, COMMON, Combine, Compare, Cond, Expr, Form, Function, GROUPS, How, INPUT,
    INVOCATION, LANE, Loop, Program, RESULT, Stmt, Switch, Test, Var,
};

/// What a program leaves: by invocation, the word that it writes last and its word of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outputs {
    pub written: Vec<u32>,
    pub own: Vec<u32>,
}

impl Outputs {
    /// The first difference of what a program left from what it is to leave.
    pub fn difference(&self, got: &Outputs) -> Option<String> {
        let pairs = [
            ("output", &self.written, &got.written),
            ("own word", &self.own, &got.own),
        ];
        pairs.into_iter().find_map(|(what, expected, got)| {
            let at = (0..expected.len()).find(|at| expected[*at] != got[*at])?;
            let (got, expected) = (got[at], expected[at]);
            Some(format!(
                "{what} of invocation {at}: {got:#x}, expected {expected:#x}"
            ))
        })
    }
}

/// Most statements that a program may run, over all subgroups.
const LIMIT: u32 = 1_000;

/// Lanes of a subgroup: bit n is lane n.
type Set = u64;

fn lanes(set: Set) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| set >> lane & 1 != 0)
}

/// The lanes of a set with a property.
fn those(set: Set, has: impl Fn(usize) -> bool) -> Set {
    lanes(set)
        .filter(|lane| has(*lane))
        .fold(0, |all, lane| all | 1 << lane)
}

/// A value for each lane; that of one that isn't active means nothing.
type Words = Vec<u32>;

/// Lanes that have left a loop, and that wait for the end of its round.
#[derive(Default)]
struct Exits {
    left: Set,
    continued: Set,
}

/// A call of a function.
struct Frame {
    vars: Vec<Words>,
    loops: Vec<Exits>,
}

struct Subgroup<'p> {
    program: &'p Program,
    own: Words,
    /// Statements that may still run.
    left: &'p mut u32,
}

/// The limit was reached.
struct TooLong;

type Result<T> = std::result::Result<T, TooLong>;

impl Program {
    /// What it leaves; none if it runs too long.
    pub fn expected(&self) -> Option<Outputs> {
        let mut outputs = Outputs {
            written: vec![],
            own: vec![],
        };
        let mut left = LIMIT;
        for group in 0..GROUPS {
            for first in (0..self.invocations).step_by(self.lanes as usize) {
                let count = self.lanes.min(self.invocations - first);
                let base = group * self.invocations + first;
                let (written, own) = self.subgroup(base, count, &mut left).ok()?;
                outputs.written.extend(&written[..count as usize]);
                outputs.own.extend(&own[..count as usize]);
            }
        }
        Some(outputs)
    }

    /// The two words of each lane of a subgroup.
    fn subgroup(&self, base: u32, count: u32, left: &mut u32) -> Result<(Words, Words)> {
        let numbers = 0..self.lanes;
        let read = |lane: u32| self.input[(base + lane) as usize % self.input.len()];
        let input: Words = numbers.clone().map(read).collect();
        let mut subgroup = Subgroup {
            program: self,
            own: vec![0; self.lanes as usize],
            left,
        };
        let invocation = numbers.map(|lane| base + lane).collect();
        let active = u64::MAX >> (64 - count);
        let main = &self.functions[self.functions.len() - 1];
        let result = subgroup.call(main, input.clone(), invocation, active)?;
        let mix = |(result, input): (&u32, &u32)| result ^ input.wrapping_mul(7);
        let written = result.iter().zip(&input).map(mix).collect();
        Ok((written, subgroup.own))
    }
}

impl Subgroup<'_> {
    fn call(
        &mut self,
        function: &Function,
        input: Words,
        invocation: Words,
        active: Set,
    ) -> Result<Words> {
        let mut vars = vec![vec![0; input.len()]; function.vars];
        vars[RESULT.0] = input.iter().map(|word| word >> 3).collect();
        vars[LANE.0] = (0..input.len() as u32).collect();
        vars[INVOCATION.0] = invocation;
        vars[INPUT.0] = input;
        debug_assert!(vars.len() >= COMMON);
        let mut frame = Frame {
            vars,
            loops: vec![],
        };
        // Nobody asks who has returned: the caller goes on with all that called.
        self.block(&mut frame, &function.body, active)?;
        Ok(frame.vars.swap_remove(RESULT.0))
    }

    /// Runs statements; returns who reaches their end.
    fn block(&mut self, frame: &mut Frame, block: &Block, mut active: Set) -> Result<Set> {
        for stmt in block {
            if active == 0 {
                break;
            }
            *self.left = self.left.checked_sub(1).ok_or(TooLong)?;
            active = self.stmt(frame, stmt, active)?;
        }
        Ok(active)
    }

    fn stmt(&mut self, frame: &mut Frame, stmt: &Stmt, active: Set) -> Result<Set> {
        match stmt {
            Stmt::Set(var, how, expr) => {
                let value = self.expr(frame, expr, active);
                for lane in lanes(active) {
                    let word = &mut frame.vars[var.0][lane];
                    *word = match how {
                        How::Set => value[lane],
                        How::Add => word.wrapping_add(value[lane]),
                        How::Xor => *word ^ value[lane],
                    };
                }
            }
            Stmt::AddOwn(var, expr) => {
                let value = self.expr(frame, expr, active);
                for lane in lanes(active) {
                    frame.vars[var.0][lane] = self.own[lane];
                    self.own[lane] = self.own[lane].wrapping_add(value[lane]);
                }
            }
            // Each number is taken once, so each lane's value is added once.
            Stmt::Ticket(var, expr, _) => {
                let sum = Expr::Combine(Combine::Add, Form::Reduce, Box::new(expr.clone()));
                assign(frame, *var, active, &self.expr(frame, &sum, active));
            }
            Stmt::If(condition, then, otherwise) => {
                let yes = self.cond(frame, condition, active);
                let then = self.block(frame, then, yes)?;
                let otherwise = self.block(frame, otherwise, active & !yes)?;
                return Ok(then | otherwise);
            }
            Stmt::Loop(own) => return self.a_loop(frame, own, active),
            Stmt::Switch(switch) => return self.switch(frame, switch, active),
            Stmt::Call(var, function, argument) => {
                let input = self.expr(frame, argument, active);
                let invocation = frame.vars[INVOCATION.0].clone();
                let function = &self.program.functions[*function];
                let result = self.call(function, input, invocation, active)?;
                assign(frame, *var, active, &result);
            }
            Stmt::Break => {
                if let Some(exits) = frame.loops.last_mut() {
                    exits.left |= active;
                }
                return Ok(0);
            }
            Stmt::Continue => {
                if let Some(exits) = frame.loops.last_mut() {
                    exits.continued |= active;
                }
                return Ok(0);
            }
            Stmt::Return => return Ok(0),
        }
        Ok(active)
    }

    fn a_loop(&mut self, frame: &mut Frame, own: &Loop, active: Set) -> Result<Set> {
        let limit = self.expr(frame, &own.rounds, active);
        assign(frame, own.limit, active, &limit);
        assign(frame, own.counter, active, &vec![0; limit.len()]);
        frame.loops.push(Exits::default());
        let mut left = 0;
        let mut inside = active;
        while inside != 0 {
            *self.left = self.left.checked_sub(1).ok_or(TooLong)?;
            let vars = &frame.vars;
            let below = |lane: usize| vars[own.counter.0][lane] < vars[own.limit.0][lane];
            if matches!(own.test, Test::Top) {
                let stays = those(inside, below);
                left |= inside & !stays;
                inside = stays;
            }
            inside = self.block(frame, &own.body, inside)?;
            if let Some(exits) = frame.loops.last_mut() {
                let exits = std::mem::take(exits);
                left |= exits.left;
                inside |= exits.continued;
            }
            inside = self.block(frame, &own.next, inside)?;
            for lane in lanes(inside) {
                frame.vars[own.counter.0][lane] += 1;
            }
            if let Test::Bottom(more) = &own.test
                && inside != 0
            {
                let below =
                    |lane: usize| frame.vars[own.counter.0][lane] < frame.vars[own.limit.0][lane];
                let stays = those(inside, below) & self.cond(frame, more, inside);
                left |= inside & !stays;
                inside = stays;
            }
        }
        frame.loops.pop();
        Ok(left)
    }

    fn switch(&mut self, frame: &mut Frame, switch: &Switch, active: Set) -> Result<Set> {
        let selector = self.expr(frame, &switch.selector, active);
        let mut others = active;
        let mut behind = 0;
        for (values, block) in &switch.cases {
            let here = those(active, |lane| values.contains(&(selector[lane] & 3)));
            others &= !here;
            behind |= self.block(frame, block, here)?;
        }
        Ok(behind | self.block(frame, &switch.default, others)?)
    }

    fn expr(&self, frame: &Frame, expr: &Expr, active: Set) -> Words {
        let count = self.program.lanes as usize;
        let all = |word: u32| vec![word; count];
        match expr {
            Expr::Var(var) => frame.vars[var.0].clone(),
            Expr::Word(word) => all(*word),
            Expr::Binary(op, args) => {
                let [a, b] = args.each_ref().map(|arg| self.expr(frame, arg, active));
                a.iter().zip(&b).map(|(a, b)| binary(*op, *a, *b)).collect()
            }
            Expr::ShiftRight(arg, by) => {
                let words = self.expr(frame, arg, active);
                words.iter().map(|word| word >> by).collect()
            }
            Expr::Select(condition, args) => {
                let yes = self.cond(frame, condition, active);
                let [a, b] = args.each_ref().map(|arg| self.expr(frame, arg, active));
                let choose = |lane: usize| {
                    if yes >> lane & 1 != 0 {
                        a[lane]
                    } else {
                        b[lane]
                    }
                };
                (0..count).map(choose).collect()
            }
            Expr::Combine(op, form, arg) => {
                let words = self.expr(frame, arg, active);
                let of = |lane: usize| fold(*op, &words, active & reach(*form, lane));
                (0..count).map(of).collect()
            }
            Expr::Cluster(op, size, arg) => {
                let words = self.expr(frame, arg, active);
                let size = *size as usize;
                let of = |lane: usize| {
                    let cluster = those(active, |other| other / size == lane / size);
                    fold(*op, &words, cluster)
                };
                (0..count).map(of).collect()
            }
            Expr::First(arg) => {
                let words = self.expr(frame, arg, active);
                all(words[active.trailing_zeros() as usize])
            }
            Expr::Shuffle(args) => {
                let [words, from] = args.each_ref().map(|arg| self.expr(frame, arg, active));
                let read = |from: &u32| {
                    let lane = *from as usize % count;
                    match active >> lane & 1 {
                        0 => words[active.trailing_zeros() as usize],
                        _ => words[lane],
                    }
                };
                from.iter().map(read).collect()
            }
            Expr::Count(form, condition) => {
                let yes = self.cond(frame, condition, active);
                let of = |lane: usize| (yes & reach(*form, lane)).count_ones();
                (0..count).map(of).collect()
            }
            Expr::Ballot(condition) => {
                let yes = self.cond(frame, condition, active);
                all((yes as u32).wrapping_add(3u32.wrapping_mul((yes >> 32) as u32)))
            }
        }
    }

    /// The active lanes for which a condition holds.
    fn cond(&self, frame: &Frame, cond: &Cond, active: Set) -> Set {
        let all = |holds: bool| if holds { active } else { 0 };
        match cond {
            Cond::Compare(op, args) => {
                let [a, b] = args.each_ref().map(|arg| self.expr(frame, arg, active));
                those(active, |lane| compare(*op, a[lane], b[lane]))
            }
            Cond::Bit(var, bit) => those(active, |lane| frame.vars[var.0][lane] >> bit & 1 != 0),
            Cond::Elect => active & active.wrapping_neg(),
            Cond::All(cond) => all(self.cond(frame, cond, active) == active),
            Cond::Any(cond) => all(self.cond(frame, cond, active) != 0),
            Cond::AllEqual(expr) => {
                let words = self.expr(frame, expr, active);
                let first = words[active.trailing_zeros() as usize];
                all(lanes(active).all(|lane| words[lane] == first))
            }
            Cond::Not(cond) => active & !self.cond(frame, cond, active),
            Cond::And(args) => {
                let [a, b] = args.each_ref().map(|arg| self.cond(frame, arg, active));
                a & b
            }
            Cond::InverseBallot(cond) => self.cond(frame, cond, active),
        }
    }
}

fn assign(frame: &mut Frame, var: Var, active: Set, value: &Words) {
    for lane in lanes(active) {
        frame.vars[var.0][lane] = value[lane];
    }
}

/// The lanes whose values a lane combines.
fn reach(form: Form, lane: usize) -> Set {
    match form {
        Form::Reduce => u64::MAX,
        Form::Inclusive => u64::MAX >> (63 - lane),
        Form::Exclusive => (1 << lane) - 1,
    }
}

fn fold(op: Combine, words: &Words, of: Set) -> u32 {
    let neutral = match op {
        Combine::Add | Combine::Max | Combine::Or | Combine::Xor => 0,
        Combine::Mul => 1,
        Combine::Min | Combine::And => u32::MAX,
    };
    lanes(of).fold(neutral, |all, lane| match op {
        Combine::Add => all.wrapping_add(words[lane]),
        Combine::Mul => all.wrapping_mul(words[lane]),
        Combine::Min => all.min(words[lane]),
        Combine::Max => all.max(words[lane]),
        Combine::And => all & words[lane],
        Combine::Or => all | words[lane],
        Combine::Xor => all ^ words[lane],
    })
}

fn binary(op: Binary, a: u32, b: u32) -> u32 {
    match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
    }
}

fn compare(op: Compare, a: u32, b: u32) -> bool {
    match op {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::Less => a < b,
        Compare::AtLeast => a >= b,
    }
}
