//! Reach: what an entry point uses of a module, which may hold several, of other stages too.
//!
//! Needs: instructions of `reader`.  Guarantees: every function that the entry point can come to, each once, and every
//! declaration that one of them names, or that such a declaration is made of. Never more: literals aren't taken for ids.
//!
//! Where the entry point is the only one, all is its own that is declared, but for what only functions name to which it
//! doesn't come: who binds resources goes by what is declared. Variables are left out if the options say so ([`Bindings::Used`]).

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::grammar::{INSTRUCTION_TABLE, LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv::{BuiltIn, Decoration, MemoryAccess, Op, StorageClass};

use super::reader::Instr;
use crate::options::Bindings;

/// The functions of a module, by what the entry point has to do with them.
pub(super) struct Functions<'m> {
    /// Those that it can come to; first itself.
    pub reached: Vec<&'m [Instr]>,
    others: Vec<&'m [Instr]>,
}

/// What of a module is the entry point's own.
pub(super) struct Reach {
    functions: HashSet<u32>,
    declarations: HashSet<u32>,
    /// What the other functions use. Nothing if there are other entry points: then what nobody names is nobody's.
    others: Option<HashSet<u32>>,
}

impl<'m> Functions<'m> {
    /// Those that the function of that id can come to. All are others' if there is none.
    pub fn of(instrs: &'m [Instr], entry: Option<u32>) -> Functions<'m> {
        let mut bodies: HashMap<u32, &[Instr]> = HashMap::default();
        for body in instrs.split_inclusive(|instr| instr.op == Op::FunctionEnd) {
            let start = body.iter().position(|instr| instr.op == Op::Function);
            let body = &body[start.unwrap_or(body.len())..];
            if let Some(id) = body.first().and_then(|function| function.result) {
                bodies.insert(id, body);
            }
        }
        let mut reached = vec![];
        let mut work: Vec<u32> = entry.into_iter().collect();
        while let Some(id) = work.pop() {
            // Taken out, so that a function that calls itself comes once.
            if let Some(body) = bodies.remove(&id) {
                let calls = body.iter().filter(|instr| instr.op == Op::FunctionCall);
                work.extend(calls.filter_map(|call| call.operands.first()));
                reached.push(body);
            }
        }
        Functions {
            reached,
            others: bodies.into_values().collect(),
        }
    }

    /// The instructions of the functions that are reached.
    pub fn instrs(&self) -> impl Iterator<Item = &'m Instr> {
        self.reached.iter().copied().flatten()
    }
}

impl Reach {
    /// What the entry point with those functions uses.
    pub fn of(instrs: &[Instr], functions: &Functions<'_>, bindings: Bindings) -> Reach {
        let own = functions.reached.iter().filter_map(|body| body[0].result);
        let own: HashSet<u32> = own.collect();
        let entries = instrs.iter().filter(|instr| instr.op == Op::EntryPoint);
        let is_alone = entries.count() <= 1;
        let has_all = is_alone && bindings == Bindings::Declared;
        let declared: HashMap<u32, &Instr> = declarations(instrs)
            .filter_map(|instr| Some((instr.result?, instr)))
            .collect();
        let silent = silent_sets(&declared);
        let mut roots = named(&functions.reached, &silent);
        for instr in declarations(instrs) {
            match (instr.op, &*instr.operands) {
                // The size of the workgroup, in two ways.
                (Op::ExecutionModeId, [function, ..]) if own.contains(function) => {
                    for_ids(instr, |id| roots.push(id));
                }
                (Op::Decorate, &[id, decoration, built_in])
                    if decoration == Decoration::BuiltIn as u32
                        && built_in == BuiltIn::WorkgroupSize as u32
                        && declared.get(&id).is_some_and(|of| of.op != Op::Variable) =>
                {
                    roots.push(id);
                }
                (Op::Variable, [class, ..]) if has_all && !is_of_stage(*class) => {
                    roots.extend(instr.result);
                }
                _ => {}
            }
        }
        let others = || closure(&declared, named(&functions.others, &silent));
        Reach {
            others: is_alone.then(others),
            declarations: closure(&declared, roots),
            functions: own,
        }
    }

    /// Whether there is no other entry point.
    pub fn is_alone(&self) -> bool {
        self.others.is_some()
    }

    /// Whether a function is reached.
    pub fn has_function(&self, function: &Instr) -> bool {
        function
            .result
            .is_some_and(|id| self.functions.contains(&id))
    }

    /// Whether a variable is one of the entry point's.
    pub fn has_variable(&self, id: u32) -> bool {
        self.declarations.contains(&id)
    }

    /// Whether what stands outside functions matters to the entry point.
    pub fn has(&self, declaration: &Instr) -> bool {
        declaration.result.is_none_or(|id| {
            let others = self.others.as_ref();
            self.declarations.contains(&id) || others.is_some_and(|others| !others.contains(&id))
        })
    }
}

/// Whether variables of that class are what a stage is given and gives.
fn is_of_stage(class: u32) -> bool {
    class == StorageClass::Input as u32 || class == StorageClass::Output as u32
}

/// The sets of instructions that have no meaning for the result, and so need nothing.
fn silent_sets(declared: &HashMap<u32, &Instr>) -> HashSet<u32> {
    let imports = declared
        .values()
        .filter(|instr| instr.op == Op::ExtInstImport);
    let silent = imports.filter(|import| {
        let name = import.string(0).map(|(name, _)| name);
        name.is_ok_and(|name| name.starts_with("NonSemantic.") && name != "NonSemantic.DebugPrintf")
    });
    silent.filter_map(|import| import.result).collect()
}

/// The ids that functions name.
fn named(functions: &[&[Instr]], silent: &HashSet<u32>) -> Vec<u32> {
    let mut ids = vec![];
    for instr in functions.iter().copied().flatten() {
        let is_extended = matches!(instr.op, Op::ExtInst | Op::ExtInstWithForwardRefsKHR);
        let set = instr.operands.first().filter(|_| is_extended);
        if set.is_none_or(|set| !silent.contains(set)) {
            for_ids(instr, |id| ids.push(id));
        }
    }
    ids
}

/// What stands outside functions.
pub(super) fn declarations(instrs: &[Instr]) -> impl Iterator<Item = &Instr> {
    instrs.iter().take_while(|instr| instr.op != Op::Function)
}

/// Ids, and all that what they declare is made of.
fn closure(declared: &HashMap<u32, &Instr>, mut work: Vec<u32>) -> HashSet<u32> {
    let mut found = HashSet::default();
    while let Some(id) = work.pop() {
        if found.insert(id)
            && let Some(instr) = declared.get(&id)
        {
            for_ids(instr, |id| work.push(id));
        }
    }
    found
}

/// Calls for each id that an instruction reads.
pub(super) fn for_ids(instr: &Instr, mut take: impl FnMut(u32)) {
    instr.ty.into_iter().for_each(&mut take);
    let mut form = instr.form();
    let mut words = &*instr.operands;
    if instr.op == Op::SpecConstantOp
        && let Some((number, rest)) = words.split_first()
    {
        // The operands are those of the instruction that it computes.
        let of = u16::try_from(*number).ok();
        let of = of.and_then(|number| INSTRUCTION_TABLE.lookup_opcode(number.into()));
        form = of.map_or(&[], |of| of.operands);
        words = rest;
    }
    for operand in form {
        if !matches!(
            operand.kind,
            OperandKind::IdResultType | OperandKind::IdResult
        ) {
            words = for_ids_of(operand, words, &mut take);
        }
    }
}

/// The same of one operand; the words behind it.
fn for_ids_of<'w>(
    operand: &LogicalOperand,
    mut words: &'w [u32],
    mut take: impl FnMut(u32),
) -> &'w [u32] {
    while let Some((first, rest)) = words.split_first() {
        words = match operand.kind {
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => {
                take(*first);
                rest
            }
            OperandKind::PairIdRefIdRef => {
                take(*first);
                rest.first().copied().into_iter().for_each(&mut take);
                rest.get(1..).unwrap_or(&[])
            }
            OperandKind::PairIdRefLiteralInteger => {
                take(*first);
                rest.get(1..).unwrap_or(&[])
            }
            OperandKind::ImageOperands | OperandKind::ExecutionMode => {
                rest.iter().copied().for_each(&mut take);
                &[]
            }
            OperandKind::MemoryAccess => {
                let access = MemoryAccess::from_bits_retain(*first);
                let of = |access: MemoryAccess| access.bits().count_ones() as usize;
                let literals = of(access & MemoryAccess::ALIGNED);
                let ids = of(access
                    & (MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE));
                let parameters = rest.get(literals..).unwrap_or(&[]);
                parameters.iter().take(ids).copied().for_each(&mut take);
                parameters.get(ids..).unwrap_or(&[])
            }
            // The last of their instructions: labels, numbers and text, of which nothing is declared.
            OperandKind::PairLiteralIntegerIdRef
            | OperandKind::LiteralContextDependentNumber
            | OperandKind::LiteralString
            | OperandKind::LoopControl
            | OperandKind::Decoration => &[],
            _ => rest,
        };
        if operand.quantifier != OperandQuantifier::ZeroOrMore {
            break;
        }
    }
    words
}
