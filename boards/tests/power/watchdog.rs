//! The i.MX95's watchdog: what is written to it.

use crate::fake::{Chip, Fake};
use eitri_boards::imx95::BOARD;

struct Plain;

impl Chip for Plain {
    fn smc(&mut self, call: eitri_boards::steps::SmcCall) -> u64 {
        panic!("no call of the firmware belongs here: {call:?}")
    }
}

#[test]
fn it_is_refreshed_in_the_width_that_it_is_set_to() {
    let watchdog = BOARD.watchdog.unwrap();
    let (control, counter) = (0x4249_0000, 0x4249_0004);
    for (mode, writes) in [
        (0x2000, vec![(counter, 0xB480_A602)]),
        (0x0000, vec![(counter, 0xA602), (counter, 0xB480)]),
    ] {
        let mut fake = Fake::new(Plain);
        fake.registers.insert(control, mode | 0x80);
        assert!(watchdog.is_running(&mut fake));
        watchdog.refresh(&mut fake);
        assert_eq!(fake.writes, writes, "with CS {mode:#x}");
    }
}

#[test]
fn one_that_was_not_started_is_seen() {
    let watchdog = BOARD.watchdog.unwrap();
    let mut fake = Fake::new(Plain);
    assert!(!watchdog.is_running(&mut fake));
    assert_eq!(fake.writes, [], "nothing is written to find out");
}
