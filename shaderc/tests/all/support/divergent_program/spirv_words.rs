//! Expressions of a program as instructions of a module.

use super::spirv::Writer;
use super::{Binary, Combine, Compare, Cond, Expr, Form};

impl Writer<'_> {
    fn exprs(&mut self, exprs: &[Expr; 2]) -> [String; 2] {
        exprs.each_ref().map(|expr| self.expr(expr))
    }

    /// An operation of the subgroup.
    fn together(&mut self, ty: &str, op: &str, operands: &[&str]) -> String {
        let scope = self.word(3);
        let mut all = vec![scope.as_str()];
        all.extend(operands);
        self.make(ty, &format!("OpGroupNonUniform{op}"), &all)
    }

    fn ballot(&mut self, condition: &str) -> String {
        self.together("%uvec4", "Ballot", &[condition])
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Var(var) => self.load(*var),
            Expr::Word(word) => self.word(*word),
            Expr::Binary(op, args) => {
                let [a, b] = self.exprs(args);
                let op = match op {
                    Binary::Add => "OpIAdd",
                    Binary::Sub => "OpISub",
                    Binary::Mul => "OpIMul",
                    Binary::And => "OpBitwiseAnd",
                    Binary::Or => "OpBitwiseOr",
                    Binary::Xor => "OpBitwiseXor",
                };
                self.make("%u32", op, &[&a, &b])
            }
            Expr::ShiftRight(arg, by) => {
                let arg = self.expr(arg);
                let by = self.word(*by);
                self.make("%u32", "OpShiftRightLogical", &[&arg, &by])
            }
            Expr::Select(condition, args) => {
                let condition = self.cond(condition);
                let [a, b] = self.exprs(args);
                self.make("%u32", "OpSelect", &[&condition, &a, &b])
            }
            Expr::Combine(op, form, arg) => {
                let arg = self.expr(arg);
                self.together("%u32", combine(*op), &[operation(*form), &arg])
            }
            Expr::Cluster(op, size, arg) => {
                let arg = self.expr(arg);
                let size = self.word(*size);
                self.together("%u32", combine(*op), &["3", &arg, &size])
            }
            Expr::First(arg) => {
                let arg = self.expr(arg);
                self.together("%u32", "BroadcastFirst", &[&arg])
            }
            Expr::Shuffle(args) => {
                let [value, from] = self.exprs(args);
                let last = self.word(self.program.lanes - 1);
                let lane = self.make("%u32", "OpBitwiseAnd", &[&from, &last]);
                let active = self.ballot("%true");
                let there = self.together("%bool", "BallotBitExtract", &[&active, &lane]);
                let lowest = self.together("%u32", "BallotFindLSB", &[&active]);
                let from = self.make("%u32", "OpSelect", &[&there, &lane, &lowest]);
                self.together("%u32", "Shuffle", &[&value, &from])
            }
            Expr::Count(form, condition) => {
                let condition = self.cond(condition);
                let mask = self.ballot(&condition);
                self.together("%u32", "BallotBitCount", &[operation(*form), &mask])
            }
            Expr::Ballot(condition) => {
                let condition = self.cond(condition);
                let mask = self.ballot(&condition);
                let [low, high] =
                    ["0", "1"].map(|word| self.make("%u32", "OpCompositeExtract", &[&mask, word]));
                let three = self.word(3);
                let product = self.make("%u32", "OpIMul", &[&high, &three]);
                self.make("%u32", "OpIAdd", &[&low, &product])
            }
        }
    }

    pub(super) fn cond(&mut self, cond: &Cond) -> String {
        match cond {
            Cond::Compare(op, args) => {
                let [a, b] = self.exprs(args);
                let op = match op {
                    Compare::Equal => "OpIEqual",
                    Compare::NotEqual => "OpINotEqual",
                    Compare::Less => "OpULessThan",
                    Compare::AtLeast => "OpUGreaterThanEqual",
                };
                self.make("%bool", op, &[&a, &b])
            }
            Cond::Bit(var, bit) => {
                let value = self.load(*var);
                let [mask, zero] = [1 << bit, 0].map(|word| self.word(word));
                let bit = self.make("%u32", "OpBitwiseAnd", &[&value, &mask]);
                self.make("%bool", "OpINotEqual", &[&bit, &zero])
            }
            Cond::Elect => self.together("%bool", "Elect", &[]),
            Cond::All(cond) => {
                let cond = self.cond(cond);
                self.together("%bool", "All", &[&cond])
            }
            Cond::Any(cond) => {
                let cond = self.cond(cond);
                self.together("%bool", "Any", &[&cond])
            }
            Cond::AllEqual(expr) => {
                let value = self.expr(expr);
                self.together("%bool", "AllEqual", &[&value])
            }
            Cond::Not(cond) => {
                let cond = self.cond(cond);
                self.make("%bool", "OpLogicalNot", &[&cond])
            }
            Cond::And(args) => {
                let [a, b] = args.each_ref().map(|arg| self.cond(arg));
                self.make("%bool", "OpLogicalAnd", &[&a, &b])
            }
            Cond::InverseBallot(cond) => {
                let cond = self.cond(cond);
                let mask = self.ballot(&cond);
                self.together("%bool", "InverseBallot", &[&mask])
            }
        }
    }
}

fn combine(op: Combine) -> &'static str {
    match op {
        Combine::Add => "IAdd",
        Combine::Mul => "IMul",
        Combine::Min => "UMin",
        Combine::Max => "UMax",
        Combine::And => "BitwiseAnd",
        Combine::Or => "BitwiseOr",
        Combine::Xor => "BitwiseXor",
    }
}

fn operation(form: Form) -> &'static str {
    match form {
        Form::Reduce => "0",
        Form::Inclusive => "1",
        Form::Exclusive => "2",
    }
}
