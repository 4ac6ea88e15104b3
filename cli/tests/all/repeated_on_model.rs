//! A dispatch that is repeated on one device, as `eitri bench model` measures it.

use crate::on_model::Collected;
use crate::wgsl;
use eitri_job::result::JobResult;
use eitri_job::{Bundle, Content, Job, Part, Resource, Wants};
use eitri_model::Config;
use eitri_on_model::Machine;
use eitri_shaderc::{Options, compile};

/// Counts the dispatches that have found what others left; a second one never ends.
const COUNT: &str = "@group(0) @binding(0) var<storage, read_write> counts: array<atomic<u32>>;
@compute @workgroup_size(1)
fn main() {
  loop { if atomicLoad(&counts[1]) == 0u { break; } }
  atomicAdd(&counts[0], 1u);
  atomicAdd(&counts[1], 1u);
}
";

#[test]
fn a_repeated_dispatch_finds_its_inputs_as_they_were() {
    let compiled = compile(&wgsl::compile(COUNT), &Options::default()).expect("it compiles");
    let firmware = eitri_model::stub_firmware();
    // The second word, and what is behind it, are not given: they are zero.
    let counts = Resource {
        set: 0,
        binding: 0,
        element: 0,
        content: Content::Buffer,
        data: &[7, 0, 0, 0],
        bytes: 0x2008,
        save: true,
        part: Part::Whole,
    };
    let bundle = Job {
        program: &compiled.program,
        firmware: &firmware,
        push_constants: &[],
        groups: [1; 3],
        limit_ms: 20,
        wants: Wants::default(),
        resources: &[counts],
    }
    .encode();
    let bundle = Bundle::parse(&bundle).expect("it can be read back");
    let machine = Machine::new(Config::default());
    let (mut stream, mut asked) = (Collected::default(), 0);
    let mut again = || {
        asked += 1;
        asked < 4
    };
    let Ok(_) = eitri_job::run_again_while(machine, &bundle, &mut again, &mut (), &mut stream);
    let result = JobResult::parse(&stream.0).expect("it can be read back");
    let failure = result.failure.map(|failure| failure.text);
    assert_eq!((failure, asked), (None, 4), "it ran three times more");
    let words = result
        .buffers
        .first()
        .map(|saved| saved.bytes.as_chunks().0[..2].to_vec());
    let words = words
        .unwrap_or_default()
        .into_iter()
        .map(u32::from_le_bytes);
    assert!(words.eq([8, 1]), "the first one's results are kept");
}
