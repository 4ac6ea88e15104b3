//! Parser of the text form: for tests, and for looking at one pass alone.
//!
//! Needs: what `print` writes; comments from `;`.  Guarantees: any text gives a function or an error with a line.
//! Never: checks more than it needs to build the function; `verify` does that.

mod op;

use rustc_hash::FxHashMap as HashMap;
use std::fmt;

use super::binding::{Binding, BindingId, BindingKind};
use super::block::{Merge, Terminator};
use super::function::{Axis, Function, PositionId, Var, VarData};
use super::{BlockId, ImageType, Lanes, Stage, Type, Value};

/// Why a text isn't a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    /// What was expected or is wrong.
    pub problem: Problem,
    /// The word at fault.
    pub word: String,
}

/// What is wrong with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// Nothing starts like this.
    UnknownLine,
    /// A number was expected.
    Number,
    /// No operation has this name.
    UnknownOperation,
    /// The block isn't in the text.
    UnknownBlock,
    /// The value isn't defined above.
    UnknownValue,
    /// The name is defined a second time.
    DefinedTwice,
    /// Not as many operands or results as the operation has.
    Count,
    /// Not a type.
    UnknownType,
    /// There is no such variable.
    UnknownVariable,
    /// There is no such binding.
    UnknownBinding,
    /// An instruction stands outside a block or after the end of one.
    OutsideBlock,
    /// Something is missing at the end of the line.
    Incomplete,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            Problem::UnknownLine => "no line starts like this",
            Problem::Number => "a number is expected",
            Problem::UnknownOperation => "no operation has this name",
            Problem::UnknownBlock => "there is no such block",
            Problem::UnknownValue => "the value is not defined above",
            Problem::DefinedTwice => "this is defined a second time",
            Problem::Count => "wrong number of operands or results",
            Problem::UnknownType => {
                "the types are `bool`, `w8`, `w16`, `w32`, `w64` and `resource`"
            }
            Problem::UnknownVariable => "there is no such variable",
            Problem::UnknownBinding => "there is no such binding",
            Problem::OutsideBlock => "an instruction stands between a label and a terminator",
            Problem::Incomplete => "the line is incomplete",
        };
        write!(f, "line {}: {what}: `{}`", self.line, self.word)
    }
}

impl std::error::Error for ParseError {}

/// Reads one function.
///
/// # Errors
/// The first line that can't be understood.
pub fn parse(text: &str) -> Result<Function, ParseError> {
    let mut parser = Parser {
        function: Function::new("main"),
        values: HashMap::default(),
        blocks: HashMap::default(),
        vars: HashMap::default(),
        current: None,
        pending: vec![],
        line: 0,
    };
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = code(line).strip_suffix(':') {
            parser.line = number + 1;
            let block = parser.function.new_block();
            if parser
                .blocks
                .insert(name.trim().to_owned(), block)
                .is_some()
            {
                return Err(parser.error(Problem::DefinedTwice, name));
            }
        }
    }
    for (number, line) in text.lines().enumerate() {
        parser.line = number + 1;
        let line = code(line);
        if !line.is_empty() {
            parser.line(line)?;
        }
    }
    parser.line = text.lines().count();
    parser.finish()
}

fn code(line: &str) -> &str {
    line.split(';').next().unwrap_or("").trim()
}

struct Parser {
    function: Function,
    values: HashMap<String, Value>,
    blocks: HashMap<String, BlockId>,
    vars: HashMap<String, Var>,
    current: Option<BlockId>,
    /// Phi sources, which may be defined further down: block, index of the phi, predecessor, word, line.
    pending: Vec<(BlockId, usize, BlockId, String, usize)>,
    line: usize,
}

impl Parser {
    fn error(&self, problem: Problem, word: &str) -> ParseError {
        ParseError {
            line: self.line,
            problem,
            word: word.trim().to_owned(),
        }
    }

    fn finish(mut self) -> Result<Function, ParseError> {
        for (block, index, from, word, line) in std::mem::take(&mut self.pending) {
            self.line = line;
            let result = self.function.block(block).phis[index].result;
            let value = self.value(&word, self.function.ty(result))?;
            let phi = &mut self.function.block_mut(block).phis[index];
            phi.sources.push((from, value));
        }
        Ok(self.function)
    }

    fn line(&mut self, line: &str) -> Result<(), ParseError> {
        if let Some(name) = line.strip_suffix(':') {
            self.current = self.blocks.get(name.trim()).copied();
            return Ok(());
        }
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if self.current.is_none() {
            return self.header(first, rest);
        }
        match first {
            "merge" => {
                let merge = match rest {
                    "nowhere" => Merge::Nowhere,
                    _ => match rest.split_once(" else ") {
                        Some((merge, returned)) => Merge::InCall {
                            merge: self.target(merge)?,
                            returned: match returned.trim() {
                                "unknown" => None,
                                known => Some(self.target(known)?),
                            },
                        },
                        None => Merge::At(self.target(rest)?),
                    },
                };
                let block = self.block(rest)?;
                self.function.block_mut(block).merge = Some(merge);
                Ok(())
            }
            "jump" => {
                let target = self.target(rest)?;
                self.end(Terminator::Jump(target))
            }
            "branch" => {
                let [condition, then, otherwise] = self.words(rest)?;
                let terminator = Terminator::Branch {
                    condition: self.value(condition, Type::Bool)?,
                    then: self.target(then)?,
                    otherwise: self.target(otherwise)?,
                };
                self.end(terminator)
            }
            "switch" => self.switch(rest),
            "return" => self.end(Terminator::Return),
            "unreachable" => self.end(Terminator::Unreachable),
            _ => self.inst(line),
        }
    }

    fn header(&mut self, first: &str, rest: &str) -> Result<(), ParseError> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let word = |index: usize| words.get(index).copied().unwrap_or("");
        match first {
            "function" => self.function.name = rest.to_owned(),
            "workgroup" => {
                for axis in 0..3 {
                    self.function.workgroup_size[axis] = self.number(word(axis))?;
                }
            }
            "stage" => {
                let stage = Stage::parse(rest);
                self.function.stage =
                    stage.ok_or_else(|| self.error(Problem::UnknownLine, rest))?;
            }
            "lanes" => {
                let lanes = Lanes::new(self.number(rest)?);
                self.function.lanes = lanes.ok_or_else(|| self.error(Problem::Number, rest))?;
            }
            "shared" => self.function.shared_bytes = self.number(rest)?,
            "scratch" => self.function.scratch_bytes = self.number(rest)?,
            "push" => self.function.push_constant_bytes = self.number(rest)?,
            "binding" => {
                let binding = Binding {
                    set: self.number(word(0))?,
                    binding: self.number(word(1))?,
                    kind: {
                        let kinds = BindingKind::ALL.iter();
                        let kind = kinds.clone().find(|(_, name)| *name == word(2));
                        kind.ok_or_else(|| self.error(Problem::UnknownLine, word(2)))?
                            .0
                    },
                    image: match words.iter().position(|word| *word == "image") {
                        Some(index) => {
                            let image = ImageType::parse(word(index + 1));
                            let unknown = || self.error(Problem::UnknownLine, word(index + 1));
                            Some(image.ok_or_else(unknown)?)
                        }
                        None => None,
                    },
                    count: match words.iter().position(|word| *word == "count") {
                        Some(index) => self.number(word(index + 1))?,
                        None => 1,
                    },
                    written: words.contains(&"written"),
                    restrict: words.contains(&"restrict"),
                    non_uniform: words.contains(&"non_uniform"),
                    min_bytes: match words.iter().position(|word| *word == "bytes") {
                        Some(index) => self.number(word(index + 1))?,
                        None => 0,
                    },
                    name: String::new(),
                };
                self.function.bindings.push(binding);
            }
            "data" => {
                for text in words {
                    let bits = self.number(text)?;
                    self.function.data.push(bits);
                }
            }
            "var" => {
                let data = VarData {
                    ty: self.ty(word(1))?,
                    len: self.number(word(2))?,
                    name: String::new(),
                };
                let var = self.function.new_var(data);
                self.vars.insert(word(0).to_owned(), var);
            }
            _ if first.starts_with('%') => return Err(self.error(Problem::OutsideBlock, first)),
            _ => return Err(self.error(Problem::UnknownLine, first)),
        }
        Ok(())
    }

    fn block(&self, word: &str) -> Result<BlockId, ParseError> {
        self.current
            .ok_or_else(|| self.error(Problem::OutsideBlock, word))
    }

    fn end(&mut self, terminator: Terminator) -> Result<(), ParseError> {
        let block = self.block("")?;
        self.function.block_mut(block).terminator = terminator;
        Ok(())
    }

    fn switch(&mut self, rest: &str) -> Result<(), ParseError> {
        let mut parts = rest.split(',');
        let selector = self.value(parts.next().unwrap_or(""), Type::W32)?;
        let mut cases = vec![];
        let mut default = None;
        for part in parts {
            let Some((value, target)) = part.split_once(':') else {
                return Err(self.error(Problem::Incomplete, part));
            };
            let target = self.target(target)?;
            if value.trim() == "default" {
                default = Some(target);
            } else {
                cases.push((self.bits(value)?, target));
            }
        }
        let default = default.ok_or_else(|| self.error(Problem::Incomplete, rest))?;
        self.end(Terminator::Switch {
            selector,
            cases,
            default,
        })
    }

    fn inst(&mut self, line: &str) -> Result<(), ParseError> {
        let block = self.block(line)?;
        let (results, body) = match line.split_once('=') {
            Some((results, body)) => (results.split(',').map(str::trim).collect(), body.trim()),
            None => (vec![], line),
        };
        let (name, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
        if let Some(ty) = name.strip_prefix("phi.") {
            return self.phi(block, &results, ty, rest);
        }
        let op = self.op(name)?;
        let (exact, rest) = match rest.trim().strip_prefix("exact") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let words: Vec<&str> = match rest.trim() {
            "" => vec![],
            rest => rest.split(',').map(str::trim).collect(),
        };
        let (kinds, kinds_out) = self.function.signature(op);
        if words.len() != kinds.len() || results.len() != kinds_out.len() {
            return Err(self.error(Problem::Count, body));
        }
        let mut args = vec![];
        for (word, kind) in words.iter().zip(kinds) {
            // A constant without a type is a boolean or has 32 bits.
            let ty = kind.ty().unwrap_or(match *word {
                "true" | "false" => Type::Bool,
                _ => Type::W32,
            });
            args.push(self.value(word, ty)?);
        }
        let inst = self.function.new_inst(op, args, exact, PositionId::UNKNOWN);
        self.function.block_mut(block).insts.push(inst);
        for (name, value) in results.iter().zip(self.function.inst(inst).results.clone()) {
            self.define(name, value)?;
        }
        Ok(())
    }

    fn phi(
        &mut self,
        block: BlockId,
        results: &[&str],
        ty: &str,
        rest: &str,
    ) -> Result<(), ParseError> {
        let ty = self.ty(ty)?;
        let [name] = results else {
            return Err(self.error(Problem::Count, rest));
        };
        let value = self.function.new_phi(block, ty);
        self.define(name, value)?;
        let index = self.function.block(block).phis.len() - 1;
        for part in rest.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((from, word)) = part.split_once(':') else {
                return Err(self.error(Problem::Incomplete, part));
            };
            let from = self.target(from)?;
            self.pending
                .push((block, index, from, word.trim().to_owned(), self.line));
        }
        Ok(())
    }

    fn define(&mut self, name: &str, value: Value) -> Result<(), ParseError> {
        if !name.starts_with('%') || self.values.insert(name.to_owned(), value).is_some() {
            return Err(self.error(Problem::DefinedTwice, name));
        }
        Ok(())
    }

    /// A binding by its set and its number.
    fn binding<'t>(
        &self,
        numbers: &mut impl Iterator<Item = &'t str>,
        text: &str,
    ) -> Result<BindingId, ParseError> {
        let set = self.number(numbers.next().unwrap_or(""))?;
        let number = self.number(numbers.next().unwrap_or(""))?;
        let found = self.function.find_binding(set, number);
        found.ok_or_else(|| self.error(Problem::UnknownBinding, text))
    }

    fn axis(&self, name: &str) -> Result<Axis, ParseError> {
        let found = Axis::ALL.into_iter().find(|axis| axis.name() == name);
        found.ok_or_else(|| self.error(Problem::UnknownOperation, name))
    }

    fn ty(&self, name: &str) -> Result<Type, ParseError> {
        Type::from_name(name).ok_or_else(|| self.error(Problem::UnknownType, name))
    }

    fn target(&self, word: &str) -> Result<BlockId, ParseError> {
        let found = self.blocks.get(word.trim()).copied();
        found.ok_or_else(|| self.error(Problem::UnknownBlock, word))
    }

    fn value(&mut self, word: &str, ty: Type) -> Result<Value, ParseError> {
        let word = word.trim();
        if word.starts_with('%') {
            let found = self.values.get(word).copied();
            return found.ok_or_else(|| self.error(Problem::UnknownValue, word));
        }
        if let Some(place) = word.strip_prefix('@') {
            let mut numbers = place.split('.');
            let binding = self.binding(&mut numbers, word)?;
            let element = match numbers.next() {
                Some(element) => self.number(element)?,
                None => 0,
            };
            return Ok(self.function.resource(binding, element));
        }
        let (word, ty) = match word.split_once(':') {
            Some((word, ty)) => (word, self.ty(ty)?),
            None => (word, ty),
        };
        match (ty, word) {
            (Type::Bool, "true") => Ok(self.function.bool(true)),
            (Type::Bool, "false") => Ok(self.function.bool(false)),
            (Type::Bool, _) => Err(self.error(Problem::UnknownValue, word)),
            (Type::W32, _) => {
                let bits = self.number(word)?;
                Ok(self.function.word(bits))
            }
            (_, _) => {
                let bits = self.bits(word)?;
                Ok(self.function.constant_of(ty, bits))
            }
        }
    }

    /// Up to 64 bits in decimal or hexadecimal.
    fn bits(&self, word: &str) -> Result<u64, ParseError> {
        let word = word.trim();
        let parsed = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        parsed.ok_or_else(|| self.error(Problem::Number, word))
    }

    /// A word in decimal of either sign, in hexadecimal, or a float with a point or an exponent.
    fn number(&self, word: &str) -> Result<u32, ParseError> {
        let word = word.trim();
        let parsed = if let Some(digits) = word.strip_prefix("0x") {
            u32::from_str_radix(digits, 16).ok()
        } else if word.contains(['.', 'e']) {
            word.parse::<f32>().ok().map(f32::to_bits)
        } else {
            let signed = word.parse::<i32>().ok().map(|value| value as u32);
            signed.or_else(|| word.parse::<u32>().ok())
        };
        parsed.ok_or_else(|| self.error(Problem::Number, word))
    }

    fn words<'t, const N: usize>(&self, rest: &'t str) -> Result<[&'t str; N], ParseError> {
        let words: Vec<&str> = rest.split(',').map(str::trim).collect();
        words
            .try_into()
            .map_err(|_| self.error(Problem::Count, rest))
    }
}
