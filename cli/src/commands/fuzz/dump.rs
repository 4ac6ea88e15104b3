//! Damaged dumps: reading, showing and walking one ends without a panic, whatever it holds.
//!
//! A word is a seed. Of it a small dump is made: registers, page tables, a ring with a job, descriptors, code; then some of its
//! words are changed. Half of the changes are to addresses of the dump itself, so that tables, calls and descriptors point to
//! each other in ways that none should.

use super::Dice;
use eitri_csf::page_table::{Attributes, Entry, Level, transcfg_4k};
use eitri_csf::registers::address_space::{AS_TRANSCFG, AS_TRANSTAB};
use eitri_csf::registers::identity::GPU_ID;
use eitri_dump::note::Ring;
use eitri_dump::{Dump, Region, show, write};

const PAGE: u64 = 4096;
/// Pages of the dump: four tables, the ring, what it calls, descriptors, code.
const PAGES: u64 = 8;
/// What is mapped: the four pages behind the tables, from here on.
const MAPPED: u64 = 0x1_0000;
/// Words that a damaged dump has changed at most.
const CHANGES: u64 = 12;

/// True if the damaged dump is still one.
pub(super) fn check(seed: u64) -> Result<bool, String> {
    let mut dice = Dice(seed);
    let mut file = sound();
    for _ in 0..dice.next() % CHANGES {
        let at = (dice.next() as usize % file.len()) & !7;
        let value = match dice.next() % 4 {
            0 => dice.next(),
            1 => MAPPED + ((dice.next() % (PAGES * PAGE)) & !7),
            // An entry of a table that leads to a page of the dump, tables included.
            2 => (dice.next() % PAGES * PAGE) | 3,
            _ => 1 << (dice.next() % 64),
        };
        if let Some(place) = file.get_mut(at..at + 8) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }
    let Ok(dump) = Dump::parse(&file) else {
        return Ok(false);
    };
    let all = dice.next() & 1 == 0;
    match show::entries(&dump, &show::Options { all }).is_empty() {
        true => Err("nothing is shown of it".to_owned()),
        false => Ok(true),
    }
}

/// A page of the memory.
fn page(number: u64) -> Vec<u64> {
    let mut words = vec![0; (PAGE / 8) as usize];
    let level = Level::ALL.get(number as usize);
    match level {
        Some(level) if level.next().is_some() => {
            words[level.index(MAPPED)] =
                Entry::table(*level, (number + 1) * PAGE).map_or(0, |entry| entry.0);
        }
        Some(level) => {
            for mapped in 0..4 {
                let entry = Entry::leaf(*level, (4 + mapped) * PAGE, Attributes::CACHED.execute());
                words[level.index(MAPPED + mapped * PAGE)] = entry.map_or(0, |entry| entry.0);
            }
        }
        None => {
            // In the ring a call of the next page; there a job; its descriptors; and its code.
            let text = match number {
                4 => "MOVE48 d92, #0x11000\nMOVE32 r94, #0x40\nCALL d92, r94\nWAIT #ff",
                5 => {
                    "MOVE48 d0, #0x12084\nMOVE48 d8, #0x12000\nMOVE48 d16, #0x12000\nMOVE48 d24, #0x12040\n\
                      RUN_COMPUTE.x_axis.srt0.spd0.tsd0.fau0 #1\nBRANCH.eq r66, #-3"
                }
                6 => {
                    // Shader program, and a table of one table of buffers.
                    words[..2].copy_from_slice(&[8 | 1 << 4, MAPPED + 3 * PAGE]);
                    words[16..20].copy_from_slice(&[
                        (MAPPED + 0x2100) | 1 << 56,
                        64,
                        9 | 1 << 4,
                        MAPPED,
                    ]);
                    ""
                }
                _ => {
                    // IMUL, STORE.end
                    words[..2].copy_from_slice(&[0x00a4_c010_0000_d001, 0x7861_4002_9800_0042]);
                    ""
                }
            };
            let line = |text| eitri_cs::text::assemble_line(text, eitri_cs::Arch::V10).unwrap_or(0);
            for (word, text) in words.iter_mut().zip(text.lines()) {
                *word = line(text);
            }
        }
    }
    words
}

/// The dump before it is damaged.
fn sound() -> Vec<u8> {
    let mut file = Vec::new();
    let regions = [Region {
        start: 0,
        bytes: PAGES * PAGE,
    }];
    let transcfg = transcfg_4k(48, false).unwrap_or(0);
    let ring = Ring {
        address: MAPPED,
        bytes: 0x1000,
        insert: 0x40,
        extract: 0x18,
    };
    let written = write(
        &mut file,
        &regions,
        |notes| {
            notes.registers(&mut |tell| {
                tell(GPU_ID.offset, 0xA867_0005);
                for (row, value) in [(AS_TRANSTAB.at(1), 0), (AS_TRANSCFG.at(1), transcfg)] {
                    tell(row.offset, value as u32);
                    tell(row.offset + 4, (value >> 32) as u32);
                }
                for offset in [8, 12] {
                    // AS_MEMATTR
                    tell(AS_TRANSTAB.at(1).offset + offset, 0);
                }
            });
            let mut none = |_: &mut dyn FnMut(u32, u32)| {};
            notes.group(0, 1, [&mut none.clone(), &mut none.clone(), &mut none]);
            notes.stream(
                0,
                0,
                ring,
                [&mut none.clone(), &mut none.clone(), &mut none],
            );
        },
        |address, bytes| {
            for (place, word) in bytes.chunks_exact_mut(8).zip(page(address / PAGE)) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            Ok(())
        },
    );
    // A vector takes everything, and the notes are the same both times.
    debug_assert!(written.is_ok());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is damaged must be worth damaging: the job is reached, with descriptors and code.
    #[test]
    fn the_sound_dump_leads_to_a_job_and_its_code() {
        let file = sound();
        let dump = Dump::parse(&file).unwrap();
        let shown = show::entries(&dump, &show::Options { all: true });
        let text: String = shown.iter().map(ToString::to_string).collect();
        for part in [
            "CALL d92",
            "RUN_COMPUTE",
            "Shader Program",
            "STORE.i32",
            "descriptor 1",
        ] {
            assert!(text.contains(part), "no {part}: {text}");
        }
    }

    #[test]
    fn damaged_dumps_do_no_harm() {
        for seed in 0..300 {
            assert!(check(seed).is_ok(), "seed {seed}");
        }
    }
}
