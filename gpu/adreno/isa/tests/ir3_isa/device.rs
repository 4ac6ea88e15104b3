//! The table of devices.

use eitri_ir3_isa::device::{DEVICES, find};

#[test]
fn devices_are_named_as_people_write_them() {
    for name in [
        "a650",
        "A650",
        "650",
        "Adreno 650",
        "adreno-650",
        "ADRENO_a650",
    ] {
        assert_eq!(find(name).map(|device| device.name), Some("a650"), "{name}");
    }
    for name in ["", "a", "a651", "a65", "adreno", "g610"] {
        assert_eq!(find(name), None, "{name}");
    }
}

#[test]
fn names_stand_once_and_say_the_generation() {
    for (place, device) in DEVICES.iter().enumerate() {
        let others = DEVICES[..place].iter();
        assert!(
            others.clone().all(|other| other.name != device.name),
            "{}",
            device.name
        );
        assert_eq!(
            device.name[..2],
            device.generation.name()[..2],
            "{}",
            device.name
        );
    }
}
