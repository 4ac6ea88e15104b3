//! The kernels of `shared/kernels`: cases, inputs, and the rules by which outputs are compared (its README.md).
use std::collections::BTreeMap;
use std::path::PathBuf;

use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use serde_json::Value;

/// One kernel with its case.
pub struct Kernel {
    pub name: String,
    pub spec_constants: BTreeMap<u32, u32>,
    folder: PathBuf,
    case: Value,
}

/// All kernels, by name; none if the folder isn't there.
pub fn kernels() -> Vec<Kernel> {
    let Some(folder) = eitri_testdata::shared("kernels") else {
        return vec![];
    };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let folder = folder.join(&name);
            let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
            let case: Value = serde_json::from_str(&text).unwrap();
            let spec_constants = case["spec_constants"]
                .as_array()
                .unwrap()
                .iter()
                .map(|constant| (word(&constant["id"]), word(&constant["value"])))
                .collect();
            Kernel {
                name,
                spec_constants,
                folder,
                case,
            }
        })
        .collect()
}

fn word(value: &Value) -> u32 {
    value.as_u64().unwrap() as u32
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

impl Kernel {
    /// The module under that key of the case.
    pub fn module(&self, key: &str) -> Vec<u8> {
        let name = self.case["shader"][key].as_str().unwrap();
        std::fs::read(self.folder.join(name)).unwrap()
    }

    pub fn dispatch(&self) -> Dispatch {
        let groups = self.case["groups"].as_array().unwrap();
        Dispatch {
            groups: [0, 1, 2].map(|axis| word(&groups[axis])),
            push_constants: hex(self.case["push_constants"].as_str().unwrap()),
            step_limit: 1 << 32,
        }
    }

    fn bindings(&self) -> &Vec<Value> {
        self.case["bindings"].as_array().unwrap()
    }

    /// Contents before the dispatch.
    pub fn buffers(&self) -> Buffers {
        self.bindings()
            .iter()
            .map(|binding| {
                (
                    key(binding),
                    Buffer {
                        bytes: self.initial(binding),
                    },
                )
            })
            .collect()
    }

    fn initial(&self, binding: &Value) -> Vec<u8> {
        let size = word(&binding["bytes"]) as usize;
        let init = &binding["init"];
        let words = |next: &mut dyn FnMut() -> u32| -> Vec<u8> {
            let words = (0..size.div_ceil(4)).flat_map(|_| next().to_le_bytes());
            words.take(size).collect()
        };
        if init == "zero" {
            return vec![0; size];
        }
        if let Some(iota) = init.get("iota") {
            let (mut at, step) = (word(&iota["start"]), word(&iota["step"]));
            return words(&mut || {
                let value = at;
                at = at.wrapping_add(step);
                value
            });
        }
        if let Some(fill) = init.get("fill") {
            return words(&mut || word(fill));
        }
        if let Some(text) = init.get("hex") {
            return hex(text.as_str().unwrap());
        }
        if let Some(file) = init.get("file") {
            return std::fs::read(self.folder.join(file.as_str().unwrap())).unwrap();
        }
        generate(&init["pcg32"], size)
    }

    /// Compares all bindings; the first difference is the error.
    pub fn compare(&self, buffers: &Buffers) -> Result<(), String> {
        let before = self.buffers();
        for binding in self.bindings() {
            let key = key(binding);
            let got = &buffers[&key].bytes;
            let result = if binding["output"] == true {
                let file = binding["expected"].as_str().unwrap();
                let expected = std::fs::read(self.folder.join(file)).unwrap();
                compare(&binding["compare"], got, &expected)
            } else if *got == before[&key].bytes {
                Ok(())
            } else {
                Err("an input has changed".into())
            };
            result.map_err(|message| format!("{}: {message}", binding["name"]))?;
        }
        Ok(())
    }
}

fn key(binding: &Value) -> (u32, u32, u32) {
    let element = binding.get("element").map_or(0, word);
    (word(&binding["set"]), word(&binding["binding"]), element)
}

/// PCG XSH-RR, seeded.
struct Pcg(u64);

const INCREMENT: u64 = 109;

impl Pcg {
    fn new(seed: u64) -> Pcg {
        let mut pcg = Pcg(0);
        pcg.next();
        pcg.0 = pcg.0.wrapping_add(seed);
        pcg.next();
        pcg
    }

    fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(INCREMENT);
        let x = (((old >> 18) ^ old) >> 27) as u32;
        x.rotate_right((old >> 59) as u32)
    }
}

fn generate(rule: &Value, size: usize) -> Vec<u8> {
    let mut pcg = Pcg::new(rule["seed"].as_u64().unwrap());
    let number = |key: &str, default: f64| rule.get(key).map_or(default, |v| v.as_f64().unwrap());
    let ty = rule["as"].as_str().unwrap();
    let mut bytes = vec![];
    while bytes.len() < size {
        let u = pcg.next();
        if let Some(width) = ty.strip_prefix('u') {
            let reduced = rule
                .get("mod")
                .map_or(u64::from(u), |m| u64::from(u) % m.as_u64().unwrap());
            let value = reduced.wrapping_add(
                rule.get("add")
                    .map_or(0, |add| add.as_i64().unwrap() as u64),
            );
            let width: usize = width.parse().unwrap();
            bytes.extend_from_slice(&value.to_le_bytes()[..width / 8]);
            continue;
        }
        let value = if rule.get("min").is_some() {
            let (min, max) = (number("min", 0.0), number("max", 0.0));
            min + (max - min) * (f64::from(u / 256) / 16_777_216.0)
        } else {
            let reduced = u64::from(u) % rule["mod"].as_u64().unwrap();
            (reduced as f64 + number("add", 0.0)) * number("scale", 1.0)
        };
        match ty {
            "f32" => bytes.extend((value as f32).to_le_bytes()),
            // Only kernels that are refused have such inputs.
            _ => bytes.extend([0, 0]),
        }
    }
    bytes.truncate(size);
    bytes
}

fn compare(rule: &Value, got: &[u8], expected: &[u8]) -> Result<(), String> {
    if got.len() != expected.len() {
        return Err(format!("{} bytes, expected {}", got.len(), expected.len()));
    }
    let allowed = rule
        .get("allow_mismatch")
        .map_or(0, |n| n.as_u64().unwrap());
    let ty = rule.get("type").map_or("u8", |ty| ty.as_str().unwrap());
    let width = match ty {
        "u8" | "i8" => 1,
        "u16" | "i16" | "f16" => 2,
        _ => 4,
    };
    let mut wrong = 0;
    let mut first = None;
    for (index, (got, expected)) in got.chunks(width).zip(expected.chunks(width)).enumerate() {
        if !close(rule, ty, got, expected) {
            wrong += 1;
            first.get_or_insert_with(|| {
                format!(
                    "element {index}: got {}, expected {}",
                    show(ty, got),
                    show(ty, expected)
                )
            });
        }
    }
    match first {
        Some(first) if wrong > allowed => Err(format!("{wrong} elements differ; {first}")),
        _ => Ok(()),
    }
}

fn bits(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

fn show(ty: &str, bytes: &[u8]) -> String {
    match ty {
        "f32" => format!("{:?}", f32::from_bits(bits(bytes))),
        _ => format!("{:#x}", bits(bytes)),
    }
}

fn close(rule: &Value, ty: &str, got: &[u8], expected: &[u8]) -> bool {
    let (a, b) = (bits(got), bits(expected));
    let (fa, fb) = (f32::from_bits(a), f32::from_bits(b));
    match rule["rule"].as_str().unwrap() {
        "exact" => a == b,
        "float" => {
            let (abs, rel) = (rule["abs"].as_f64().unwrap(), rule["rel"].as_f64().unwrap());
            let (x, y) = (f64::from(fa), f64::from(fb));
            fa == fb || (fa.is_nan() && fb.is_nan()) || (x - y).abs() <= abs + rel * y.abs()
        }
        "ulp" => {
            let ordered = |bits: u32| {
                let magnitude = i64::from(bits & 0x7fff_ffff);
                if bits >> 31 == 1 {
                    -magnitude
                } else {
                    magnitude
                }
            };
            (ordered(a) - ordered(b)).abs() <= rule["ulp"].as_i64().unwrap()
        }
        "integer" => {
            let signed = |bits: u32| match ty {
                "i8" => i64::from(bits as i8),
                "i16" => i64::from(bits as i16),
                "i32" => i64::from(bits as i32),
                _ => i64::from(bits),
            };
            (signed(a) - signed(b)).abs() <= rule["max_diff"].as_i64().unwrap()
        }
        other => panic!("unknown rule {other}"),
    }
}
