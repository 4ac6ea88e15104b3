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

/// Words of an instruction of the data file: all fields 0, all ones, and each one bit in turn.
pub fn words_of(fact: &Value) -> impl Iterator<Item = u64> {
    let mut base = fact["opcode"].as_u64().unwrap() << 56;
    let sub = &fact["sub_opcode"];
    if let Some(value) = sub["value"].as_u64() {
        base |= value << sub["start"].as_u64().unwrap();
    }
    let defined = !hex(&fact["reserved_mask"]) & u64::MAX >> 8;
    let sub_bits = match (sub["start"].as_u64(), sub["width"].as_u64()) {
        (Some(start), Some(width)) => ((1 << width) - 1) << start,
        _ => 0,
    };
    let free = defined & !sub_bits;
    let single = (0..56).map(|bit| 1 << bit);
    let pairs = (0..55).map(|bit| 0b11 << bit);
    let patterns = [0, u64::MAX, 0x0055_5555_5555_5554, 0x0012_3456_789a_bcde];
    let all = patterns.into_iter().chain(single).chain(pairs);
    all.map(move |bits| base | bits & free)
}

/// What the data file's rules (`text_syntax`) make of a template: a printer of its own.
pub fn print(data: &Value, fact: &Value, template: &str, word: u64) -> String {
    let field = |name: &str| {
        let fields = fact["fields"].as_array().unwrap();
        let field = fields.iter().find(|field| field["name"] == name).unwrap();
        let width = field["width"].as_u64().unwrap();
        let bits = word >> field["start"].as_u64().unwrap() & (u64::MAX >> (64 - width));
        match (
            field["type"].as_str().unwrap(),
            field["modifier"]["amount"].as_u64(),
        ) {
            ("int", _) => (bits << (64 - width)).cast_signed() >> (64 - width),
            (_, Some(amount)) => (bits << amount).cast_signed(),
            _ => bits.cast_signed(),
        }
    };
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        let mut depth = 0;
        let closes = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        };
        let end = start + rest[start..].find(closes).unwrap();
        let inner = &rest[start + 1..end];
        rest = &rest[end + 1..];
        match inner {
            "%regs" => {
                let (base, mask) = (field("base_register"), field("mask"));
                let bits = (0..16).filter(|bit| mask >> bit & 1 != 0);
                let names: Vec<_> = bits.map(|bit| format!("r{}", base + bit)).collect();
                out.push_str(if names.is_empty() { "_" } else { "" });
                out.push_str(&names.join(":"));
            }
            "%mem" => match field("offset") {
                0 => out.push_str(&format!("[d{}]", field("address"))),
                offset => out.push_str(&format!("[d{} + {offset}]", field("address"))),
            },
            "%last_reg" => {
                let last = field("base_register") + field("register_count") - 1;
                out.push_str(&last.to_string());
            }
            "%imm32" => out.push_str(&(word as i32).to_string()),
            "%wait_list" => {
                let mask = field("wait_mask");
                let slots = (0..16).filter(|slot| mask >> slot & 1 != 0);
                let names: Vec<_> = slots.map(|slot: i32| slot.to_string()).collect();
                out.push_str(&names.join(","));
            }
            _ => {
                let mark = inner.find(['?', '!', ':', '@']);
                let Some(mark) = mark else {
                    out.push_str(&field(inner).to_string());
                    continue;
                };
                let (value, argument) = (field(&inner[..mark]), &inner[mark + 1..]);
                match &inner[mark..=mark] {
                    "?" if value != 0 => out.push_str(&print(data, fact, argument, word)),
                    "!" if value == 0 => out.push_str(&print(data, fact, argument, word)),
                    "?" | "!" => {}
                    ":" if argument == "x" => out.push_str(&format!("{value:x}")),
                    ":" => out.push_str(&format!("{value:X}")),
                    _ => {
                        let table = &data["text_tables"][argument];
                        let listed = table["values"][value as usize].as_str();
                        out.push_str(listed.or(table["other"].as_str()).unwrap());
                    }
                }
            }
        }
    }
    out + rest
}
