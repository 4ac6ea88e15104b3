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

#[cfg(test)]
mod tests {
    use crate::build::shader_text::{Language, Names, to_spirv_with};
    use crate::interp::{Buffer, Buffers, Dispatch, interpret};
    use crate::options::Options;
    use rspirv::dr::Operand;
    use rspirv::spirv::{Op, Word};
    use std::collections::{BTreeMap, BTreeSet};

    const SHADER: &str = "
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        fn twice(given: u32) -> u32 {
            let doubled = given * 2u;
            return doubled;
        }
        @compute @workgroup_size(4)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let place = id.x;
            let sum = twice(place) + 1u;
            let known = 7u;
            let element = &words[place];
            if place > 1u {
                let inner = sum * known;
                *element = inner;
            } else {
                let before = atomic_free(place);
                *element = before + sum;
            }
        }
        fn atomic_free(at: u32) -> u32 { return words[at]; }
        ";

    /// The names of the variables of functions, and of those to which something is stored.
    fn variables(spirv: &[u8]) -> (BTreeSet<String>, BTreeSet<String>) {
        let module = rspirv::dr::load_bytes(spirv).expect("naga writes modules");
        let names: BTreeMap<Word, String> = module
            .debug_names
            .iter()
            .filter(|instr| instr.class.opcode == Op::Name)
            .filter_map(|instr| match instr.operands.as_slice() {
                [id, Operand::LiteralString(name)] => Some((id.id_ref_any()?, name.clone())),
                _ => None,
            })
            .collect();
        let of = |opcode: Op| {
            let functions = module.functions.iter();
            let all = functions.flat_map(|function| function.all_inst_iter());
            all.filter(move |instr| instr.class.opcode == opcode)
        };
        let own: BTreeSet<Word> = of(Op::Variable).filter_map(|it| it.result_id).collect();
        let stored = of(Op::Store).filter_map(|it| it.operands[0].id_ref_any());
        let stored: BTreeSet<Word> = stored.filter(|id| own.contains(id)).collect();
        let named =
            |ids: BTreeSet<Word>| ids.iter().filter_map(|id| names.get(id).cloned()).collect();
        (named(own), named(stored))
    }

    fn spirv(names: Names) -> Vec<u8> {
        to_spirv_with(Language::Wgsl, "names.wgsl", SHADER, names)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn what_a_let_names_is_stored_to_a_variable_of_that_name() {
        let (plain, _) = variables(&spirv(Names::Variables));
        let (named, stored) = variables(&spirv(Names::All));
        for name in ["place", "sum", "known", "inner", "before", "doubled", "id"] {
            assert!(!plain.contains(name), "{name} of {plain:?} without names");
            assert!(named.contains(name), "{name} is missing: {named:?}");
            assert!(stored.contains(name), "nothing is stored to {name}");
        }
        assert!(!named.contains("element"), "a pointer has a variable");
    }

    #[test]
    fn a_shader_with_more_names_does_the_same() {
        let run = |names| {
            let lowered = crate::front_end(&spirv(names), &Options::default());
            let function = lowered
                .unwrap_or_else(|errors| panic!("{}", errors[0]))
                .function;
            let bytes = (0..4u32).flat_map(|word| (100 * word).to_le_bytes());
            let bytes = bytes.collect();
            let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
            let dispatch = Dispatch {
                groups: [1; 3],
                push_constants: vec![],
                step_limit: 10_000,
            };
            interpret(&function, &dispatch, &mut buffers).unwrap_or_else(|trap| panic!("{trap}"));
            let bytes = buffers[&(0, 0, 0)].bytes.chunks_exact(4);
            let words = bytes.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            words.collect::<Vec<u32>>()
        };
        assert_eq!(run(Names::Variables), [1, 103, 35, 49]);
        assert_eq!(run(Names::All), [1, 103, 35, 49]);
    }
}
