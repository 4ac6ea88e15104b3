//! Bytes of words: where a word is loaded for one of its bytes, that byte is loaded.
//!
//! Shaders without 8-bit types read byte `x` as `words[x >> 2] >> ((x & 3) << 3) & 0xff`. A load of a byte from `x` takes the place of
//! that word, the mask of its offset and both shifts.
//!
//! Needs: sums as `algebra` leaves them; before `lower/robust_access`, since the byte lies where the word did.  Guarantees: as many
//! loads, in the same order. A word stays if something else reads it, or if it may change at any time.
//! Facts: hardware/compiler-lowering.md 5.3; memory is little endian.
use rustc_hash::FxHashMap as HashMap;

use super::linear::Form;
use crate::ir::reads::count_reads;
use crate::ir::rewrite::Replaced;
use crate::ir::{
    Access, Alu, BindingKind, Builder, Function, Held, Inst, InstData, Op, Space, Type, Value,
    ValueDef,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "load_bytes",
    what: "where a word is loaded for one of its bytes, that byte is loaded",
    run,
};

/// Deepest sum of an offset that is searched.
const DEPTH: u32 = 4;
const BYTE: u32 = 0xff;

/// A byte of a word that nothing else reads.
struct Byte {
    /// What the word is cut down to, each with the mask that does that.
    cuts: Vec<(Value, u32)>,
    /// The number that the byte's place in its word comes from.
    number: Value,
    access: Access,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let bytes = bytes(function);
    if bytes.is_empty() {
        return Changed::No;
    }
    let mut replaced = Replaced::default();
    for block in function.layout.clone() {
        for inst in std::mem::take(&mut function.block_mut(block).insts) {
            if let Some(byte) = bytes.get(&inst) {
                let data = function.inst(inst).clone();
                let mut builder = Builder::new(function, block);
                builder.position = data.position;
                load(&mut builder, &data, byte, &mut replaced);
            }
            // What nobody reads any more goes with the clean-up.
            function.block_mut(block).insts.push(inst);
        }
    }
    replaced.everywhere(function);
    Changed::Yes
}

/// The bytes that can be loaded, by the load of their word.
fn bytes(function: &Function) -> HashMap<Inst, Byte> {
    // By what is cut down to bytes.
    let mut cuts: HashMap<Value, Vec<(Value, u32)>> = HashMap::default();
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        if let Some(mask) = mask(function, data) {
            let cut = (data.results[0], mask);
            cuts.entry(data.args[0]).or_default().push(cut);
        }
    }
    if cuts.is_empty() {
        return HashMap::default();
    }
    let reads = count_reads(function);
    let found = cuts
        .into_iter()
        .filter(|(shifted, cuts)| reads[shifted.index()] as usize == cuts.len())
        .filter_map(|(shifted, cuts)| byte(function, &reads, shifted, cuts));
    found.collect()
}

/// The mask of a conjunction that leaves no more than the lowest byte.
fn mask(function: &Function, data: &InstData) -> Option<u32> {
    let mask = (data.op == Op::Alu(Alu::IAnd)).then(|| function.as_word(data.args[1]))??;
    (mask <= BYTE && function.ty(data.args[0]) == Type::W32).then_some(mask)
}

/// The load that a byte is cut out of.
fn byte(
    function: &Function,
    reads: &[u32],
    shifted: Value,
    cuts: Vec<(Value, u32)>,
) -> Option<(Inst, Byte)> {
    let [word, amount] = operands(function, shifted, Alu::UShr)?;
    let ValueDef::Result(inst, _) = function.def(word) else {
        return None;
    };
    let load = function.inst(inst);
    let Op::Load(access) = load.op else {
        return None;
    };
    let fits = access.elem == Type::W32
        && access.count == 1
        && access.align >= 4
        && access.held == Held::Own
        && !access.memory.is_volatile()
        && reads[word.index()] == 1
        && is_addressed_by_bytes(function, access, load);
    if !fits {
        return None;
    }
    let offset = load.args[access.address_operands() - 1];
    let number = number(function, offset, Unit::Byte, DEPTH)?;
    let access = Access {
        elem: Type::W8,
        align: 1,
        held: Held::Zero,
        ..access
    };
    is_place(function, amount, number).then_some((
        inst,
        Byte {
            cuts,
            number,
            access,
        },
    ))
}

/// The operands of an operation.
fn operands(function: &Function, value: Value, wanted: Alu) -> Option<[Value; 2]> {
    let data = function.def_inst(value)?;
    (data.op == Op::Alu(wanted)).then(|| [data.args[0], data.args[1]])
}

/// The first operand of an operation whose second is a constant.
fn operand(function: &Function, value: Value, wanted: Alu, constant: u32) -> Option<Value> {
    let [operand, second] = operands(function, value, wanted)?;
    (function.as_word(second) == Some(constant)).then_some(operand)
}

/// Whether single bytes can be loaded there. Of uniform buffers words are pushed instead.
fn is_addressed_by_bytes(function: &Function, access: Access, load: &InstData) -> bool {
    let storage = || {
        let binding = function.binding_of(load.args[0]);
        let binding = binding.and_then(|id| function.binding(id));
        binding.is_some_and(|binding| binding.kind == BindingKind::Storage)
    };
    access.space == Space::Shared || access.space == Space::Buffer && storage()
}

/// What an offset counts.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Byte,
    Word,
}

/// The number of a byte in an offset that has the number of its word instead, perhaps in a sum: `x` of `x & -4`, and of `x >> 2`
/// where words are counted.
fn number(function: &Function, offset: Value, unit: Unit, depth: u32) -> Option<Value> {
    let own = match unit {
        Unit::Byte => operand(function, offset, Alu::IAnd, !3),
        Unit::Word => operand(function, offset, Alu::UShr, 2),
    };
    let depth = depth.checked_sub(1)?;
    let in_sum = || {
        let sum = operands(function, offset, Alu::IAdd)?;
        sum.iter()
            .find_map(|part| number(function, *part, unit, depth))
    };
    let in_words = || {
        let words = operand(function, offset, Alu::IShl, 2).filter(|_| unit == Unit::Byte)?;
        number(function, words, Unit::Word, depth)
    };
    own.or_else(in_sum).or_else(in_words)
}

/// Whether an amount, of which a shift reads the lowest five bits, is eight times a number.
fn is_place(function: &Function, amount: Value, number: Value) -> bool {
    let form = |value: Value, factor: u32| {
        let mut form = Form::of(function, value)?;
        for term in &mut form.terms {
            term.constant = term.constant.wrapping_mul(factor) % 32;
        }
        form.terms.retain(|term| term.constant != 0);
        Some(form.terms)
    };
    let place = form(number, 8);
    // `(x & 3) << 3` and `(x << 3) & 24` as well.
    let low = operand(function, amount, Alu::IShl, 3);
    let low = low.and_then(|low| operand(function, low, Alu::IAnd, 3));
    let whole = operand(function, amount, Alu::IAnd, 24);
    let forms = [
        form(amount, 1),
        low.and_then(|low| form(low, 8)),
        whole.and_then(|whole| form(whole, 1)),
    ];
    place.is_some() && forms.contains(&place)
}

/// Loads a byte where its word was loaded.
fn load(builder: &mut Builder<'_>, word: &InstData, byte: &Byte, replaced: &mut Replaced) {
    let mut address = word.args.to_vec();
    if let Some(offset) = address.last_mut() {
        *offset = exact(builder, *offset, byte.number, Unit::Byte, DEPTH);
    }
    let loaded = builder.load(byte.access, &address)[0];
    for (cut, mask) in &byte.cuts {
        let own = match *mask {
            BYTE => loaded,
            mask => builder.alu_word(Alu::IAnd, loaded, mask),
        };
        replaced.insert(*cut, own);
    }
}

/// An offset in bytes, with the number of a byte in the place of that of its word.
fn exact(builder: &mut Builder<'_>, offset: Value, wanted: Value, unit: Unit, depth: u32) -> Value {
    let function = &*builder.function;
    let depth = depth.saturating_sub(1);
    if let Some([a, b]) = operands(function, offset, Alu::IAdd) {
        let (part, rest) = match number(function, a, unit, depth) == Some(wanted) {
            true => (a, b),
            false => (b, a),
        };
        let part = exact(builder, part, wanted, unit, depth);
        let rest = match unit {
            Unit::Byte => rest,
            Unit::Word => builder.alu_word(Alu::IShl, rest, 2),
        };
        return builder.alu(Alu::IAdd, &[rest, part]);
    }
    match operand(function, offset, Alu::IShl, 2).filter(|_| unit == Unit::Byte) {
        Some(words) => exact(builder, words, wanted, Unit::Word, depth),
        None => wanted,
    }
}
