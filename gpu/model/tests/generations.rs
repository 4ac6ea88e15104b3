//! What is particular to a generation: conditions of waits, scoreboards that the streams of a group share.

mod bench;

use bench::{
    Bench, RING, group_input, group_output, stream_input, stream_output, suspend_buffer, user_pages,
};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{
    Instr, Move32, Move48, SharedSbDec, SharedSbInc, StoreMultiple, SyncWait64, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_model::{Config, Product, stub_firmware};

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;

fn booted(gpu: &str) -> Bench {
    let mut bench = Bench::new(Config {
        firmware: Some(stub_firmware()),
        product: Product::find(gpu).expect("a product that the model can be"),
        ..Config::default()
    });
    bench.boot();
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench
}

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn on(arch: Arch) -> impl Fn(Instr) -> u64 {
    move |instr| instr.encode(arch).expect("a legal instruction")
}

/// `MOVE48 d4, DATA; MOVE32 r6, value; STORE_MULTIPLE [d4 + 8 * place], r6; WAIT 0`.
fn store(word: impl Fn(Instr) -> u64, place: i16, value: u32) -> [u64; 4] {
    let address = Move48 {
        destination: d(4),
        immediate: DATA,
    };
    let data = Move32 {
        destination: r(6),
        immediate: value,
    };
    let store = StoreMultiple {
        base_register: r(6),
        mask: RegMask::new(1),
        address: d(4),
        offset: 8 * place,
    };
    let wait = Wait {
        wait_mask: SlotMask::new(1),
        ..Wait::default()
    };
    [
        word(address.into()),
        word(data.into()),
        word(store.into()),
        word(wait.into()),
    ]
}

fn increment(entry: u8) -> Instr {
    let shared_entry = entry;
    SharedSbInc {
        shared_entry,
        ..SharedSbInc::default()
    }
    .into()
}

fn decrement(entry: u8) -> Instr {
    let shared_entry = entry;
    SharedSbDec {
        shared_entry,
        ..SharedSbDec::default()
    }
    .into()
}

/// Sets up stream 1 of slot 0; START of the group starts it.
fn second_stream(bench: &mut Bench) -> u64 {
    let ring = RING + 0x80_0000;
    bench.map(1, ring, 0x1000, Attributes::UNCACHED);
    let (input, output) = user_pages(8);
    bench.map(0, input, 4096, Attributes::UNCACHED);
    bench.map(0, output, 4096, Attributes::UNCACHED);
    let stream = stream_input(0) + 0x80;
    bench.shared_write64(stream + 0x10, ring);
    bench.shared_write(stream + 0x18, 0x1000);
    bench.shared_write64(stream + 0x30, input);
    bench.shared_write64(stream + 0x38, output);
    bench.shared_write(stream + 0x4, 1 | 1 << 8);
    bench.shared_write(stream, 1 | 1 << 8 | 1 << 10);
    ring
}

#[test]
fn a_shared_scoreboard_is_counted_up_by_one_stream_and_waited_for_by_another() {
    let mut bench = booted("G615");
    let ring = second_stream(&mut bench);
    bench.start_group(0);
    let word = on(Arch::V11);
    // Two decrements against one increment: the first passes, the second waits.
    let mut words = vec![word(increment(5)), word(decrement(5))];
    words.extend(store(&word, 0, 1));
    words.push(word(decrement(5)));
    words.extend(store(&word, 1, 2));
    bench.submit(0, &words);
    bench.wait(10_000);
    let got = |bench: &mut Bench| (bench.get32(1, DATA), bench.get32(1, DATA + 8));
    assert_eq!(got(&mut bench), (1, 0), "{}", bench.report());

    // The host is shown a scoreboard wait, at the instruction itself.
    let req = bench.shared(group_input(0));
    bench.shared_write(group_input(0), req ^ 1 << 5);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 1 << 5, !req & 1 << 5);
    assert_eq!(bench.shared(stream_output(0) + 0x60), 1, "BLOCKED_REASON");
    assert_eq!(bench.shared64(stream_output(0) + 0x40), RING + 6 * 8);

    // Another entry does not help; this one does.
    let (input, _) = user_pages(8);
    bench.put_words(
        1,
        ring,
        &[word(increment(4)), word(increment(5)), 0, 0, 0, 0, 0, 0],
    );
    bench.put(0, input, &64u64.to_le_bytes());
    bench.ring(1);
    bench.drain(0);
    assert_eq!(got(&mut bench), (1, 2));
    bench.expect_no_diagnoses();
}

#[test]
fn a_suspended_group_keeps_its_shared_scoreboards() {
    let mut bench = booted("G615");
    bench.start_group(0);
    let word = on(Arch::V11);
    bench.submit(0, &[word(increment(3))]);
    bench.drain(0);
    bench.request_state(0, 2);
    assert_ne!(suspend_buffer(0), 0);
    bench.configure_group(0);
    bench.request_state(0, 3);
    let mut words = vec![word(decrement(3))];
    words.extend(store(&word, 0, 7));
    bench.submit(0, &words);
    bench.drain(0);
    assert_eq!(bench.get32(1, DATA), 7);
    bench.expect_no_diagnoses();
}

#[test]
fn waits_for_greater_or_equal_need_a_firmware_that_knows_them() {
    for (gpu, arch, known) in [
        ("G610", Arch::V10, false),
        ("G615", Arch::V11, true),
        ("Immortalis-G720", Arch::V12, true),
    ] {
        let mut bench = booted(gpu);
        bench.start_group(0);
        let word = on(arch);
        let object = Move48 {
            destination: d(8),
            immediate: DATA + 0x40,
        };
        let reference = Move48 {
            destination: d(10),
            immediate: 3,
        };
        let wait = SyncWait64 {
            address: d(8),
            data: d(10),
            condition: Condition::GreaterEqual,
            ..SyncWait64::default()
        };
        let mut words = vec![
            word(object.into()),
            word(reference.into()),
            word(wait.into()),
        ];
        words.extend(store(&word, 0, 9));
        bench.put_words(1, DATA + 0x40, &[2]);
        bench.submit(0, &words);
        bench.wait(5_000);
        assert_eq!(bench.get32(1, DATA), 0, "{gpu}: 2 is less than 3");
        let fatal = bench.shared(stream_output(0) + 0x84);
        assert_eq!(fatal == 0x49, !known, "{gpu}: CS_INSTR_INVALID");
        if known {
            bench.put_words(1, DATA + 0x40, &[3]);
            bench.ring(0);
            bench.drain(0);
            assert_eq!(bench.get32(1, DATA), 9, "{gpu}");
            bench.expect_no_diagnoses();
        }
    }
}
