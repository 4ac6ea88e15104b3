//! A disassembler that knows nothing but the facts' data file and its schema: ours says the same of random words of every row.

use std::collections::HashMap;

use crate::data_file::{data, hex};
use eitri_ir3_isa::{Gen, Instr, Loss, Op};
use serde_json::Value;

/// The data file with its operands by name.
struct Schema {
    operands: HashMap<String, Value>,
    enums: Value,
}

/// Where names are looked up: a row or an operand alternative, its bits, and what encloses it.
struct Scope<'a> {
    schema: &'a Schema,
    item: &'a Value,
    bits: u64,
    generation: u64,
    outer: Option<(&'a Scope<'a>, &'a Value)>,
}

fn extract(bits: u64, range: &Value) -> (u64, u32) {
    let bit = |index: usize| range[index].as_u64().expect("a bit number") as u32;
    let width = bit(1) - bit(0) + 1;
    (bits >> bit(0) & (u64::MAX >> (64 - width)), width)
}

impl Scope<'_> {
    /// The variants that are true, then the row itself.
    fn layers(&self) -> Vec<&Value> {
        let variants = self.item["variants"].as_array().into_iter().flatten();
        let mut layers: Vec<_> = variants
            .filter(|variant| self.eval_in(&variant["when"], variant) != 0)
            .collect();
        layers.push(self.item);
        layers
    }

    fn field(&self, name: &str) -> Option<&Value> {
        let mut layers = self.layers().into_iter();
        layers.find_map(|layer| layer["fields"].get(name))
    }

    fn value(&self, name: &str, field: &Value) -> i64 {
        if field.get("bits").is_some() {
            return extract(self.bits, &field["bits"]).0 as i64;
        }
        let _ = name;
        self.eval(&field["expr"])
    }

    fn lookup(&self, name: &str) -> i64 {
        self.lookup_in(name, self.field(name))
    }

    fn lookup_in(&self, name: &str, field: Option<&Value>) -> i64 {
        if let Some(field) = field {
            return self.value(name, field);
        }
        let Some((outer, args)) = self.outer else {
            panic!("no field {name} in {}", self.item["name"]);
        };
        // A modifier may be told by its name in the enclosing row without being handed on.
        outer.lookup(args[name].as_str().unwrap_or(name))
    }

    fn eval(&self, expr: &Value) -> i64 {
        self.eval_with(expr, &|name| self.lookup(name))
    }

    /// A condition sees the fields of its own variant and of the row, not those of other variants.
    fn eval_in(&self, expr: &Value, variant: &Value) -> i64 {
        self.eval_with(expr, &|name| {
            let field = variant["fields"]
                .get(name)
                .or(self.item["fields"].get(name));
            self.lookup_in(name, field)
        })
    }

    fn eval_with(&self, expr: &Value, lookup: &dyn Fn(&str) -> i64) -> i64 {
        if let Some(number) = expr.as_i64() {
            return number;
        }
        let parts = expr.as_array().expect("an expression");
        let operator = parts[0].as_str().expect("an operator");
        let of = |index: usize| self.eval_with(&parts[index], lookup);
        match operator {
            "f" => lookup(parts[1].as_str().expect("a name")),
            "gen" => self.generation as i64,
            "or" => i64::from(of(1) != 0 || of(2) != 0),
            "and" => i64::from(of(1) != 0 && of(2) != 0),
            "not" => i64::from(of(1) == 0),
            "eq" => i64::from(of(1) == of(2)),
            "ne" => i64::from(of(1) != of(2)),
            "lt" => i64::from(of(1) < of(2)),
            "le" => i64::from(of(1) <= of(2)),
            "gt" => i64::from(of(1) > of(2)),
            "ge" => i64::from(of(1) >= of(2)),
            "band" => of(1) & of(2),
            "bor" => of(1) | of(2),
            "shl" => of(1) << of(2),
            "shr" => of(1) >> of(2),
            "add" => of(1) + of(2),
            "sub" => of(1) - of(2),
            "mul" => of(1) * of(2),
            "div" => of(1) / of(2),
            other => panic!("operator {other}"),
        }
    }

    /// The text; `None` if an operand has no alternative.
    fn print(&self) -> Option<String> {
        let layers = self.layers();
        let text = layers.iter().find_map(|layer| layer["text"].as_str());
        let mut out = String::new();
        let mut rest = text.expect("a text");
        while let Some((literal, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').expect("a closing brace");
            out += literal;
            out += &self.show(name)?;
            rest = behind;
        }
        Some(out + rest)
    }

    fn show(&self, name: &str) -> Option<String> {
        if name == "NAME" {
            return Some(self.item["name"].as_str().expect("a name").to_owned());
        }
        let Some(field) = self.field(name) else {
            let (outer, args) = self.outer.expect("a field of an enclosing row");
            return outer.show(args[name].as_str().unwrap_or(name));
        };
        let value = self.value(name, field);
        let width = field["width"]
            .as_u64()
            .unwrap_or_else(|| match field.get("bits") {
                Some(bits) => u64::from(extract(0, bits).1),
                None => 64,
            });
        let signed = value << (64 - width) >> (64 - width);
        Some(match field["kind"].as_str().expect("a kind") {
            "bool" => match (field.get("text_if_set"), value) {
                (Some(_), 0) => String::new(),
                (Some(text), _) => text.as_str().expect("a text").to_owned(),
                (None, value) => value.to_string(),
            },
            "enum" => {
                let names = &self.schema.enums[field["enum"].as_str().expect("an enum")];
                let mut names = names.as_array().expect("values").iter();
                let name = names.find(|name| name["value"] == value);
                name.map_or(value.to_string(), |name| {
                    name["text"].as_str().expect("a text").to_owned()
                })
            }
            "int" | "branch" => signed.to_string(),
            "uint" => value.to_string(),
            "hex" => format!("{value:x}"),
            "offset" if signed == 0 => String::new(),
            "offset" => format!("{signed:+}"),
            "uoffset" if value == 0 => String::new(),
            "uoffset" => format!("+{value}"),
            "float" => float(value as u32, width),
            "operand" => {
                let name = field["operand"].as_str().expect("an operand");
                let alternatives = self.schema.operands[name]["alternatives"].as_array();
                let mut alternatives = alternatives.expect("alternatives").iter();
                let bits = value as u64;
                let item = alternatives.find(|alternative| {
                    bits & hex(&alternative["mask"]) == hex(&alternative["value"])
                })?;
                let scope = Scope {
                    item,
                    bits,
                    outer: Some((self, &field["args"])),
                    ..*self
                };
                scope.print()?
            }
            other => panic!("kind {other}"),
        })
    }
}

fn float(bits: u32, width: u64) -> String {
    let value = if width == 32 {
        f64::from(f32::from_bits(bits))
    } else {
        half(bits)
    };
    if value.is_nan() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}nan");
    }
    format!("{value:.6}")
}

/// The value of a 16-bit float, by its definition.
fn half(bits: u32) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = (bits >> 10 & 0x1F) as i32;
    let fraction = f64::from(bits & 0x3FF) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// Numbers without a pattern that matters here, the same on each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn random_words_of_every_row_read_as_the_schema_says() {
    let Some(data) = data() else {
        return;
    };
    let operands = data["operands"].as_array().expect("a list").iter();
    let schema = Schema {
        operands: operands
            .map(|operand| {
                (
                    operand["name"].as_str().expect("a name").to_owned(),
                    operand.clone(),
                )
            })
            .collect(),
        enums: data["enums"].clone(),
    };
    let words = if eitri_testdata::long() { 200 } else { 15 };
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let rows = data["instructions"].as_array().expect("a list");
    for (item, op) in rows.iter().zip(Op::ALL) {
        for (generation, number) in [(Gen::A5xx, 500), (Gen::A6xx, 600), (Gen::A7xx, 700)] {
            if item[generation.name()] != true {
                continue;
            }
            for _ in 0..words {
                let word = numbers.next() & !op.row().mask() | op.row().value;
                let scope = Scope {
                    schema: &schema,
                    item,
                    bits: word,
                    generation: number,
                    outer: None,
                };
                let ours = Instr::decode(word, generation).ok();
                if let Some(instr) = ours {
                    assert_eq!(instr.op(), *op, "{word:#018x} on {generation}");
                    reads_back(instr, generation);
                }
                let ours = ours.map(|instr| instr.display(generation).to_string());
                assert_eq!(ours, scope.print(), "{word:#018x} ({op}) on {generation}");
            }
        }
    }
}

/// What the text says, it says both ways; and a word without loss comes back whole.
#[track_caller]
fn reads_back(instr: Instr, generation: Gen) {
    let loss = instr.loss(generation);
    if let Some(Loss::Reserved(_) | Loss::StrayBits(_)) = loss {
        return;
    }
    let text = instr.display(generation).to_string();
    let again = Instr::parse(&text, generation);
    let again =
        again.unwrap_or_else(|error| panic!("{instr:?} `{text}`: {error} at {:?}", error.span));
    match loss {
        None => assert_eq!(again, instr, "`{text}`"),
        Some(Loss::Float) => {}
        Some(loss) => {
            let twice = again.display(generation).to_string();
            assert_eq!(twice, text, "{instr:?} ({loss})");
        }
    }
}
