//! Expressions of a person: variables with members and elements, numbers, operators; evaluated for one lane.
//!
//! Guarantees: any text gives a value or an error with a sentence; depth is bounded.
use thiserror::Error;

use crate::execution::{Execution, ScalarPlace};
use crate::value::{Node, Place, Scalar};
use eitri_shaderc::ir::source_names::SourceType;

/// Deepest nesting of parentheses and signs.
const MAX_DEPTH: u32 = 64;

/// What is wrong with an expression.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ExpressionError {
    /// The text is none.
    #[error("`{0}` is no expression: {1}")]
    Syntax(String, &'static str),
    /// Nothing has that name here.
    #[error("nothing here is called `{0}`")]
    Unknown(String),
    /// A variable has no such member or element.
    #[error("`{0}` has no part `{1}`")]
    NoPart(String, String),
    /// An operator that needs one number was given a whole, or something without a value.
    #[error("`{0}` has no single value here")]
    NoValue(String),
    /// Operands do not fit.
    #[error("`{0}` can't be computed of these")]
    Operands(&'static str),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    text: String,
    root: Term,
}

#[derive(Clone, PartialEq, Debug)]
enum Term {
    Number(Scalar),
    Name(String),
    Member(Box<Term>, String),
    Element(Box<Term>, Box<Term>),
    Not(Box<Term>),
    Negative(Box<Term>),
    Binary(&'static str, Box<Term>, Box<Term>),
}

/// What an expression gives: a variable that can be looked into, or a number.
#[derive(Clone, PartialEq, Debug)]
pub enum Evaluated {
    /// A variable or a part of one.
    Node(Node),
    /// A number that was computed.
    Scalar(Scalar),
}

/// Where an expression is evaluated.
#[derive(Debug)]
pub struct Context<'e, E> {
    /// The execution.
    pub execution: &'e E,
    /// The thread.
    pub thread: usize,
    /// The call path.
    pub path: usize,
    /// The lane.
    pub lane: usize,
}

// Derived, they would ask the same of the execution.
impl<E> Clone for Context<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Context<'_, E> {}

/// Binary operators by strength, the weakest first; of two that begin alike the longer stands first.
const LEVELS: [&[&str]; 8] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["+", "-"],
];
const PRODUCTS: &[&str] = &["*", "/", "%"];

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn wrong(&self, what: &'static str) -> ExpressionError {
        ExpressionError::Syntax(self.text.to_owned(), what)
    }

    fn operator(&mut self, level: &[&'static str]) -> Option<&'static str> {
        self.skip();
        let rest = self.rest();
        let found = level.iter().find(|own| rest.starts_with(**own)).copied()?;
        // `&` is not half of `&&`, nor `|` of `||`.
        let doubled = found.len() == 1 && "&|".contains(found) && rest[1..].starts_with(found);
        (!doubled).then(|| {
            self.at += found.len();
            found
        })
    }

    fn level(&mut self, number: usize) -> Result<Term, ExpressionError> {
        let Some(level) = LEVELS.get(number) else {
            return self.product();
        };
        let mut left = self.level(number + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.level(number + 1)?;
            left = Term::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Term, ExpressionError> {
        let mut left = self.unary()?;
        while let Some(operator) = self.operator(PRODUCTS) {
            let right = self.unary()?;
            left = Term::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Term, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("it is nested too deep"));
        }
        let term = if self.takes("!") {
            Term::Not(Box::new(self.unary()?))
        } else if self.takes("-") {
            Term::Negative(Box::new(self.unary()?))
        } else {
            self.postfix()?
        };
        self.depth -= 1;
        Ok(term)
    }

    fn postfix(&mut self) -> Result<Term, ExpressionError> {
        let mut term = self.primary()?;
        loop {
            if self.takes(".") {
                let name = self.word();
                if name.is_empty() {
                    return Err(self.wrong("a member's name is missing"));
                }
                term = Term::Member(Box::new(term), name);
            } else if self.takes("[") {
                let index = self.level(0)?;
                if !self.takes("]") {
                    return Err(self.wrong("`]` is missing"));
                }
                term = Term::Element(Box::new(term), Box::new(index));
            } else {
                return Ok(term);
            }
        }
    }

    fn word(&mut self) -> String {
        self.skip();
        let rest = self.rest();
        let is_part = |one: char| one.is_alphanumeric() || one == '_';
        let len = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
        self.at += len;
        rest[..len].to_owned()
    }

    fn primary(&mut self) -> Result<Term, ExpressionError> {
        if self.takes("(") {
            let inner = self.level(0)?;
            if !self.takes(")") {
                return Err(self.wrong("`)` is missing"));
            }
            return Ok(inner);
        }
        self.skip();
        match self.rest().chars().next() {
            None => Err(self.wrong("something is missing at its end")),
            Some(first) if first.is_ascii_digit() => self.number(),
            Some(mark @ ('%' | '$')) => {
                self.at += 1;
                Ok(Term::Name(format!("{mark}{}", self.word())))
            }
            Some(first) if first.is_alphabetic() || first == '_' => {
                let name = self.word();
                Ok(match name.as_str() {
                    "true" => Term::Number(Scalar::Bool(true)),
                    "false" => Term::Number(Scalar::Bool(false)),
                    _ => Term::Name(name),
                })
            }
            Some(_) => Err(self.wrong("there is a sign that means nothing")),
        }
    }

    fn number(&mut self) -> Result<Term, ExpressionError> {
        let rest = self.rest();
        if let Some(hex) = rest.strip_prefix("0x").or(rest.strip_prefix("0X")) {
            let len = hex
                .find(|one: char| !one.is_ascii_hexdigit())
                .unwrap_or(hex.len());
            let value = u64::from_str_radix(&hex[..len], 16);
            let value = value.map_err(|_| self.wrong("a number is too long"))?;
            self.at += 2 + len;
            self.takes("u");
            return Ok(Term::Number(Scalar::Int(value.into())));
        }
        let mut len = 0;
        let bytes = rest.as_bytes();
        while let Some(byte) = bytes.get(len) {
            let sign = matches!(byte, b'+' | b'-')
                && matches!(bytes.get(len.wrapping_sub(1)), Some(b'e' | b'E'));
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || sign) {
                break;
            }
            len += 1;
        }
        let text = &rest[..len];
        self.at += len;
        let suffix = self
            .rest()
            .chars()
            .next()
            .filter(|one| "uif".contains(*one));
        self.at += usize::from(suffix.is_some());
        let scalar = match text.parse::<u64>() {
            Ok(value) if suffix != Some('f') => Scalar::Int(value.into()),
            _ => Scalar::Float(
                text.parse().map_err(|_| self.wrong("a number is wrong"))?,
                64,
            ),
        };
        Ok(Term::Number(scalar))
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// Where the text is none.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let root = parser.level(0)?;
        parser.skip();
        if !parser.rest().is_empty() {
            return Err(parser.wrong("something stands behind its end"));
        }
        Ok(Expression {
            text: text.trim().to_owned(),
            root,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it gives in a lane.
    ///
    /// # Errors
    /// A name that nothing has, a part that is not there, a value that is missing.
    pub fn evaluate<E: Execution>(
        &self,
        context: Context<'_, E>,
    ) -> Result<Evaluated, ExpressionError> {
        self.root.evaluate(context)
    }

    /// Whether it holds in a lane. Where it has no value it does not.
    pub fn holds<E: Execution>(&self, context: Context<'_, E>) -> bool {
        match self.root.scalar(context) {
            Ok(Scalar::Bool(value)) => value,
            Ok(Scalar::Int(value)) => value != 0,
            Ok(Scalar::Float(value, _)) => value != 0.0,
            Err(_) => false,
        }
    }
}

/// The variable with that name, as a context sees it: a local one, then a global one, then a member of a block.
pub fn find<E: Execution>(context: Context<'_, E>, name: &str) -> Option<Node> {
    let Context {
        execution,
        thread,
        path,
        ..
    } = context;
    let known = |bits: u64| Node::word(name.to_owned(), ScalarPlace::Known(bits));
    let [x, y, z] = execution.workgroup();
    match name {
        "$lane" => return Some(known(context.lane as u64)),
        "$warp" => return Some(known(execution.warp_number(thread) as u64)),
        "$group" => return Some(known(x.into())),
        "$group_y" => return Some(known(y.into())),
        "$group_z" => return Some(known(z.into())),
        _ if name.starts_with(['%', '$']) => return execution.special(name),
        _ => {}
    }
    for scope in 0..2 {
        let nodes = execution.nodes(scope, thread, path);
        // The one that was declared last hides others.
        if let Some(found) = nodes.iter().rev().find(|node| node.name == name) {
            return Some(found.clone());
        }
        let blocks = nodes.iter().filter(|node| {
            matches!(node.ty, SourceType::Struct(_)) && matches!(node.place, Place::Bytes(..))
        });
        let member = blocks
            .into_iter()
            .find_map(|node| node.named_part(execution, name));
        if member.is_some() {
            return member;
        }
    }
    None
}

impl Term {
    fn name(&self) -> String {
        match self {
            Term::Name(name) => name.clone(),
            Term::Member(of, name) => format!("{}.{name}", of.name()),
            Term::Element(of, _) => format!("{}[]", of.name()),
            Term::Number(value) => value.to_string(),
            Term::Not(of) => format!("!{}", of.name()),
            Term::Negative(of) => format!("-{}", of.name()),
            Term::Binary(operator, left, right) => {
                format!("{} {operator} {}", left.name(), right.name())
            }
        }
    }

    fn evaluate<E: Execution>(
        &self,
        context: Context<'_, E>,
    ) -> Result<Evaluated, ExpressionError> {
        let node = |term: &Term| match term.evaluate(context)? {
            Evaluated::Node(node) => Ok(node),
            Evaluated::Scalar(_) => Err(ExpressionError::NoPart(term.name(), self.name())),
        };
        Ok(match self {
            Term::Name(name) => Evaluated::Node(
                find(context, name).ok_or_else(|| ExpressionError::Unknown(name.clone()))?,
            ),
            Term::Member(of, name) => {
                let whole = node(of)?;
                let part = whole.named_part(context.execution, name);
                let missing = || ExpressionError::NoPart(of.name(), name.clone());
                let mut part = part.ok_or_else(missing)?;
                part.name = format!("{}.{name}", whole.name);
                Evaluated::Node(part)
            }
            Term::Element(of, index) => {
                let whole = node(of)?;
                let Scalar::Int(number) = index.scalar(context)? else {
                    return Err(ExpressionError::Operands("[]"));
                };
                let missing = || ExpressionError::NoPart(of.name(), number.to_string());
                let part = u64::try_from(number).ok();
                let part = part.and_then(|number| whole.part(context.execution, number));
                let mut part = part.ok_or_else(missing)?;
                part.name = format!("{}[{number}]", whole.name);
                Evaluated::Node(part)
            }
            Term::Number(_) | Term::Not(_) | Term::Negative(_) | Term::Binary(..) => {
                Evaluated::Scalar(self.scalar(context)?)
            }
        })
    }

    fn scalar<E: Execution>(&self, context: Context<'_, E>) -> Result<Scalar, ExpressionError> {
        match self {
            Term::Number(value) => Ok(*value),
            Term::Not(of) => match of.scalar(context)? {
                Scalar::Bool(value) => Ok(Scalar::Bool(!value)),
                Scalar::Int(value) => Ok(Scalar::Bool(value == 0)),
                Scalar::Float(..) => Err(ExpressionError::Operands("!")),
            },
            Term::Negative(of) => match of.scalar(context)? {
                Scalar::Int(value) => Ok(Scalar::Int(value.wrapping_neg())),
                Scalar::Float(value, bits) => Ok(Scalar::Float(-value, bits)),
                Scalar::Bool(_) => Err(ExpressionError::Operands("-")),
            },
            Term::Binary(operator, left, right) => {
                let left = left.scalar(context)?;
                // What can't matter need not have a value.
                match (*operator, left) {
                    ("&&", Scalar::Bool(false)) => return Ok(left),
                    ("||", Scalar::Bool(true)) => return Ok(left),
                    _ => {}
                }
                binary(operator, left, right.scalar(context)?)
            }
            Term::Name(_) | Term::Member(..) | Term::Element(..) => {
                match self.evaluate(context)? {
                    Evaluated::Scalar(scalar) => Ok(scalar),
                    Evaluated::Node(node) => node
                        .scalar(context.execution, context.thread, context.lane)
                        .ok_or_else(|| ExpressionError::NoValue(self.name())),
                }
            }
        }
    }
}

fn binary(operator: &'static str, left: Scalar, right: Scalar) -> Result<Scalar, ExpressionError> {
    let refused = Err(ExpressionError::Operands(operator));
    match (left, right) {
        (Scalar::Bool(left), Scalar::Bool(right)) => Ok(Scalar::Bool(match operator {
            "&&" | "&" => left & right,
            "||" | "|" => left | right,
            "==" => left == right,
            "!=" | "^" => left != right,
            _ => return refused,
        })),
        (Scalar::Int(left), Scalar::Int(right)) => integers(operator, left, right),
        (Scalar::Bool(_), _) | (_, Scalar::Bool(_)) => refused,
        (left, right) => {
            let float = |scalar| match scalar {
                Scalar::Float(value, _) => value,
                Scalar::Int(value) => value as f64,
                Scalar::Bool(value) => f64::from(u8::from(value)),
            };
            // A number beside a float of the shader has its precision: `x == 0.1` means what it means there.
            let single = |scalar| matches!(scalar, Scalar::Float(_, bits) if bits < 64);
            let is_single = single(left) || single(right);
            let rounded = |value: f64| match is_single {
                true => f64::from(value as f32),
                false => value,
            };
            let (left, right) = (rounded(float(left)), rounded(float(right)));
            Ok(match operator {
                "+" => Scalar::Float(left + right, 64),
                "-" => Scalar::Float(left - right, 64),
                "*" => Scalar::Float(left * right, 64),
                "/" => Scalar::Float(left / right, 64),
                "==" => Scalar::Bool(left == right),
                "!=" => Scalar::Bool(left != right),
                "<" => Scalar::Bool(left < right),
                "<=" => Scalar::Bool(left <= right),
                ">" => Scalar::Bool(left > right),
                ">=" => Scalar::Bool(left >= right),
                _ => return refused,
            })
        }
    }
}

fn integers(operator: &'static str, left: i128, right: i128) -> Result<Scalar, ExpressionError> {
    let refused = ExpressionError::Operands(operator);
    let value = match operator {
        "+" => Some(left.wrapping_add(right)),
        "-" => Some(left.wrapping_sub(right)),
        "*" => Some(left.wrapping_mul(right)),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&&" => return Ok(Scalar::Bool(left != 0 && right != 0)),
        "||" => return Ok(Scalar::Bool(left != 0 || right != 0)),
        "==" => return Ok(Scalar::Bool(left == right)),
        "!=" => return Ok(Scalar::Bool(left != right)),
        "<" => return Ok(Scalar::Bool(left < right)),
        "<=" => return Ok(Scalar::Bool(left <= right)),
        ">" => return Ok(Scalar::Bool(left > right)),
        ">=" => return Ok(Scalar::Bool(left >= right)),
        _ => None,
    };
    value.map(Scalar::Int).ok_or(refused)
}
