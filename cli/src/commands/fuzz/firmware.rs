//! Damaged firmware images: reading one ends without a panic, and what was read lies inside of it.
//!
//! A word is a seed. Some words of the header and of the entry table of the stub image are changed.

use super::{Dice, damage};
use eitri_csf::image::Image;
use eitri_model::stub_firmware;
use std::sync::OnceLock;

/// Words of the header and of the entry table: what is behind them is the firmware's own.
const TABLE_WORDS: usize = 64;

/// True if the damaged image is still one.
pub(super) fn check(seed: u64) -> Result<bool, String> {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    let mut dice = Dice(seed);
    let mut file = SOUND.get_or_init(stub_firmware).clone();
    let end = file.len().min(4 * TABLE_WORDS);
    damage(&mut dice, file.get_mut(..end).unwrap_or_default());
    // Every eighth one is cut short.
    if dice.next() & 7 == 0 {
        file.truncate(dice.next() as usize % (file.len() + 1));
    }
    let Ok(image) = Image::parse(&file) else {
        return Ok(false);
    };
    for section in image.sections() {
        if section.data.len() > section.va.len() {
            return Err(format!("more data than addresses: {section:x?}"));
        }
    }
    let _ = (image.version(), image.build_info(), image.entries().count());
    match image.shared_section() {
        Some(_) => Ok(true),
        None => Err("no section is shared with the host".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is damaged must be worth damaging: some are still images, and some are not.
    #[test]
    fn damage_is_neither_all_nor_nothing() {
        let legal = (0..200).filter(|seed| check(*seed) == Ok(true)).count();
        assert!((20..180).contains(&legal), "{legal} of 200");
    }
}
