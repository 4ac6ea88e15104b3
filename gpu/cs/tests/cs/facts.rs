//! Reads `command-stream.json`: the copy kept here, and the one beside the clone when there is one.

use eitri_cs::Arch;
use serde_json::Value;

/// The data file; the copy that is kept must be that of the facts.
pub fn data() -> Value {
    let kept = std::fs::read_to_string(eitri_testdata::kept("command-stream.json")).unwrap();
    if let Some(shared) = eitri_testdata::read_shared("hardware/data/command-stream.json") {
        assert!(
            kept == shared,
            "testdata/data/command-stream.json is not the facts' any more"
        );
    }
    serde_json::from_str(&kept).unwrap()
}

/// `10` is v10.
pub fn arch(number: &Value) -> Arch {
    number.to_string().parse().unwrap()
}

/// `"0x022a…"`.
pub fn hex(text: &Value) -> u64 {
    let digits = text.as_str().unwrap().strip_prefix("0x").unwrap();
    u64::from_str_radix(digits, 16).unwrap()
}
