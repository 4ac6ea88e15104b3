//! How fast the tables are: instructions decoded, encoded and printed, descriptors packed, against a copy of as many
//! bytes on the same run. `cargo eitri bench tables` runs it; nothing here is asserted.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use eitri_cs::Instr as Command;
use eitri_descriptors::resource::Buffer;
use eitri_descriptors::shader::{LocalStorage, ShaderProgram};
use eitri_descriptors::texture::Sampler;
use eitri_descriptors::{Address, Arch as DescriptorArch, Descriptor};
use eitri_isa::{Arch, Instr, Op, Syntax};
use std::fmt::Write;

/// Instructions and descriptors of a round.
const ITEMS: usize = 4096;

fn main() {
    divan::main();
}

/// SplitMix64: the same words on every machine.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0u64;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// Legal instructions of every kind, in turn.
fn instructions() -> Vec<Instr> {
    let mut random = random();
    let mut next = || (random() >> 32) as u32;
    let ops: Vec<Op> = Op::ALL.to_vec();
    let made = ops.iter().cycle().take(ITEMS * 2);
    let made = made.filter_map(|op| Instr::random(*op, Arch::V10, &mut next));
    made.take(ITEMS).collect()
}

fn words() -> Vec<u64> {
    let encoded = instructions()
        .into_iter()
        .map(|instr| instr.encode(Arch::V10));
    encoded.filter_map(Result::ok).collect()
}

fn counted<'a, 'b>(bencher: Bencher<'a, 'b>, items: usize, bytes_each: usize) -> Bencher<'a, 'b> {
    bencher
        .counter(ItemsCount::new(items))
        .counter(BytesCount::new(items * bytes_each))
}

/// What everything is measured against: the same bytes, copied.
#[divan::bench(args = [8, 32, 64])]
fn memcpy(bencher: Bencher<'_, '_>, bytes_each: usize) {
    let from = vec![0x5Au8; ITEMS * bytes_each];
    let mut to = vec![0; from.len()];
    counted(bencher, ITEMS, bytes_each).bench_local(|| {
        to.copy_from_slice(black_box(&from));
        black_box(&to);
    });
}

#[divan::bench]
fn isa_decode(bencher: Bencher<'_, '_>) {
    let words = words();
    counted(bencher, words.len(), 8).bench_local(|| {
        for word in black_box(&words) {
            let _ = black_box(Instr::decode(*word, Arch::V10));
        }
    });
}

#[divan::bench]
fn isa_encode(bencher: Bencher<'_, '_>) {
    let instructions = instructions();
    counted(bencher, instructions.len(), 8).bench_local(|| {
        for instr in black_box(&instructions) {
            let _ = black_box(instr.encode(Arch::V10));
        }
    });
}

#[divan::bench]
fn isa_disassemble(bencher: Bencher<'_, '_>) {
    let words = words();
    let mut text = String::new();
    counted(bencher, words.len(), 8).bench_local(|| {
        text.clear();
        for word in black_box(&words) {
            if let Ok(instr) = Instr::decode(*word, Arch::V10) {
                let _ = writeln!(text, "{}", instr.display(Arch::V10, Syntax::Mesa24));
            }
        }
        black_box(&text);
    });
}

#[divan::bench]
fn cs_decode(bencher: Bencher<'_, '_>) {
    let mut random = random();
    let word = || eitri_cs::random_word(eitri_cs::Arch::V10, &mut random);
    let words: Vec<u64> = std::iter::repeat_with(word).take(ITEMS).collect();
    counted(bencher, words.len(), 8).bench_local(|| {
        for word in black_box(&words) {
            let _ = black_box(Command::decode(*word, eitri_cs::Arch::V10));
        }
    });
}

/// Packs `ITEMS` descriptors one behind the other.
fn pack<D: Descriptor>(bencher: Bencher<'_, '_>, descriptor: D) {
    let each = D::LAYOUT.size(DescriptorArch::V10).unwrap_or(0) as usize;
    let mut words = vec![0u32; ITEMS * each / 4];
    counted(bencher, ITEMS, each).bench_local(|| {
        for place in words.chunks_exact_mut(each / 4) {
            let _ = black_box(&descriptor).pack(DescriptorArch::V10, place);
        }
        black_box(&words);
    });
}

#[divan::bench]
fn pack_buffer(bencher: Bencher<'_, '_>) {
    let address = Address(0x12_3456_7000);
    pack(
        bencher,
        Buffer {
            size: 4096,
            address,
            ..Buffer::default()
        },
    );
}

#[divan::bench]
fn pack_shader_program(bencher: Bencher<'_, '_>) {
    let binary = Address(0x12_3456_7080);
    pack(
        bencher,
        ShaderProgram {
            binary,
            ..ShaderProgram::default()
        },
    );
}

#[divan::bench]
fn pack_local_storage(bencher: Bencher<'_, '_>) {
    pack(
        bencher,
        LocalStorage {
            tls_size: 4,
            ..LocalStorage::default()
        },
    );
}

#[divan::bench]
fn pack_sampler(bencher: Bencher<'_, '_>) {
    pack(bencher, Sampler::default());
}
