//! Vectors that were computed elsewhere, as tests read them, and which test runs each family of them on the whole device.
//!
//! Facts: data/graphics-vectors.json, graphics-vectors2.json, compression-vectors.json; `about` in them explains the members.

#![allow(dead_code, reason = "each test binary uses another part")]

use serde_json::Value;

pub const FIRST: &str = "graphics-vectors.json";
pub const SECOND: &str = "graphics-vectors2.json";
pub const BLOCKS: &str = "compression-vectors.json";

/// The file as a whole.
pub fn file(name: &str) -> Value {
    let text =
        std::fs::read_to_string(eitri_testdata::kept(name)).expect("testdata keeps the file");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

/// The vectors of a family, of which there is at least one.
pub fn list(name: &str, family: &str) -> Vec<Value> {
    let vectors = file(name)[family].as_array().cloned().unwrap_or_default();
    assert!(!vectors.is_empty(), "{name} has no {family}");
    vectors
}

/// Bits as hexadecimal text.
pub fn bits(value: &Value) -> u32 {
    let digits = value.as_str().expect("bits as text");
    u32::from_str_radix(digits.trim_start_matches("0x"), 16).expect("hexadecimal digits")
}

/// A number: bits of a float as text, or the number itself.
pub fn float(value: &Value) -> f32 {
    match value.as_str() {
        Some(_) => f32::from_bits(bits(value)),
        None => value.as_f64().expect("a number") as f32,
    }
}

/// A number: decimal digits as text, or the number itself.
pub fn decimal(value: &Value) -> f64 {
    match value.as_str() {
        Some(digits) => digits.parse().expect("digits"),
        None => value.as_f64().expect("a number"),
    }
}

pub fn number(value: &Value) -> u32 {
    let number = value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    u32::try_from(number).expect("32 bits")
}

pub fn integer(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no integer"))
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}
