//! A capture: jobs with their registers and the memory that they reach.

use serde_json::Value;

/// A structure in memory at the time of a job.
pub struct Object {
    pub address: u64,
    pub structure: String,
    pub words: Vec<u32>,
}

/// A job.
pub struct Job {
    /// The instruction.
    pub word: u64,
    pub text: String,
    pub registers: Vec<u32>,
    pub objects: Vec<Object>,
}

/// A heap of the tiler.
pub struct Heap {
    pub context: u64,
    pub first_chunk: u64,
    pub chunk_bytes: u64,
    pub chunks: u64,
}

/// A capture.
pub struct Capture {
    pub gpu: String,
    pub jobs: Vec<Job>,
    pub heap: Option<Heap>,
    /// Texels of a row of the image that the first compute or fullscreen job uploads.
    pub upload: Option<u64>,
}

fn number(value: &Value) -> u64 {
    let text = value.as_str().expect("a number as text");
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).expect("hexadecimal digits")
}

fn words(value: &Value) -> Vec<u32> {
    let words = value.as_array().expect("words");
    words.iter().map(|word| number(word) as u32).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Capture {
    /// The capture `name`; `None`, with a report, where the facts are missing.
    pub fn read(name: &str) -> Option<Capture> {
        let path = format!("hardware/worked/{name}.json");
        let json: Value =
            serde_json::from_str(&eitri_testdata::read_shared(&path)?).expect("a capture");
        let heap = items(&json["heap"]).first().map(|heap| Heap {
            context: number(&heap["ctx_va"]),
            first_chunk: number(&heap["first_chunk_va"]),
            chunk_bytes: heap["chunk_size"].as_u64().expect("bytes"),
            chunks: heap["chunks"].as_u64().expect("chunks"),
        });
        Some(Capture {
            gpu: text(&json["gpu"]).replace("Mali-", ""),
            jobs: items(&json["jobs"]).iter().map(Job::read).collect(),
            heap,
            upload: upload(name),
        })
    }
}

/// Texels of a row of what a case uploads, by the case's name (`source/vkgfx.c`).
fn upload(case: &str) -> Option<u64> {
    let is = |name: &str| case.starts_with(name);
    if is("texdepth") || is("indirect") {
        Some(16)
    } else if is("blit") || is("copyimage") || is("clearimage") {
        Some(32)
    } else {
        None
    }
}

impl Job {
    fn read(json: &Value) -> Job {
        let objects = items(&json["objects"]).iter().map(|object| Object {
            address: number(&object["address"]),
            structure: text(&object["structure"]),
            words: words(&object["words"]),
        });
        Job {
            word: number(&json["word"]),
            text: text(&json["text"]),
            registers: words(&json["all_registers"]),
            objects: objects.collect(),
        }
    }

    /// A pair of registers.
    pub fn pair(&self, register: usize) -> u64 {
        u64::from(self.registers[register + 1]) << 32 | u64::from(self.registers[register])
    }
}
