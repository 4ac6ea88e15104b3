//! Text of machine IR, but for its instructions and operands, which are the machine's. `parse` reads it back.
//!
//! Values that are not of the usual class are listed before the code, by class.

use std::collections::BTreeMap;
use std::fmt;

use super::function::{Block, Function, Terminator, Value, Word};
use super::interface::{Class, Machine};

impl<R: fmt::Display> fmt::Display for Word<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Value(value) => value.fmt(f),
            Word::Register(register) => register.fmt(f),
        }
    }
}

impl<M: Machine> fmt::Display for Terminator<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Jump(to) => write!(f, "jump {to}"),
            Terminator::Branch {
                condition,
                taken,
                otherwise,
            } => write!(f, "branch {condition}, {taken}, {otherwise}"),
            Terminator::End => f.write_str("end"),
        }
    }
}

impl<M: Machine> fmt::Display for Block<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for phi in &self.phis {
            let sources: Vec<String> = phi
                .sources
                .iter()
                .map(|(block, operand)| format!("{block} {operand}"))
                .collect();
            writeln!(f, "  {} = phi {}", phi.dest, sources.join(", "))?;
        }
        for instr in &self.instrs {
            writeln!(f, "  {instr}")?;
        }
        writeln!(f, "  {}", self.terminator)
    }
}

impl<M: Machine> fmt::Display for Function<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.extra.fmt(f)?;
        let mut named: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (number, class) in self.values.iter().enumerate() {
            if let Some(name) = class.name() {
                let values = named.entry(name).or_default();
                values.push(Value(number as u32).to_string());
            }
        }
        for (name, values) in named {
            writeln!(f, "{name} {}", values.join(" "))?;
        }
        for preload in &self.preloads {
            writeln!(f, "preload {} = {}", preload.dest, preload.register)?;
        }
        for id in self.block_ids() {
            write!(f, "{id}:\n{}", self.block(id))?;
        }
        Ok(())
    }
}
