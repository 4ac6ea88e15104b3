//! Steps: the ways in which a module can become smaller, each with its chances in an order that stays while none is taken.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rspirv::dr::{Block, Function, Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};

/// A way to make a module smaller.
pub(super) struct Step {
    /// What it does.
    pub(super) name: &'static str,
    /// How often it could be done.
    pub(super) chances: fn(&Module) -> usize,
    /// Does it for these chances.
    pub(super) take: fn(&mut Module, Range<usize>),
}

/// All of them, those that take most first.
pub(super) const ALL: &[Step] = &[
    Step {
        name: "a branch goes one way",
        chances: |module| 2 * choices(module),
        take: decide,
    },
    Step {
        name: "a loop is left at once",
        chances: |module| blocks(module).filter(|block| is_header(block)).count(),
        take: leave_loops,
    },
    Step {
        name: "a block is joined with the one before",
        chances: |module| blocks(module).count(),
        take: join_blocks,
    },
    Step {
        name: "what has no result goes",
        chances: |module| effects(module).len(),
        take: drop_effects,
    },
    Step {
        name: "names, sources and decorations go",
        chances: |module| {
            let mut count = 0;
            each_mention(&mut module.clone(), |list| count += list.len());
            count
        },
        take: drop_annotations,
    },
    Step {
        name: "a result becomes zero",
        chances: |module| results(module).len(),
        take: to_zero,
    },
    Step {
        name: "a result becomes one of its operands",
        chances: |module| results(module).len(),
        take: to_operand,
    },
];

/// Whether control goes one way or another behind it.
pub(super) fn is_choice(op: Op) -> bool {
    matches!(op, Op::BranchConditional | Op::Switch)
}

fn blocks(module: &Module) -> impl Iterator<Item = &Block> {
    module
        .functions
        .iter()
        .flat_map(|function| &function.blocks)
}

fn blocks_mut(module: &mut Module) -> impl Iterator<Item = &mut Block> {
    module
        .functions
        .iter_mut()
        .flat_map(|function| &mut function.blocks)
}

fn last_op(block: &Block) -> Option<Op> {
    block.instructions.last().map(|inst| inst.class.opcode)
}

fn choices(module: &Module) -> usize {
    blocks(module)
        .filter(|block| last_op(block).is_some_and(is_choice))
        .count()
}

/// Chance 2n lets choice n go to its first target, chance 2n + 1 to its last. Then the blocks that nothing leads to go.
fn decide(module: &mut Module, chances: Range<usize>) {
    let mut number = 0;
    for block in blocks_mut(module) {
        if !last_op(block).is_some_and(is_choice) {
            continue;
        }
        let own = number;
        number += 1;
        let first = chances.contains(&(2 * own));
        if !first && !chances.contains(&(2 * own + 1)) {
            continue;
        }
        let Some(choice) = block.instructions.pop() else {
            continue;
        };
        // The first operand is what decides.
        let mut targets = choice
            .operands
            .iter()
            .skip(1)
            .filter_map(|operand| match operand {
                Operand::IdRef(label) => Some(*label),
                _ => None,
            });
        let target = match first {
            true => targets.next(),
            false => targets.next_back(),
        };
        let Some(target) = target else {
            block.instructions.push(choice);
            continue;
        };
        // A loop's header keeps its merge as long as it stays in the loop.
        let merge = block.instructions.last().cloned();
        let leaves = match merge {
            Some(merge) if merge.class.opcode == Op::SelectionMerge => true,
            Some(merge) if merge.class.opcode == Op::LoopMerge => {
                merge.operands.first() == Some(&Operand::IdRef(target))
            }
            _ => false,
        };
        if leaves {
            block.instructions.pop();
        }
        let branch = Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(target)]);
        block.instructions.push(branch);
    }
    for function in &mut module.functions {
        drop_unreachable(function);
    }
}

fn is_header(block: &Block) -> bool {
    let mut instructions = block.instructions.iter();
    instructions.any(|inst| inst.class.opcode == Op::LoopMerge)
}

/// Headers of loops go to the merge.
fn leave_loops(module: &mut Module, chances: Range<usize>) {
    let headers = blocks_mut(module).filter(|block| is_header(block));
    for (_, block) in headers
        .enumerate()
        .filter(|(number, _)| chances.contains(number))
    {
        let end = block.instructions.len().saturating_sub(2);
        let merge = block.instructions[end].operands.first().cloned();
        if block.instructions[end].class.opcode == Op::LoopMerge
            && let Some(merge @ Operand::IdRef(_)) = merge
        {
            block.instructions.truncate(end);
            let branch = Instruction::new(Op::Branch, None, None, vec![merge]);
            block.instructions.push(branch);
        }
    }
    for function in &mut module.functions {
        drop_unreachable(function);
    }
}

/// Blocks that jump to one that nothing else names take it in.
fn join_blocks(module: &mut Module, chances: Range<usize>) {
    let mut number = 0;
    for function in &mut module.functions {
        let mut named: HashMap<Word, usize> = HashMap::new();
        for label in function.blocks.iter().flat_map(named_labels) {
            *named.entry(label).or_default() += 1;
        }
        let mut index = 0;
        while index < function.blocks.len() {
            let own = number;
            number += 1;
            index += 1;
            let block = &function.blocks[index - 1];
            let target = block.instructions.last().and_then(|last| {
                let alone = last.class.opcode == Op::Branch && !is_header(block);
                let target = last.operands.first().and_then(Operand::id_ref_any);
                target.filter(|target| alone && named.get(target) == Some(&1))
            });
            let next = target.and_then(|target| {
                let mut blocks = function.blocks.iter();
                blocks.position(|block| label(block) == Some(target))
            });
            let (Some(next), true) = (next, chances.contains(&own)) else {
                continue;
            };
            // A phi of one source would have to become that source first; the entry is nobody's.
            let phi = function.blocks[next]
                .instructions
                .iter()
                .any(|inst| inst.class.opcode == Op::Phi);
            if phi || next < index {
                continue;
            }
            let taken = function.blocks.remove(next);
            let into = &mut function.blocks[index - 1];
            let (old, new) = (label(&taken), label(into));
            into.instructions.pop();
            into.instructions.extend(taken.instructions);
            // Phis further on know the joined block by its first label.
            if let (Some(old), Some(new)) = (old, new) {
                let insts = function.blocks.iter_mut();
                let phis = insts
                    .flat_map(|block| &mut block.instructions)
                    .filter(|inst| inst.class.opcode == Op::Phi);
                for operand in phis.flat_map(|phi| &mut phi.operands) {
                    if *operand == Operand::IdRef(old) {
                        *operand = Operand::IdRef(new);
                    }
                }
            }
        }
    }
}

fn label(block: &Block) -> Option<Word> {
    block.label.as_ref()?.result_id
}

/// The labels that a block's end names, merges included: those blocks must stay.
fn named_labels(block: &Block) -> Vec<Word> {
    let ends = block.instructions.iter().filter(|inst| {
        matches!(
            inst.class.opcode,
            Op::Branch | Op::BranchConditional | Op::Switch | Op::LoopMerge | Op::SelectionMerge
        )
    });
    let operands = ends.flat_map(|inst| &inst.operands);
    operands
        .filter_map(|operand| match operand {
            Operand::IdRef(id) => Some(*id),
            _ => None,
        })
        .collect()
}

fn drop_unreachable(function: &mut Function) {
    let by_label: HashMap<Word, usize> = function
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(index, block)| Some((label(block)?, index)))
        .collect();
    let mut kept: HashSet<usize> = HashSet::new();
    let mut open: Vec<usize> = (0..function.blocks.len().min(1)).collect();
    while let Some(index) = open.pop() {
        if kept.insert(index) {
            let named = named_labels(&function.blocks[index]);
            open.extend(named.iter().filter_map(|label| by_label.get(label)));
        }
    }
    let mut index = 0;
    function.blocks.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    // A phi has a source for each block that now leads to it, and no other.
    let mut from: HashMap<Word, HashSet<Word>> = HashMap::new();
    for block in &function.blocks {
        let (Some(own), Some(last)) = (label(block), block.instructions.last()) else {
            continue;
        };
        for operand in &last.operands {
            if let Operand::IdRef(to) = operand {
                from.entry(*to).or_default().insert(own);
            }
        }
    }
    for block in &mut function.blocks {
        let sources = label(block).and_then(|own| from.get(&own));
        for phi in &mut block.instructions {
            if phi.class.opcode == Op::Phi {
                let pairs = phi.operands.chunks(2);
                let stays = pairs.filter(|pair| match pair {
                    [_, Operand::IdRef(label)] => {
                        sources.is_some_and(|sources| sources.contains(label))
                    }
                    _ => false,
                });
                phi.operands = stays.flatten().cloned().collect();
            }
        }
    }
}

/// Places of instructions without a result that something reads: function, block, instruction.
fn effects(module: &Module) -> Vec<(usize, usize, usize)> {
    let mut used: HashSet<Word> = HashSet::new();
    for inst in module.all_inst_iter() {
        used.extend(inst.operands.iter().filter_map(Operand::id_ref_any));
    }
    places(module, |inst| {
        let idle = inst.result_id.is_none_or(|id| !used.contains(&id));
        let structure = matches!(
            inst.class.opcode,
            Op::LoopMerge | Op::SelectionMerge | Op::Phi | Op::Variable
        );
        idle && !structure
    })
}

/// Places of instructions of some sort, but for those that end a block.
fn places(module: &Module, wanted: impl Fn(&Instruction) -> bool) -> Vec<(usize, usize, usize)> {
    let mut places = vec![];
    for (f, function) in module.functions.iter().enumerate() {
        for (b, block) in function.blocks.iter().enumerate() {
            let body = block.instructions.len().saturating_sub(1);
            let insts = block.instructions[..body].iter().enumerate();
            places.extend(
                insts
                    .filter(|(_, inst)| wanted(inst))
                    .map(|(i, _)| (f, b, i)),
            );
        }
    }
    places
}

fn chosen(
    places: Vec<(usize, usize, usize)>,
    chances: Range<usize>,
) -> HashSet<(usize, usize, usize)> {
    let end = chances.end.min(places.len());
    let start = chances.start.min(end);
    places[start..end].iter().copied().collect()
}

fn drop_effects(module: &mut Module, chances: Range<usize>) {
    let gone = chosen(effects(module), chances);
    for (f, function) in module.functions.iter_mut().enumerate() {
        for (b, block) in function.blocks.iter_mut().enumerate() {
            let mut index = 0;
            block.instructions.retain(|_| {
                index += 1;
                !gone.contains(&(f, b, index - 1))
            });
        }
    }
}

/// The lists of what only says something of others.
fn each_mention(module: &mut Module, mut each: impl FnMut(&mut Vec<Instruction>)) {
    each(&mut module.debug_module_processed);
    each(&mut module.debug_names);
    each(&mut module.annotations);
    each(&mut module.debug_string_source);
}

fn drop_annotations(module: &mut Module, chances: Range<usize>) {
    let mut index = 0;
    each_mention(module, |list| {
        list.retain(|_| {
            index += 1;
            !chances.contains(&(index - 1))
        });
    });
}

/// Instructions with a result that others may read and that something else could stand for.
fn results(module: &Module) -> Vec<(usize, usize, usize)> {
    places(module, |inst| {
        inst.result_id.is_some()
            && inst.result_type.is_some()
            && !matches!(inst.class.opcode, Op::Variable | Op::Label | Op::Undef)
    })
}

/// Replaces results by what `other` finds for them. Those that depend on each other are replaced through and through.
fn replace(
    module: &mut Module,
    chances: Range<usize>,
    mut other: impl FnMut(&mut Module, &Instruction) -> Option<Word>,
) {
    let mut map: HashMap<Word, Word> = HashMap::new();
    let mut chosen: Vec<_> = chosen(results(module), chances).into_iter().collect();
    chosen.sort_unstable();
    for (f, b, i) in chosen {
        let inst = module.functions[f].blocks[b].instructions[i].clone();
        if let (Some(id), Some(instead)) = (inst.result_id, other(module, &inst)) {
            map.insert(id, instead);
        }
    }
    for inst in module.all_inst_iter_mut() {
        for operand in &mut inst.operands {
            if let Some(id) = operand.id_ref_any_mut() {
                let mut steps = map.len();
                while let Some(instead) = map.get(id) {
                    *id = *instead;
                    steps = steps.saturating_sub(1);
                    if steps == 0 {
                        break;
                    }
                }
            }
        }
    }
}

fn to_zero(module: &mut Module, chances: Range<usize>) {
    replace(module, chances, |module, inst| {
        let ty = inst.result_type?;
        let declared = module
            .types_global_values
            .iter()
            .find(|global| global.result_id == Some(ty))?;
        // Of pointers there is none, and of nothing no value.
        if matches!(declared.class.opcode, Op::TypePointer | Op::TypeVoid) {
            return None;
        }
        let null = module.types_global_values.iter().find(|global| {
            global.class.opcode == Op::ConstantNull && global.result_type == Some(ty)
        });
        if let Some(null) = null {
            return null.result_id;
        }
        let header = module.header.as_mut()?;
        let id = header.bound;
        header.bound += 1;
        let null = Instruction::new(Op::ConstantNull, Some(ty), Some(id), vec![]);
        module.types_global_values.push(null);
        Some(id)
    });
}

fn to_operand(module: &mut Module, chances: Range<usize>) {
    let types: HashMap<Word, Word> = module
        .all_inst_iter()
        .filter_map(|inst| Some((inst.result_id?, inst.result_type?)))
        .collect();
    replace(module, chances, |_, inst| {
        // What a phi reads may be defined behind it.
        if inst.class.opcode == Op::Phi && inst.operands.len() > 2 {
            return None;
        }
        let mut ids = inst.operands.iter().filter_map(Operand::id_ref_any);
        ids.find(|id| types.get(id).copied() == inst.result_type && Some(*id) != inst.result_id)
    });
}
