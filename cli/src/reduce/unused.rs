//! What nothing needs any more: functions that nobody calls, results that nobody reads, and all that is said of them.

use std::collections::HashSet;

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};

/// Removes it, and what is unused without it, and so on.
pub(super) fn remove(module: &mut Module) {
    loop {
        let before = super::size(module);
        let interface = module.entry_points.len();
        let operands = operands_of(&module.entry_points);
        functions(module);
        results(module);
        mentions(module);
        let same = before == super::size(module)
            && interface == module.entry_points.len()
            && operands == operands_of(&module.entry_points);
        if same {
            return;
        }
    }
}

fn operands_of(insts: &[Instruction]) -> usize {
    insts.iter().map(|inst| inst.operands.len()).sum()
}

fn ids(inst: &Instruction) -> impl Iterator<Item = Word> {
    let operands = inst.operands.iter().filter_map(Operand::id_ref_any);
    operands.chain(inst.result_type)
}

fn functions(module: &mut Module) {
    let mut used: HashSet<Word> = module.entry_points.iter().flat_map(ids).collect();
    for function in &module.functions {
        used.extend(function.all_inst_iter().flat_map(ids));
    }
    module.functions.retain(|function| {
        let id = function.def.as_ref().and_then(|def| def.result_id);
        id.is_some_and(|id| used.contains(&id))
    });
}

/// Whether it can go when nobody reads its result.
fn is_idle(inst: &Instruction) -> bool {
    use Op::{
        AtomicCompareExchange, AtomicExchange, AtomicIAdd, AtomicIDecrement, AtomicIIncrement,
        AtomicISub, FunctionCall, FunctionParameter, Label,
    };
    let acts = matches!(
        inst.class.opcode,
        Label
            | FunctionCall
            | FunctionParameter
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicIAdd
            | AtomicISub
            | AtomicIIncrement
            | AtomicIDecrement
    );
    inst.result_id.is_some() && !acts && !inst.class.opname.starts_with("Atomic")
}

fn results(module: &mut Module) {
    let mut used: HashSet<Word> = HashSet::new();
    let code = module
        .functions
        .iter()
        .flat_map(|function| function.all_inst_iter());
    let others = module
        .types_global_values
        .iter()
        .chain(&module.entry_points)
        .chain(&module.execution_modes);
    // That an entry point lists a variable is no use of it.
    for inst in code.chain(others) {
        let listed = match inst.class.opcode {
            Op::EntryPoint => 3,
            _ => usize::MAX,
        };
        let operands = inst.operands.iter().take(listed);
        used.extend(operands.filter_map(Operand::id_ref_any));
        used.extend(inst.result_type);
    }
    // The size of a workgroup is said by a constant alone.
    for inst in &module.annotations {
        let size = Operand::BuiltIn(rspirv::spirv::BuiltIn::WorkgroupSize);
        if inst.operands.contains(&size) {
            used.extend(inst.operands.iter().filter_map(Operand::id_ref_any));
        }
    }
    let stays = |inst: &Instruction| match inst.result_id {
        Some(id) => used.contains(&id) || !is_idle(inst),
        None => true,
    };
    module.types_global_values.retain(stays);
    module.ext_inst_imports.retain(stays);
    for function in &mut module.functions {
        for block in &mut function.blocks {
            block.instructions.retain(stays);
        }
    }
}

/// Names, decorations and lists of what is gone.
fn mentions(module: &mut Module) {
    let defined: HashSet<Word> = module
        .all_inst_iter()
        .filter_map(|inst| inst.result_id)
        .collect();
    let stays = |inst: &Instruction| match inst.operands.first() {
        Some(Operand::IdRef(id)) => defined.contains(id),
        _ => true,
    };
    module.debug_names.retain(stays);
    module.annotations.retain(stays);
    module.debug_string_source.retain(|inst| {
        let mut ids = inst.operands.iter().filter_map(Operand::id_ref_any);
        ids.all(|id| defined.contains(&id))
    });
    for entry in &mut module.entry_points {
        entry.operands.retain(|operand| match operand {
            Operand::IdRef(id) => defined.contains(id),
            _ => true,
        });
    }
}
