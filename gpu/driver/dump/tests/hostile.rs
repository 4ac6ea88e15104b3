//! Page tables that no driver would write, and writers with too little room: everything ends, and says what is missing.

use eitri_csf::page_table::{Attributes, Entry, Level, transcfg_4k};
use eitri_csf::registers::address_space::{AS_TRANSCFG, AS_TRANSTAB};
use eitri_csf::registers::identity::{AS_PRESENT, GPU_ID};
use eitri_dump::walk::{MOST_TABLES, Space};
use eitri_dump::{Dump, Memory, Region, Source, Unreadable, collect, show};
use std::collections::BTreeMap;

const PAGE: u64 = 4096;

/// A GPU of a register file and some pages of memory.
#[derive(Default)]
struct Machine {
    registers: BTreeMap<u32, u32>,
    pages: BTreeMap<u64, [u64; 512]>,
}

impl Machine {
    /// Address space 1 with its root table at `root`.
    fn new(root: u64) -> Machine {
        let mut machine = Machine::default();
        let transcfg = transcfg_4k(48, false).expect("48 bits");
        machine.registers.insert(GPU_ID.offset, 0xA867_0005);
        machine.registers.insert(AS_PRESENT.offset, 2);
        for (row, value) in [(AS_TRANSTAB.at(1), root), (AS_TRANSCFG.at(1), transcfg)] {
            machine.registers.insert(row.offset, value as u32);
            machine
                .registers
                .insert(row.offset + 4, (value >> 32) as u32);
        }
        machine
    }

    fn dump(&mut self, room: usize) -> (eitri_dump::Summary, Vec<u8>) {
        let mut file = Vec::new();
        let mut room = vec![Region::default(); room];
        let summary = collect(self, &mut room, &mut file).expect("it can be written");
        (summary, file)
    }
}

impl Memory for Machine {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let page = self.pages.get(&(address & !(PAGE - 1)));
        let page = page.ok_or(Unreadable { address })?;
        let all: Vec<u8> = page.iter().flat_map(|word| word.to_le_bytes()).collect();
        let start = (address % PAGE) as usize;
        bytes.copy_from_slice(&all[start..start + bytes.len()]);
        Ok(())
    }
}

impl Source for Machine {
    fn register(&mut self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn producer(&self) -> &str {
        "a test"
    }
}

/// A table all of whose entries lead to itself has 512 x 512 x 512 x 512 pages.
#[test]
fn a_table_that_is_its_own_child_is_walked_to_the_budget_and_no_further() {
    let root = 0x8000_0000;
    let mut machine = Machine::new(root);
    machine.pages.insert(root, [root | 3; 512]);
    let space = Space::read(1, &mut |row| {
        let low = machine.registers.get(&row.offset).copied().unwrap_or(0);
        let high = machine
            .registers
            .get(&(row.offset + 4))
            .copied()
            .unwrap_or(0);
        u64::from(high) << 32 | u64::from(low)
    });
    let (mut budget, mut met) = (100, 0u64);
    let skipped = space.visit(&mut machine, &mut budget, &mut |_, _| met += 1);
    assert_eq!(budget, 0);
    assert!(
        skipped > 0 && met < 100 * 513,
        "{skipped} skipped, {met} met"
    );
    const { assert!(MOST_TABLES < 1 << 16) };
}

#[test]
fn what_there_is_no_room_for_and_what_is_no_memory_is_told() {
    let (root, physical) = (0x8000_0000u64, 0x9000_0000u64);
    let mut machine = Machine::new(root);
    let table = |to: u64| {
        let mut words = [0; 512];
        words[0] = to | 3;
        words
    };
    for level in 0..3 {
        machine
            .pages
            .insert(root + level * PAGE, table(root + (level + 1) * PAGE));
    }
    let leaf = |to| {
        Entry::leaf(Level::L3, to, Attributes::CACHED)
            .expect("aligned")
            .0
    };
    let mut pages = [0; 512];
    // Every other page of memory: four runs of their own, and a page where there is no memory.
    for index in 0..4 {
        let at = physical + 2 * index * PAGE;
        pages[index as usize] = leaf(at);
        machine.pages.insert(at, [index; 512]);
    }
    pages[9] = leaf(0x1000);
    machine.pages.insert(root + 3 * PAGE, pages);

    let (summary, file) = machine.dump(64);
    assert_eq!(summary.memory, 8 * PAGE, "{summary:?}");
    assert_eq!(summary.incomplete.no_room, 0);
    assert_eq!(summary.incomplete.unreadable, PAGE);
    let dump = Dump::parse(&file).expect("a dump");
    assert_eq!(dump.memory().len(), 5);

    let (summary, file) = machine.dump(3);
    assert_eq!(summary.incomplete.no_room, 2 * PAGE, "{summary:?}");
    let dump = Dump::parse(&file).expect("a dump");
    assert_eq!(dump.incomplete(), summary.incomplete);
    let shown = show::entries(&dump, &show::Options::default());
    let text: String = shown.iter().map(ToString::to_string).collect();
    for part in [
        "left out: 0x2000 bytes, for which the writer had no room\n",
        "left out: 0x1000 bytes are mapped where there is no memory\n",
    ] {
        assert!(text.contains(part), "no {part:?}: {text}");
    }
}
