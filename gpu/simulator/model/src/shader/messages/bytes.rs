//! Bytes of a message whose lanes lie in one page: between a page that is lent and the registers of a warp.

use super::places::{Order, Places};
use super::staged;
use super::transfer::set_loaded;
use crate::memory::PAGE_BYTES;
use crate::shader::lanes::{Lanes, WARP, spread};
use crate::shader::message::Placement;
use crate::shader::warp::{Warp, bits};

type Page = [u8; PAGE_BYTES];

/// Bytes of a word of each lane.
const ROW: usize = 4 * WARP;

/// What a load puts into registers: how many bytes of a lane, and where they go. Narrower ones than their place grow by sign, or are
/// `unsigned`.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    pub(super) bytes: u8,
    pub(super) placement: Placement,
    pub(super) unsigned: bool,
}

impl Loaded {
    /// Whole words; 0 if it is none.
    fn words(self) -> u8 {
        match (self.placement, self.bytes) {
            (Placement::Registers, 4 | 8 | 12 | 16)
            | (Placement::Word, 4)
            | (Placement::Pair, 8) => self.bytes / 4,
            _ => 0,
        }
    }

    /// Where in its register a byte or half goes: the register's bits that it sets, and how far up it is.
    fn narrow(self) -> Option<(u32, u32)> {
        match (self.bytes, self.placement) {
            (1 | 2, Placement::Byte(byte)) => Some((8 * u32::from(byte), 0xff)),
            (1 | 2, Placement::Half(half)) => Some((16 * u32::from(half), 0xffff)),
            (1 | 2, Placement::Word) => Some((0, u32::MAX)),
            _ => None,
        }
    }
}

/// The word at a place that is a multiple of 4 and `word` words further, which is inside of the page.
#[inline(always)]
fn word_at(page: &Page, start: usize, word: usize) -> u32 {
    let words = page.as_chunks::<4>().0;
    u32::from_le_bytes(words[(start / 4 + word) % (PAGE_BYTES / 4)])
}

/// Loads a value for each running lane.
#[inline(always)]
pub(super) fn load(page: &Page, places: &Places, warp: &mut Warp, first: u8, loaded: Loaded) {
    let words = loaded.words();
    if words == 0 {
        load_narrow(page, places, warp, first, loaded);
    } else if places.order == Order::InRow && words == 1 {
        let register = &mut warp.registers[usize::from(first & 63)];
        load_row(page, places.start(), register);
    } else if places.order == Order::Same {
        load_same(page, places.start(), warp, first, words);
    } else if warp.lanes == u16::MAX {
        load_all(page, places, warp, first, words);
    } else {
        load_some(page, places, warp, first, words);
    }
}

/// Words in a row, a word a lane.
#[inline(always)]
fn load_row(page: &Page, start: usize, register: &mut Lanes) {
    let row = page.get(start..).and_then(|row| row.first_chunk::<ROW>());
    // `places` has found all of it inside.
    let row = row.unwrap_or(&[0; ROW]).as_chunks().0;
    // First all of it is read, then all of it is written: that is vector code.
    let mut values = [0; WARP];
    for (value, bytes) in values.iter_mut().zip(row) {
        *value = u32::from_le_bytes(*bytes);
    }
    *register = values;
}

/// All lanes load the same words.
#[inline(never)]
fn load_same(page: &Page, start: usize, warp: &mut Warp, first: u8, words: u8) {
    let runs = spread(warp.lanes);
    for word in 0..words {
        let register = &mut warp.registers[usize::from(first.wrapping_add(word) & 63)];
        let value = word_at(page, start, word.into());
        for (register, runs) in register.iter_mut().zip(runs) {
            *register = *register & !runs | value & runs;
        }
    }
}

/// All lanes load words, each from its place.
#[inline(never)]
fn load_all(page: &Page, places: &Places, warp: &mut Warp, first: u8, words: u8) {
    let starts = places.all_starts();
    for word in 0..words {
        let register = &mut warp.registers[usize::from(first.wrapping_add(word) & 63)];
        for (register, start) in register.iter_mut().zip(starts) {
            *register = word_at(page, start as usize, word.into());
        }
    }
}

/// The running lanes load words, each from its place.
#[inline(never)]
fn load_some(page: &Page, places: &Places, warp: &mut Warp, first: u8, words: u8) {
    for lane in bits(warp.lanes) {
        let start = places.start_of(lane);
        for word in 0..words {
            let register = &mut warp.registers[usize::from(first.wrapping_add(word) & 63)];
            register[lane] = word_at(page, start, word.into());
        }
    }
}

/// The running lanes load bytes or halves, or a number of bytes that makes no words.
#[inline(never)]
fn load_narrow(page: &Page, places: &Places, warp: &mut Warp, first: u8, loaded: Loaded) {
    let lanes = warp.lanes;
    let Some((shift, mask)) = loaded.narrow() else {
        let length = usize::from(loaded.bytes);
        let way = (loaded.placement, loaded.unsigned, loaded.bytes);
        for lane in bits(lanes) {
            let mut value = [0; 16];
            let from = page.iter().skip(places.start_of(lane)).take(length);
            for (to, from) in value.iter_mut().zip(from) {
                *to = *from;
            }
            set_loaded(warp, lane, first, way, u128::from_le_bytes(value));
        }
        return;
    };
    let starts = places.all_starts();
    let mut values = [0; WARP];
    if loaded.bytes == 1 {
        values = starts.map(|start| page[start as usize % PAGE_BYTES].into());
    } else {
        let halves = page.as_chunks::<2>().0;
        // `places` has found them at multiples of 2.
        let half = |start: u32| halves[start as usize / 2 % (PAGE_BYTES / 2)];
        for (value, start) in values.iter_mut().zip(starts) {
            *value = u16::from_le_bytes(half(start)).into();
        }
    }
    if !loaded.unsigned {
        let above = 32 - 8 * u32::from(loaded.bytes);
        values = values.map(|it: u32| (it << above).cast_signed().wrapping_shr(above) as u32);
    }
    let mask = mask << shift;
    let register = &mut warp.registers[usize::from(first & 63)];
    for ((register, value), runs) in register.iter_mut().zip(values).zip(spread(lanes)) {
        let mask = mask & runs;
        *register = *register & !mask | (value << shift) & mask;
    }
}

/// Stores the staging registers of `lanes`, from byte `skip` of the first one on: of lanes that store to one place, the last one's stay.
#[inline(always)]
pub(super) fn store(
    page: &mut Page,
    places: &Places,
    warp: &Warp,
    read: (u8, u8),
    (lanes, skip): (u16, u8),
) {
    if places.bytes != 4 || skip != 0 {
        store_others(page, places, warp, read, (lanes, skip));
        return;
    }
    let values = &warp.registers[usize::from(read.0 & 63)];
    if places.order == Order::InRow {
        let row = page.get_mut(places.start()..);
        let row = row.and_then(|row| row.first_chunk_mut::<ROW>());
        let row = row.map_or(&mut [][..], |row| row.as_chunks_mut().0);
        let values = values.map(u32::to_le_bytes);
        for (bytes, value) in row.iter_mut().zip(values) {
            *bytes = value;
        }
        return;
    }
    store_words(page, places, values, lanes);
}

/// A word of each lane.
#[inline(never)]
fn store_words(page: &mut Page, places: &Places, values: &Lanes, lanes: u16) {
    let words = page.as_chunks_mut::<4>().0;
    let mut set = |start: usize, value: u32| {
        words[start / 4 % (PAGE_BYTES / 4)] = value.to_le_bytes();
    };
    match places.order {
        Order::Same => {
            let last = (u16::BITS - 1 - lanes.leading_zeros()) as usize;
            set(places.start(), values[last % WARP]);
        }
        _ if lanes == u16::MAX => {
            for (start, value) in places.all_starts().into_iter().zip(values) {
                set(start as usize, *value);
            }
        }
        _ => {
            for lane in bits(lanes) {
                set(places.start_of(lane), values[lane]);
            }
        }
    }
}

/// Any number of bytes of each lane.
#[inline(never)]
fn store_others(
    page: &mut Page,
    places: &Places,
    warp: &Warp,
    (first, count): (u8, u8),
    (lanes, skip): (u16, u8),
) {
    let length = places.bytes as usize;
    if length.is_multiple_of(4) && skip == 0 {
        let words = page.as_chunks_mut::<4>().0;
        for lane in bits(lanes) {
            let start = places.start_of(lane) / 4;
            for word in 0..length / 4 {
                let register = &warp.registers[usize::from(first.wrapping_add(word as u8) & 63)];
                words[(start + word) % (PAGE_BYTES / 4)] = register[lane].to_le_bytes();
            }
        }
        return;
    }
    for lane in bits(lanes) {
        let value = staged(warp, (first, count), lane).to_le_bytes();
        let value = value.iter().skip(skip.into());
        let to = page.iter_mut().skip(places.start_of(lane)).take(length);
        for (to, value) in to.zip(value) {
            *to = *value;
        }
    }
}
