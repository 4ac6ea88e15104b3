//! Names for a debugger: each `let` and each argument of an entry point becomes a variable too, since naga's writer gives a name to
//! variables alone.
//!
//! Needs: a module that naga has validated, and what it found.  Guarantees: the shader does the same; what a pointer names, and what
//! is never computed, gets no variable.
use std::collections::HashMap;

use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    Block, Expression, Function, Handle, LocalVariable, Module, Span, Statement, Type, TypeInner,
    UniqueArena,
};

/// Gives names to what has none in SPIR-V.
pub(super) fn name_lets(module: &mut Module, info: &ModuleInfo) {
    let types = &mut module.types;
    for (handle, function) in module.functions.iter_mut() {
        Names::of(function, &info[handle], types, false).add_to(function);
    }
    for (number, entry_point) in module.entry_points.iter_mut().enumerate() {
        let function = &mut entry_point.function;
        Names::of(function, info.get_entry_point(number), types, true).add_to(function);
    }
}

/// What becomes of a function.
struct Names {
    /// By expression the variable that holds it, as a pointer.
    pointers: HashMap<Handle<Expression>, Handle<Expression>>,
    /// By expression without a place in the source: that of the statement around it. naga's writer takes none for the first line.
    spans: HashMap<Handle<Expression>, Span>,
}

impl Names {
    fn of(
        function: &mut Function,
        info: &FunctionInfo,
        types: &mut UniqueArena<Type>,
        is_entry_point: bool,
    ) -> Names {
        let mut names = HashMap::new();
        let named = function.named_expressions.clone();
        for (expression, name) in named {
            // Arguments of other functions keep their names.
            let is_argument = matches!(
                function.expressions[expression],
                Expression::FunctionArgument(_)
            );
            if is_argument && !is_entry_point {
                continue;
            }
            let ty = match &info[expression].ty {
                TypeResolution::Handle(ty) => *ty,
                TypeResolution::Value(inner) if may_be_stored(inner) => {
                    let inner = inner.clone();
                    types.insert(Type { name: None, inner }, Span::UNDEFINED)
                }
                TypeResolution::Value(_) => continue,
            };
            if !may_be_stored(&types[ty].inner) {
                continue;
            }
            let variable = LocalVariable {
                name: Some(name),
                ty,
                init: None,
            };
            let variable = function.local_variables.append(variable, Span::UNDEFINED);
            let pointer = Expression::LocalVariable(variable);
            let pointer = function.expressions.append(pointer, Span::UNDEFINED);
            names.insert(expression, pointer);
        }
        Names {
            pointers: names,
            spans: HashMap::new(),
        }
    }

    fn add_to(mut self, function: &mut Function) {
        let mut body = Block::new();
        // What is there from the start, in the order of the source.
        for expression in function.named_expressions.keys() {
            let is_given = matches!(
                function.expressions[*expression],
                Expression::FunctionArgument(_)
                    | Expression::Literal(_)
                    | Expression::Constant(_)
                    | Expression::ZeroValue(_)
            );
            if is_given {
                let span = function.expressions.get_span(*expression);
                self.store(*expression, span, &mut body);
            }
        }
        let own = std::mem::take(&mut function.body);
        let first = own.span_iter().map(|(_, span)| *span);
        let first = first.into_iter().find(Span::is_defined).unwrap_or_default();
        body.append(&mut self.block(own, first));
        function.body = body;
        let mut expressions = std::mem::take(&mut function.expressions);
        for (handle, expression, span) in expressions.drain() {
            let outer = self.spans.get(&handle).copied();
            let span = outer.filter(|_| !span.is_defined()).unwrap_or(span);
            // In the same order each has the same handle.
            function.expressions.append(expression, span);
        }
    }

    /// Stores an expression into its variable, if it has one.
    fn store(&self, value: Handle<Expression>, span: Span, out: &mut Block) {
        if let Some(pointer) = self.pointers.get(&value) {
            let pointer = *pointer;
            out.push(Statement::Store { pointer, value }, span);
        }
    }

    /// A block with a store behind each statement that computes something with a name.
    fn block(&mut self, block: Block, outer: Span) -> Block {
        let mut out = Block::with_capacity(block.len());
        for (mut statement, span) in block.span_into_iter() {
            let span = if span.is_defined() { span } else { outer };
            let mut made = vec![];
            match &mut statement {
                Statement::Emit(range) => {
                    made.extend(range.clone());
                    self.spans.extend(range.clone().map(|value| (value, span)));
                }
                Statement::Call { result, .. } => made.extend(*result),
                Statement::Atomic { result, .. } => made.extend(*result),
                Statement::Block(inner) => *inner = self.block(std::mem::take(inner), span),
                Statement::If { accept, reject, .. } => {
                    *accept = self.block(std::mem::take(accept), span);
                    *reject = self.block(std::mem::take(reject), span);
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        case.body = self.block(std::mem::take(&mut case.body), span);
                    }
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    *body = self.block(std::mem::take(body), span);
                    *continuing = self.block(std::mem::take(continuing), span);
                }
                Statement::WorkGroupUniformLoad { result, .. }
                | Statement::SubgroupBallot { result, .. }
                | Statement::SubgroupGather { result, .. }
                | Statement::SubgroupCollectiveOperation { result, .. } => made.push(*result),
                // What else there is gives nothing that a debugger shows.
                _ => {}
            }
            out.push(statement, span);
            for value in made {
                self.store(value, span, &mut out);
            }
        }
        out
    }
}

/// Whether a variable can have that type; what holds types inside is left to the validator that has accepted the value.
fn may_be_stored(inner: &TypeInner) -> bool {
    matches!(
        inner,
        TypeInner::Scalar(_)
            | TypeInner::Vector { .. }
            | TypeInner::Matrix { .. }
            | TypeInner::Struct { .. }
            | TypeInner::Array { .. }
    )
}
