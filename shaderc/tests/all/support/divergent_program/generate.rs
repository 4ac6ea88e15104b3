//! The program of a seed.
//!
//! Guarantees: variables are set before they are read, loops end, and a condition guards each way out of a loop.

use super::{
    Binary, Block, COMMON, Combine, Compare, Cond, Expr, Form, Function, How, INPUT, INVOCATION,
    LANE, Loop, Program, RESULT, Random, Stmt, Switch, Test, Var,
};

/// Deepest nesting of statements.
const DEPTH: u32 = 4;
/// Words that are read.
const INPUTS: u32 = 128;

struct Generator<'r> {
    random: &'r mut Random,
    lanes: u32,
    /// Statements that may still be made.
    budget: u32,
    /// Variables of the function so far.
    vars: usize,
    readable: Vec<Var>,
    writable: Vec<Var>,
    /// For each loop around: whether it may be continued without an end.
    loops: Vec<bool>,
    /// Functions that may be called.
    functions: usize,
}

/// The program of a seed, for subgroups of so many lanes.
pub fn generate(seed: u64, lanes: u32) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(lanes));
    let invocations = [lanes, lanes - 3, 2 * lanes, lanes + lanes / 4][random.below(4) as usize];
    let mut functions: Vec<Function> = vec![];
    let mut tickets = vec![];
    for budget in [6, 8, 26] {
        let is_main = budget == 26;
        let mut generator = Generator {
            random: &mut random,
            lanes,
            budget,
            vars: COMMON,
            readable: vec![INPUT, RESULT, LANE, INVOCATION],
            writable: vec![INPUT, RESULT],
            loops: vec![],
            functions: functions.len(),
        };
        if is_main && invocations <= lanes {
            for number in 0..generator.random.below(3) {
                let value = generator.expr(1);
                let var = generator.declare();
                tickets.push(Stmt::Ticket(var, value, number * invocations));
            }
        }
        let count = 2 + generator.random.below(5);
        let mut body = generator.block(0, count);
        if is_main {
            body.splice(0..0, std::mem::take(&mut tickets));
        }
        let vars = generator.vars;
        functions.push(Function { vars, body });
    }
    // Small numbers are often equal.
    let mask = [u32::MAX, 3, 15][random.below(3) as usize];
    let input = (0..INPUTS).map(|_| random.word() & mask).collect();
    let returns_itself = random.below(2) == 0;
    Program {
        lanes,
        invocations,
        functions,
        input,
        returns_itself,
    }
}

impl Generator<'_> {
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len() as u32) as usize]
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.below(of) == 0
    }

    /// A new variable, which may be read and written from here on.
    fn declare(&mut self) -> Var {
        let var = self.hidden();
        self.readable.push(var);
        self.writable.push(var);
        var
    }

    /// A new variable that nothing else may use.
    fn hidden(&mut self) -> Var {
        let var = Var(self.vars);
        self.vars += 1;
        var
    }

    fn readable(&mut self) -> Var {
        self.pick(&self.readable.clone())
    }

    fn writable(&mut self) -> Var {
        self.pick(&self.writable.clone())
    }

    /// Statements in a scope. Those after one that no lane gets past are left out.
    fn block(&mut self, depth: u32, count: u32) -> Block {
        let (readable, writable) = (self.readable.len(), self.writable.len());
        let mut block = vec![];
        for _ in 0..count {
            let stmt = self.stmt(depth, &mut block);
            let ends = stmt.ends();
            block.push(stmt);
            if ends {
                break;
            }
        }
        self.readable.truncate(readable);
        self.writable.truncate(writable);
        block
    }

    fn some(&mut self, depth: u32, most: u32) -> Block {
        let count = 1 + self.random.below(most);
        self.block(depth, count)
    }

    /// A statement, and in front of it what it needs.
    fn stmt(&mut self, depth: u32, before: &mut Block) -> Stmt {
        self.budget = self.budget.saturating_sub(1);
        let kinds = if depth < DEPTH && self.budget > 0 {
            20
        } else {
            7
        };
        match self.random.below(kinds) {
            0..=2 => {
                let value = self.expr(0);
                Stmt::Set(self.declare(), How::Set, value)
            }
            3..=5 => self.assignment(),
            6 => {
                let value = self.expr(1);
                Stmt::AddOwn(self.declare(), value)
            }
            7 | 8 => {
                let condition = self.cond(0);
                let then = self.some(depth + 1, 3);
                let otherwise = match self.chance(2) {
                    true => self.some(depth + 1, 3),
                    false => vec![],
                };
                Stmt::If(condition, then, otherwise)
            }
            9..=13 => self.a_loop(depth),
            14 | 15 => self.waterfall(depth, before),
            16 => self.switch(depth),
            17 if self.functions > 0 => {
                let argument = self.expr(1);
                let function = self.random.below(self.functions as u32) as usize;
                Stmt::Call(self.declare(), function, argument)
            }
            _ => self.way_out(depth),
        }
    }

    fn assignment(&mut self) -> Stmt {
        let value = self.expr(0);
        let how = self.pick(&[How::Set, How::Add, How::Xor, How::Xor]);
        Stmt::Set(self.writable(), how, value)
    }

    /// Lanes for which a condition holds do something and leave.
    fn way_out(&mut self, depth: u32) -> Stmt {
        let condition = self.cond(0);
        let mut block = match self.chance(4) {
            true => vec![],
            false => self.some(depth + 1, 2),
        };
        if !block.last().is_some_and(Stmt::ends) {
            block.push(match (self.loops.last(), self.random.below(8)) {
                (_, 0) | (None, 1..=2) => Stmt::Return,
                (Some(true), 1..=3) => Stmt::Continue,
                (Some(_), _) => Stmt::Break,
                (None, _) => self.assignment(),
            });
        }
        Stmt::If(condition, block, vec![])
    }

    fn a_loop(&mut self, depth: u32) -> Stmt {
        let rounds = match self.random.below(5) {
            0..=2 => Expr::Word(self.random.below(6)),
            3 => self.low_bits(),
            _ => binary(Binary::And, Expr::Var(LANE), Expr::Word(3)),
        };
        let test = match self.chance(4) {
            true => Test::Bottom(self.cond(1)),
            false => Test::Top,
        };
        self.loop_of(rounds, test, true, |own| {
            let mut body = own.some(depth + 1, 3);
            if !own.chance(5) && !body.last().is_some_and(Stmt::ends) {
                body.push(own.way_out(depth + 1));
                if own.chance(2) {
                    body.extend(own.some(depth + 1, 2));
                }
            }
            body
        })
    }

    /// All lanes that have the first lane's word do something together and leave; the others go round again.
    fn waterfall(&mut self, depth: u32, before: &mut Block) -> Stmt {
        let key = self.low_bits();
        let leaves = match self.chance(6) {
            true => Stmt::Return,
            false => Stmt::Break,
        };
        let (rounds, test, bounded) = match self.chance(2) {
            true => (Expr::Word(self.lanes), Test::Never, false),
            // There are four different words.
            false => (Expr::Word(4 + self.random.below(2)), Test::Top, true),
        };
        let kept = self.hidden();
        self.readable.push(kept);
        before.push(Stmt::Set(kept, How::Set, key));
        self.loop_of(rounds, test, bounded, |own| {
            let first = Expr::First(Box::new(Expr::Var(kept)));
            let same = compare(Compare::Equal, first, Expr::Var(kept));
            let mut block = own.some(depth + 1, 2);
            if !block.last().is_some_and(Stmt::ends) {
                block.push(leaves);
            }
            vec![Stmt::If(same, block, vec![])]
        })
    }

    fn loop_of(
        &mut self,
        rounds: Expr,
        test: Test,
        bounded: bool,
        body: impl FnOnce(&mut Self) -> Block,
    ) -> Stmt {
        let (counter, limit) = (self.hidden(), self.hidden());
        // It stays readable behind the loop, where lanes have left it in different rounds.
        self.readable.push(counter);
        self.loops.push(bounded);
        let body = body(self);
        self.loops.pop();
        let next = match self.chance(3) {
            true => vec![self.assignment()],
            false => vec![],
        };
        Stmt::Loop(Box::new(Loop {
            counter,
            limit,
            rounds,
            test,
            body,
            next,
        }))
    }

    fn switch(&mut self, depth: u32) -> Stmt {
        let selector = self.expr(1);
        let mut left: Vec<u32> = (0..4).collect();
        let mut cases = vec![];
        for _ in 0..1 + self.random.below(3) {
            let mut values = vec![];
            for _ in 0..1 + self.random.below(2) {
                if left.len() > 1 {
                    let number = self.random.below(left.len() as u32);
                    values.push(left.swap_remove(number as usize));
                }
            }
            if !values.is_empty() {
                cases.push((values, self.some(depth + 1, 2)));
            }
        }
        let default = self.some(depth + 1, 2);
        Stmt::Switch(Box::new(Switch {
            selector,
            cases,
            default,
        }))
    }

    fn low_bits(&mut self) -> Expr {
        let value = self.expr(1);
        binary(Binary::And, value, Expr::Word(3))
    }

    fn expr(&mut self, depth: u32) -> Expr {
        let kinds = if depth < 2 { 16 } else { 4 };
        match self.random.below(kinds) {
            0..=2 => Expr::Var(self.readable()),
            3 => Expr::Word(self.random.word()),
            4..=6 => {
                let ops = [
                    Binary::Add,
                    Binary::Sub,
                    Binary::Mul,
                    Binary::And,
                    Binary::Or,
                    Binary::Xor,
                ];
                let op = self.pick(&ops);
                let [a, b] = [(); 2].map(|()| self.expr(depth + 1));
                binary(op, a, b)
            }
            7 => {
                let value = self.expr(depth + 1);
                Expr::ShiftRight(Box::new(value), self.random.below(32))
            }
            8 => {
                let condition = self.cond(depth + 1);
                let args = [(); 2].map(|()| self.expr(depth + 1));
                Expr::Select(Box::new(condition), Box::new(args))
            }
            9 | 10 => {
                let (op, form) = (self.combine(), self.form());
                Expr::Combine(op, form, Box::new(self.expr(depth + 1)))
            }
            11 => {
                let (op, size) = (self.combine(), self.pick(&[1, 2, 4, 8, 16]));
                Expr::Cluster(op, size, Box::new(self.expr(depth + 1)))
            }
            12 => Expr::First(Box::new(self.expr(depth + 1))),
            13 => Expr::Shuffle(Box::new([(); 2].map(|()| self.expr(depth + 1)))),
            14 => {
                let form = self.form();
                Expr::Count(form, Box::new(self.cond(depth + 1)))
            }
            _ => Expr::Ballot(Box::new(self.cond(depth + 1))),
        }
    }

    fn combine(&mut self) -> Combine {
        self.pick(&[
            Combine::Add,
            Combine::Add,
            Combine::Mul,
            Combine::Min,
            Combine::Max,
            Combine::And,
            Combine::Or,
            Combine::Xor,
        ])
    }

    fn form(&mut self) -> Form {
        self.pick(&[Form::Reduce, Form::Reduce, Form::Inclusive, Form::Exclusive])
    }

    fn cond(&mut self, depth: u32) -> Cond {
        let kinds = if depth < 2 { 13 } else { 6 };
        match self.random.below(kinds) {
            0..=2 => Cond::Bit(self.readable(), self.random.below(4)),
            3 | 4 => {
                let ops = [
                    Compare::Equal,
                    Compare::NotEqual,
                    Compare::Less,
                    Compare::AtLeast,
                ];
                let op = self.pick(&ops);
                let [a, b] = [(); 2].map(|()| self.expr(depth + 1));
                compare(op, a, b)
            }
            5 => Cond::Elect,
            6 => Cond::All(Box::new(self.cond(depth + 1))),
            7 => Cond::Any(Box::new(self.cond(depth + 1))),
            8 => Cond::AllEqual(Box::new(self.expr(depth + 1))),
            9 | 10 => Cond::Not(Box::new(self.cond(depth + 1))),
            11 => Cond::And(Box::new([(); 2].map(|()| self.cond(depth + 1)))),
            _ => Cond::InverseBallot(Box::new(self.cond(depth + 1))),
        }
    }
}

fn binary(op: Binary, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new([a, b]))
}

fn compare(op: Compare, a: Expr, b: Expr) -> Cond {
    Cond::Compare(op, Box::new([a, b]))
}
