//! Robust access: an index or an offset that is out of range touches nothing but what it counts in.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::{
    Access, Binding, BindingKind, Builder, Function, Held, Space, Terminator, Type, Value,
};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Robust, Target, pipeline};

/// Lowers a function and runs it with these words in its buffer; what they are afterwards.
fn run(function: &mut Function, words: &[u32], note: &str) -> Vec<u32> {
    let mut runner = Runner::new(Target::default(), &[]);
    pipeline::lower(function, Robust::On, &mut runner);
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 100_000,
    };
    interpret(function, &dispatch, &mut buffers)
        .unwrap_or_else(|trap| panic!("{note}: {trap}\n{function}"));
    let words = buffers[&(0, 0, 0)].bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

/// Words of each variable: more than are selected among registers.
const LEN: u32 = 20;
/// What memory holds, for indices to be computed from.
const INPUT: [(&str, u32); 5] = [
    ("zero", 0),
    ("ones", u32::MAX),
    ("x", 31),
    ("fifteen", 15),
    ("sixteen", 16),
];

/// Stores to one of two variables at an index and reads the whole other one; reads a table of constants at that index.
#[track_caller]
fn check_index(lines: &str) {
    let mut text = format!(
        "function main\nworkgroup 1 1 1\nbinding 0 0 storage written\n\
         var v0 w32 {LEN}\nvar v1 w32 {LEN}\nvar v2 w32 {LEN}\nvar v3 w32 {LEN}\nb0:\n"
    );
    for (number, (name, _)) in INPUT.iter().enumerate() {
        text += &format!("  %{name} = load.buffer @0.0, {}\n", 4 * number);
    }
    for line in lines.split(';') {
        text += &format!("  {}\n", line.trim());
    }
    for element in 0..LEN {
        text += &format!(
            "  store.v0 {element}, %x\n  store.v1 {element}, {}\n",
            1000 + element
        );
        // Two tables: behind the one stands the other.
        text += &format!(
            "  store.v2 {element}, {}\n  store.v3 {element}, 4\n",
            2000 + element
        );
    }
    text +=
        "  store.v0 %n, 77\n  %own = load.v0 %n\n  %entry = load.v2 %n\n  %behind = load.v3 %n\n";
    for element in 0..LEN {
        text += &format!(
            "  %e{element} = iadd %zero, {element}\n  %r{element} = load.v1 %e{element}\n\
             \x20 store.buffer @0.0, {}, %r{element}\n",
            4 * element
        );
    }
    text += &format!(
        "  store.buffer @0.0, {}, %own\n  store.buffer @0.0, {}, %entry\n  store.buffer @0.0, {}, %behind\n  return\n",
        4 * LEN,
        4 * LEN + 4,
        4 * LEN + 8,
    );
    let mut function = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut words: Vec<u32> = INPUT.iter().map(|(_, word)| *word).collect();
    words.resize(LEN as usize + 3, 0);
    let after = run(&mut function, &words, lines);
    let (other, rest) = after.split_at(LEN as usize);
    let expected: Vec<u32> = (1000..1000 + LEN).collect();
    assert_eq!(
        other, expected,
        "{lines}: another variable was written\n{function}"
    );
    assert!(
        rest[0] == 77 || rest[0] == 31,
        "{lines}: {rest:?} is no element of the variable"
    );
    let table = 2000..2000 + LEN;
    assert!(
        table.contains(&rest[1]),
        "{lines}: {rest:?} is no element of the table"
    );
}

#[test]
fn an_index_out_of_range_reaches_no_other_variable() {
    for lines in [
        "%n = udiv %x, %zero",
        "%n = umod %x, %zero",
        "%n = sdiv %x, %zero",
        "%n = srem %x, %zero",
        "%n = smod %x, %zero",
        "%f = umin %x, 19; %n = udiv %f, %zero",
        "%f = iand %x, 15; %n = udiv %f, %zero",
        "%f = iand %x, 15; %q = udiv %f, %zero; %n = iadd %q, 2",
        "%h = u2u8 %x; %z = u2u8 %zero; %q = udiv %h, %z; %n = u2u32 %q",
        "%n = ubit_extract %ones, %x, %x",
        "%n = sbit_extract %ones, %zero, %x",
        "%n = bit_insert %x, %ones, %x, %x",
        "%n = find_lsb %zero",
        "%n = ufind_msb %zero",
        "%n = clz %zero",
        "%n = bit_count %ones",
        "%a = umin %fifteen, 16; %b = umin %sixteen, 16; %n = ixor %a, %b",
        "%a = umin %fifteen, 16; %b = umin %sixteen, 16; %n = ior %a, %b",
        "%a = iand %x, 16; %n = ishl %a, 28",
        "%a = iand %x, 16; %n = ishl %a, %fifteen",
        "%n = imul %ones, %x",
        "%n = iadd %ones, %x",
        "%n = isub %fifteen, %sixteen",
        "%n = f2u %x",
    ] {
        check_index(lines);
    }
}

/// Stores and atomics to buffers of several sizes that are guarded together: each is done where it lies inside, whatever becomes
/// of the others.
#[test]
fn accesses_that_are_guarded_together_are_dropped_alone() {
    let text = "
function main
workgroup 16 1 1
binding 0 0 storage written
binding 0 1 storage written
binding 0 2 storage written
b0:
  %id = local_id.x
  %at = ishl %id, 2
  %twice = ishl %id, 3
  %first = iadd %id, 100
  store.buffer @0.0, %at, %first
  %any = atomic.umax.buffer @0.1, %at, %first
  store.buffer @0.2, %twice, %first
  return
";
    let mut function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::new(Target::default(), &[]);
    pipeline::lower(&mut function, Robust::On, &mut runner);
    let buffer = |bytes: usize| Buffer {
        bytes: vec![0; bytes],
    };
    // Words of each: more lanes lie inside of one than of another; the last is shorter than a word behind its fourth.
    let mut buffers = Buffers::from([
        ((0, 0, 0), buffer(4 * 8)),
        ((0, 1, 0), buffer(4 * 6)),
        ((0, 2, 0), buffer(4 * 8 + 3)),
    ]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 100_000,
    };
    interpret(&function, &dispatch, &mut buffers)
        .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
    let words = |binding: u32| -> Vec<u32> {
        let words = buffers[&(0, binding, 0)].bytes.as_chunks::<4>().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    };
    let lanes: Vec<u32> = (100..108).collect();
    assert_eq!(words(0), lanes, "{function}");
    assert_eq!(words(1), lanes[..6], "{function}");
    assert_eq!(words(2), [100, 0, 101, 0, 102, 0, 103, 0], "{function}");
    let branches = function.layout.iter().filter(|block| {
        matches!(
            function.block(**block).terminator,
            Terminator::Branch { .. }
        )
    });
    assert_eq!(
        branches.count(),
        4,
        "one together, and one for each alone\n{function}"
    );
}

const SHARED: u32 = 64;

#[test]
fn an_offset_out_of_range_stays_in_shared_memory() {
    let elements = [
        (Type::W8, Held::Zero),
        (Type::W8, Held::Own),
        (Type::W16, Held::Sign),
        (Type::W16, Held::Own),
        (Type::W32, Held::Own),
        (Type::W64, Held::Own),
    ];
    let mut ran = 0;
    for (elem, held) in elements {
        for count in 1..=4 {
            for offset in [
                u32::MAX,
                SHARED,
                SHARED - 1,
                SHARED - 4,
                SHARED - 8,
                SHARED - 16,
                7,
                0x8000_0000,
            ] {
                let align = elem.bytes() as u8;
                let access = Access {
                    elem,
                    held,
                    align,
                    ..Access::words(Space::Shared, count)
                };
                let offset = offset & !(u32::from(align) - 1);
                let note = format!("{access:?} at {offset:#x}");
                let mut function = shared(access);
                let after = run(&mut function, &[offset, 0], &note);
                assert_eq!(
                    after[1], 5,
                    "{note}: it must have read what it wrote\n{function}"
                );
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 6 * 4 * 8);
}

/// Writes to shared memory at an offset from the buffer, and reads there again.
fn shared(access: Access) -> Function {
    let mut function = Function::new("main");
    function.shared_bytes = SHARED;
    function.bindings.push(Binding {
        set: 0,
        binding: 0,
        count: 1,
        kind: BindingKind::Storage,
        written: true,
        restrict: false,
        non_uniform: false,
        min_bytes: 0,
        image: None,
        name: String::new(),
    });
    let block = function.new_block();
    let buffer = function.find_binding(0, 0).expect("it was declared");
    let buffer = function.resource(buffer, 0);
    let mut b = Builder::new(&mut function, block);
    let word = Access::words(Space::Buffer, 1);
    let [zero, four] = [0, 4].map(|place| b.word(place));
    let offset = b.load(word, &[buffer, zero])[0];
    let five = b.function.constant_of(access.value(), 5);
    let values: Vec<Value> = (0..access.count).map(|_| five).collect();
    b.store(access, &[offset], &values);
    let read = b.load(access, &[offset])[usize::from(access.count) - 1];
    let low = match access.value() {
        Type::W32 => read,
        _ => b.alu(eitri_shaderc::ir::Alu::U2U32, &[read]),
    };
    b.store(word, &[buffer, four], &[low]);
    b.terminate(Terminator::Return);
    function
}
