//! Litmus tests on the model: small programs of few threads, each with all results that Vulkan's memory model allows.
//!
//! Messages come late and turns are drawn from seeds (`Config::reorder`), so a wait that the compiler lacks where a release, an acquire
//! or a barrier needs one leaves a result that is not allowed. Facts: hardware/memory-model.md 4 and 5.

use crate::on_model::{self, Bound};
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_job::Content;
use eitri_model::{Config, Product};
use eitri_runtime::ImageInfo;
use eitri_shaderc::interp::Dispatch;
use eitri_shaderc::{Options, Target, compile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The value of a result that no thread has written.
const UNWRITTEN: u32 = u32::MAX;

/// Words of the buffer of results.
const RESULTS: usize = 16;

/// Results and last values of variables by name.
type State = BTreeMap<String, u32>;

/// A program and what may come out.
struct Row {
    name: String,
    module: Vec<u8>,
    workgroups: u32,
    /// The program has a data race, so the memory model promises nothing.
    race: bool,
    /// The word of each result.
    results: Vec<(String, usize)>,
    /// The binding of each variable in a buffer or an image.
    bindings: Vec<(String, u32, Content)>,
    /// Variables whose last value counts.
    last: Vec<String>,
    allowed: Vec<State>,
}

fn state(value: &Value) -> State {
    let words = value.as_object().expect("a state").iter();
    words
        .map(|(name, word)| (name.clone(), word.as_u64().expect("a word") as u32))
        .collect()
}

impl Row {
    fn of(value: &Value) -> Row {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let list = |key: &str| value[key].as_array().expect(key).iter();
        let words = VkFormat::of_name(Arch::V10, "R32_UINT").expect("a format");
        let mut results: Vec<(String, usize)> = state(&value["results"])
            .into_iter()
            .map(|(name, word)| (name, word as usize))
            .collect();
        let mut bindings = Vec::new();
        for (name, place) in value["memory"].as_object().expect("memory") {
            match (place["at"].as_u64(), place["at"].as_str()) {
                (Some(binding), _) => {
                    let content = match place["storage"].as_str() {
                        Some("image") => Content::Image(ImageInfo::two_d(words, 1, 1)),
                        _ => Content::Buffer,
                    };
                    bindings.push((name.clone(), binding as u32, content));
                }
                // Shared memory, which a thread has copied to a word of the results.
                (None, Some(word)) => {
                    let word = word.trim_start_matches("result[").trim_end_matches(']');
                    results.push((name.clone(), word.parse().expect("a word")));
                }
                (None, None) => panic!("{name} is nowhere"),
            }
        }
        let file = format!("litmus/{}", text(&value["module"]));
        Row {
            name: text(&value["name"]),
            module: std::fs::read(eitri_testdata::kept(&file)).expect(&file),
            workgroups: value["workgroups"].as_u64().expect("a count") as u32,
            race: value["race"].as_bool().expect("true or false"),
            results,
            bindings,
            last: list("final").map(text).collect(),
            allowed: list("allowed").map(state).collect(),
        }
    }

    /// The results on a GPU, with the order of accesses and turns that the seed gives.
    fn run(&self, program: &[u8], product: Product, seed: u64) -> Result<State, String> {
        let dispatch = Dispatch {
            groups: [self.workgroups, 1, 1],
            push_constants: vec![],
            step_limit: 1 << 20,
        };
        let buffer = |binding, content, bytes| Bound {
            place: (0, binding, 0),
            content,
            bytes,
        };
        let results = UNWRITTEN.to_le_bytes().repeat(RESULTS);
        let mut bound = vec![buffer(0, Content::Buffer, results)];
        for (_, binding, content) in &self.bindings {
            // References to one place share a binding.
            if !bound.iter().any(|one| one.place.1 == *binding) {
                bound.push(buffer(*binding, *content, vec![0; 4]));
            }
        }
        let config = Config {
            product,
            reorder: Some(seed),
            ..Config::default()
        };
        on_model::run_bound(config, program, &dispatch, &mut bound)?;
        let word = |binding: u32, index: usize| {
            let one = bound.iter().find(|one| one.place.1 == binding);
            let bytes = &one.expect("it was bound").bytes[4 * index..][..4];
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        let results = self.results.iter();
        let results = results.map(|(name, index)| (name.clone(), word(0, *index)));
        let last = self.bindings.iter();
        let last = last.filter(|(name, ..)| self.last.contains(name));
        let last = last.map(|(name, binding, _)| (name.clone(), word(*binding, 0)));
        Ok(results
            .chain(last)
            .filter(|(_, word)| *word != UNWRITTEN)
            .collect())
    }

    /// Whether some allowed state agrees with every result that was written.
    fn allows(&self, state: &State) -> bool {
        let is = |allowed: &State| {
            state
                .iter()
                .all(|(name, word)| allowed.get(name) == Some(word))
        };
        self.allowed.iter().any(is)
    }
}

fn rows() -> Vec<Row> {
    let path = eitri_testdata::kept("litmus/rows.json");
    let text = std::fs::read_to_string(path).expect("the rows are kept");
    let rows: Value = serde_json::from_str(&text).expect("JSON");
    rows.as_array()
        .expect("a list")
        .iter()
        .map(Row::of)
        .collect()
}

/// All states of a row on a GPU that were seen with so many seeds.
#[track_caller]
fn seen(row: &Row, gpu: &str, seeds: u64) -> BTreeSet<State> {
    let product = Product::find(gpu).expect(gpu);
    let options = Options {
        target: Target::valhall(product.arch()),
        ..Options::default()
    };
    let compiled = compile(&row.module, &options);
    let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", row.name));
    let states = (0..seeds).map(|seed| {
        let state = row.run(&compiled.program, product, seed);
        state.unwrap_or_else(|error| panic!("{} on {gpu}, seed {seed}: {error}", row.name))
    });
    states.collect()
}

#[test]
fn what_comes_out_in_any_order_is_allowed() {
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| !row.race) {
        for (gpu, seeds) in [("G610", 24), ("G720", 8)] {
            let seeds = if eitri_testdata::long() {
                20 * seeds
            } else {
                seeds
            };
            let states = seen(row, gpu, seeds);
            let states: Vec<&State> = states.iter().filter(|it| !row.allows(it)).collect();
            if !states.is_empty() {
                wrong.push(format!("{} on {gpu}: {states:?}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed:\n{}", wrong.join("\n"));
}
