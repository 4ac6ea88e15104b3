//! What is written is read again, other tools take the file, and no file does harm.

use eitri_dump::note::{Fault, Incomplete, Reporter, Ring, Submission};
use eitri_dump::{Dump, Memory, ReadError, Region, Unreadable, WriteError, add_lines, show, write};
use eitri_program_file::{CodeLineParts, LineParts, LineRow};
use proptest::prelude::*;
use std::process::Command;

/// What a dump of the tests says.
#[derive(Clone, Debug, Default)]
struct Said {
    /// Pages: number of the page, and the byte that fills it.
    pages: std::collections::BTreeMap<u16, u8>,
    registers: std::collections::BTreeMap<u32, u32>,
    words: Vec<(u32, u32)>,
    numbers: [u32; 4],
    longs: [u64; 5],
    producer: String,
}

const PAGE: u64 = 4096;

impl Said {
    fn regions(&self) -> Vec<Region> {
        let mut room = vec![Region::default(); self.pages.len()];
        let mut regions = eitri_dump::Regions::new(&mut room);
        for page in self.pages.keys() {
            regions.add(Region {
                start: u64::from(*page) * PAGE,
                bytes: PAGE,
            });
        }
        regions.as_slice().to_vec()
    }

    fn fault(&self) -> Fault {
        let [slot, stream, space, status] = self.numbers;
        Fault {
            reporter: Reporter::ALL[status as usize % Reporter::ALL.len()],
            slot,
            stream,
            space,
            status,
            address: self.longs[0],
        }
    }

    fn submission(&self) -> Submission {
        let [slot, stream, ..] = self.numbers;
        let [sequence, position, bytes, start, _] = self.longs;
        Submission {
            slot,
            stream,
            sequence,
            position,
            bytes,
            start,
        }
    }

    fn ring(&self) -> Ring {
        let [address, bytes, insert, extract, _] = self.longs;
        Ring {
            address,
            bytes,
            insert,
            extract,
        }
    }

    fn incomplete(&self) -> Incomplete {
        let [no_room, unreadable, tables, ..] = self.longs;
        Incomplete {
            no_room,
            unreadable,
            tables,
        }
    }

    fn file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let words = |tell: &mut dyn FnMut(u32, u32)| {
            for (offset, value) in &self.words {
                tell(*offset, *value);
            }
        };
        let nothing = |_: &mut dyn FnMut(u32, u32)| {};
        let [slot, stream, space, _] = self.numbers;
        write(
            &mut file,
            &self.regions(),
            |notes| {
                notes.producer(&self.producer);
                notes.registers(&mut |tell| {
                    for (offset, value) in &self.registers {
                        tell(*offset, *value);
                    }
                });
                notes.firmware(
                    &mut nothing.clone(),
                    &mut words.clone(),
                    &mut nothing.clone(),
                );
                let blocks: [eitri_dump::Pairs<'_>; 3] =
                    [&mut words.clone(), &mut nothing.clone(), &mut words.clone()];
                notes.group(slot, space, blocks);
                let blocks: [eitri_dump::Pairs<'_>; 3] =
                    [&mut nothing.clone(), &mut words.clone(), &mut words.clone()];
                notes.stream(slot, stream, self.ring(), blocks);
                notes.submission(self.submission());
                notes.fault(self.fault());
                notes.incomplete(self.incomplete());
            },
            |address, bytes| {
                let page = self.pages.get(&((address / PAGE) as u16));
                bytes.fill(*page.ok_or(Unreadable { address })?);
                Ok(())
            },
        )
        .expect("it can be written");
        file
    }
}

/// The lines of two instructions.
fn lines(name: &str, line: u32) -> Vec<u8> {
    let row = LineRow {
        word: 0,
        file: 0,
        line,
        column: 0,
    };
    let parts = CodeLineParts {
        first: 0,
        words: &[1, 2],
        lines: LineParts {
            files: &[name],
            rows: &[row],
        },
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.encode(&mut bytes).unwrap();
    bytes
}

fn said() -> impl Strategy<Value = Said> {
    (
        prop::collection::btree_map(0u16..40, any::<u8>(), 0..20),
        prop::collection::btree_map(any::<u32>(), any::<u32>(), 0..20),
        prop::collection::vec(any::<(u32, u32)>(), 0..20),
        any::<[u32; 4]>(),
        any::<[u64; 5]>(),
        "[a-zé ]{0,9}",
    )
        .prop_map(|(pages, registers, words, numbers, longs, producer)| Said {
            pages,
            registers,
            words,
            numbers,
            longs,
            producer,
        })
}

proptest! {
    #[test]
    fn everything_that_is_written_is_read(said in said()) {
        let file = said.file();
        let dump = Dump::parse(&file).expect("it can be read");
        prop_assert_eq!(dump.producer(), Some(said.producer.as_str()));
        let registers: Vec<_> = dump.registers().collect();
        prop_assert_eq!(registers, said.registers.clone().into_iter().collect::<Vec<_>>());
        let [slot, stream, space, _] = said.numbers;
        let group = dump.groups()[0];
        prop_assert_eq!((group.slot, group.space), (slot, space));
        prop_assert_eq!(group.words.control.iter().collect::<Vec<_>>(), said.words.clone());
        prop_assert!(group.words.input.is_empty());
        let found = dump.streams()[0];
        prop_assert_eq!((found.slot, found.number, found.ring), (slot, stream, said.ring()));
        prop_assert_eq!(found.words.input.iter().collect::<Vec<_>>(), said.words.clone());
        let firmware = dump.firmware().expect("there is one");
        prop_assert_eq!(firmware.input.iter().collect::<Vec<_>>(), said.words.clone());
        prop_assert_eq!(dump.submissions(), &[said.submission()]);
        prop_assert_eq!(dump.faults(), &[said.fault()]);
        prop_assert_eq!(dump.incomplete(), said.incomplete());
        prop_assert_eq!(dump.other_notes(), 0);
        for page in 0..41u16 {
            let mut bytes = [0xEE; PAGE as usize];
            let read = (&dump).read(u64::from(page) * PAGE, &mut bytes);
            match said.pages.get(&page) {
                Some(byte) => {
                    prop_assert!(read.is_ok() && bytes.iter().all(|found| found == byte));
                }
                None => prop_assert!(read.is_err()),
            }
        }
    }

    #[test]
    fn lines_are_added_and_nothing_else_changes(said in said()) {
        let file = said.file();
        let mut longer = file.clone();
        let lines = [lines("a.comp", 3), lines("a longer name.comp", 4)];
        prop_assert!(add_lines(&mut longer, &lines));
        let (dump, more) = (Dump::parse(&file).unwrap(), Dump::parse(&longer).unwrap());
        let found: Vec<_> = more.lines().iter().map(|code| code.line_of(0).map(|(file, row)| (file, row.line))).collect();
        prop_assert_eq!(found, [Some(("a.comp", 3)), Some(("a longer name.comp", 4))]);
        prop_assert_eq!(more.memory(), dump.memory());
        prop_assert_eq!(more.producer(), dump.producer());
        prop_assert_eq!(more.submissions(), dump.submissions());
        prop_assert!(more.registers().eq(dump.registers()));
        // Where the file is cut short it has its lines still.
        let cut = &longer[..longer.len() - (longer.len() - 4096) / 2];
        prop_assert_eq!(Dump::parse(cut).unwrap().lines().len(), 2);
        let mut other = b"not a dump".to_vec();
        prop_assert!(!add_lines(&mut other, &lines));
        prop_assert_eq!(other, b"not a dump");
    }

    #[test]
    fn no_file_makes_reading_or_showing_panic(
        said in said(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let mut file = said.file();
        add_lines(&mut file, &[lines("a.comp", 3)]);
        // Headers and notes are where changes matter.
        let front = file.len().min(2048);
        for (at, value) in changes {
            let at = at.index(front);
            file[at] = value;
        }
        for bytes in [&file[..], &file[..cut.index(file.len())]] {
            if let Ok(dump) = Dump::parse(bytes) {
                for all in [false, true] {
                    let shown = show::entries(&dump, &show::Options { all });
                    prop_assert!(!shown.is_empty());
                }
            }
        }
    }
}

#[test]
fn what_is_no_dump_is_refused_and_says_why() {
    let good = Said::default().file();
    let check = |file: &[u8], expected: ReadError| {
        assert_eq!(Dump::parse(file).err(), Some(expected));
    };
    check(b"", ReadError::NotElf);
    check(b"#!/bin/sh\n", ReadError::NotElf);
    let mut executable = good.clone();
    executable[16] = 2;
    check(&executable, ReadError::ElfType(2));
    let mut big_endian = good.clone();
    big_endian[5] = 2;
    check(&big_endian, ReadError::ElfKind);
    let mut other = good.clone();
    let at = other
        .windows(4)
        .position(|bytes| bytes == b"Mali")
        .expect("an owner");
    other[at] = b'C';
    assert!(
        Dump::parse(&other).is_ok(),
        "notes of others are passed over"
    );
    for at in 0..other.len() - 4 {
        if &other[at..at + 4] == b"Mali" {
            other[at] = b'C';
        }
    }
    check(&other, ReadError::NotOfGpu);
    let cut = Dump::parse(&good[..100]).err();
    assert!(matches!(cut, Some(ReadError::Truncated { .. })), "{cut:?}");
}

/// A copy that ended early has the notes, which come first, and some of the memory: that is what somebody needs to see.
#[test]
fn what_is_left_of_a_dump_that_was_cut_short_is_read() {
    let mut said = Said::default();
    said.pages.extend([(1, 7), (3, 9)]);
    let whole = said.file();
    let all = Dump::parse(&whole).unwrap();
    assert_eq!((all.cut(), all.memory().len()), (0, 2));
    let cut = &whole[..whole.len() - 1];
    let left = Dump::parse(cut).unwrap();
    assert_eq!(left.cut(), 1);
    assert_eq!(left.registers().count(), all.registers().count());
    assert_eq!(left.memory()[0], all.memory()[0]);
    // The last byte is not there, rather than zero.
    let last = left.memory()[1];
    assert_eq!(last.bytes + 1, all.memory()[1].bytes);
    let mut memory = &left;
    assert!(memory.read(last.address + last.bytes, &mut [0]).is_err());
    // However short it is, it is read or refused, and what is left never grows.
    let mut before = usize::MAX;
    for bytes in (0..whole.len()).rev() {
        let notes = match Dump::parse(&whole[..bytes]) {
            Ok(dump) => dump.registers().count(),
            Err(error) => {
                assert!(
                    matches!(error, ReadError::Truncated { .. } | ReadError::NotElf),
                    "{bytes}: {error}"
                );
                0
            }
        };
        assert!(notes <= before, "{bytes}");
        before = notes;
    }
}

#[test]
fn memory_that_two_segments_hold_is_refused() {
    let mut said = Said::default();
    said.pages.extend([(1, 1), (3, 3)]);
    let mut file = said.file();
    // The address of the second memory segment: the header, two segments, and 24 bytes.
    let at = 64 + 2 * 56 + 24;
    file[at..at + 8].copy_from_slice(&PAGE.to_le_bytes());
    let error = ReadError::Overlap { address: PAGE };
    assert_eq!(Dump::parse(&file).err(), Some(error));
}

#[test]
fn memory_that_the_file_lacks_is_zero() {
    let mut said = Said::default();
    said.pages.insert(1, 7);
    let mut file = said.file();
    // The bytes of the memory segment in the file, less 100.
    let at = 64 + 56 + 32;
    file[at..at + 8].copy_from_slice(&(PAGE - 100).to_le_bytes());
    let dump = Dump::parse(&file).expect("legal");
    let mut bytes = [0xEE; PAGE as usize];
    (&dump).read(PAGE, &mut bytes).expect("in the dump");
    assert!(bytes[..3996].iter().all(|byte| *byte == 7));
    assert!(bytes[3996..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_writer_finds_out_what_it_can_not_write() {
    let mut file = Vec::new();
    let regions = [Region {
        start: 0,
        bytes: 12,
    }];
    let written = write(&mut file, &regions, |_| {}, |_, _| Ok(()));
    assert_eq!(written, Err(WriteError::Regions));
    let regions = [Region {
        start: 0,
        bytes: PAGE,
    }];
    let gone = Unreadable { address: 0 };
    let written = write(&mut file, &regions, |_| {}, |_, _| Err(gone));
    assert_eq!(written, Err(WriteError::Memory(gone)));
    let mut told = 0;
    let changing = |notes: &mut eitri_dump::Notes<'_, Vec<u8>>| {
        told += 1;
        notes.producer(&"x".repeat(10 * told));
    };
    let written = write(&mut file, &[], changing, |_, _| Ok(()));
    assert_eq!(written, Err(WriteError::NotesChanged));
}

/// What a tool of binutils says of a dump; `None` where the tool is not on this machine.
fn told_by(tool: &str, arguments: &[&str], file: &[u8]) -> Option<String> {
    let path = std::env::temp_dir().join(format!("eitri-dump-{}-{tool}", std::process::id()));
    std::fs::write(&path, file).expect("a temporary file");
    let output = Command::new(tool)
        .args(arguments)
        .arg(&path)
        .env("LC_ALL", "C")
        .output();
    std::fs::remove_file(&path).expect("it was written");
    let Ok(output) = output else {
        eitri_testdata::report_skipped(&format!("{tool}, of binutils"));
        return None;
    };
    let [out, err] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{tool}: {out}{err}");
    assert_eq!(err, "", "{tool} complains: {out}");
    Some(out)
}

#[test]
fn readelf_and_objdump_take_the_file() {
    let mut said = Said {
        producer: String::from("abc"),
        ..Said::default()
    };
    said.pages.extend([(1, 1), (2, 1), (9, 3)]);
    let file = said.file();
    if let Some(text) = told_by("readelf", &["-a", "-W"], &file) {
        for part in [
            "CORE (Core file)",
            "LOAD",
            "NOTE",
            "Mali-CSF",
            "0x002000 0x002000",
        ] {
            assert!(text.contains(part), "no {part:?}: {text}");
        }
    }
    if let Some(text) = told_by("objdump", &["-h"], &file) {
        assert!(text.contains("load"), "{text}");
    }
}
