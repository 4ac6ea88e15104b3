//! `eitri waitcheck`: what it prints, and that it finds every missing wait that the model meets.

use crate::eitri::eitri;
use crate::kernels_on_model::bound;
use crate::{kernel_case, on_model, wgsl};
use eitri_compute_cases::{Case, Module};
use eitri_isa::{Arch, Flow, Instr};
use eitri_program::Program;
use eitri_program_file::seal;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::{Options, compile};
use eitri_waits::{Code, Report, Stage, check};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

const BROKEN: &str = "
# two instructions
LOAD.i32.unsigned.slot1 @r2, r0, offset:0
FADD.f32.end r3, r2, r2
";

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
var<workgroup> s: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum = 0u;
    for (var k = 0u; k < o[i]; k++) { sum += o[(i + k) & 63u]; }
    s[i] = sum;
    workgroupBarrier();
    o[i] = s[63u - i] + o[(i * 7u) & 63u];
}";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn text_names_register_slot_message_and_path() {
    let output = eitri(&["waitcheck", "-"], BROKEN.as_bytes());
    let expected = "\
-: compute program
0x8: read-before-wait: r2 is read before the wait for slot 1
  0x8: FADD.f32.end r3, r2, r2
  not waited for: 0x0: LOAD.i32.unsigned.slot1 @r2, r0, offset:0
  path: from there, without a branch
1 program, 2 instructions, 1 finding
";
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    let good = BROKEN.replace("slot1", "slot1.wait1");
    let output = eitri(&["waitcheck", "-"], good.as_bytes());
    assert_eq!(
        text(&output.stdout),
        "1 program, 2 instructions, 0 findings\n"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn json_and_sarif_hold_what_the_text_holds() {
    let folder = tempfile::tempdir().unwrap();
    let sarif = folder.path().join("waits.sarif");
    let arguments = [
        "waitcheck",
        "-",
        "--json",
        "--sarif",
        sarif.to_str().unwrap(),
    ];
    let output = eitri(&arguments, BROKEN.as_bytes());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = &json["programs"][0]["findings"][0];
    assert_eq!(finding["rule"], "read-before-wait");
    assert_eq!(
        (&finding["register"], &finding["slot"]),
        (&2.into(), &1.into())
    );
    assert_eq!(finding["awaited_address"], 0);
    let sarif: Value = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(result["ruleId"], "read-before-wait");
    assert_eq!(place["region"]["startLine"], 4, "{result}");
    assert_eq!(place["address"]["absoluteAddress"], 8);
}

#[test]
fn program_binaries_and_raw_words_are_read() {
    let module = wgsl::compile(SHADER);
    let program = compile(&module, &Options::default()).unwrap().program;
    let output = eitri(&["waitcheck", "-"], &program);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let code = Program::parse(&program).unwrap().code_bytes().to_vec();
    let output = eitri(&["waitcheck", "-", "--raw"], &code);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let output = eitri(&["waitcheck", "-", "--arch", "v12"], &program);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("--arch is for words and text"), "{stderr}");
    let output = eitri(&["waitcheck", "-"], b"NO_SUCH r0\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_programs_of_a_dump_are_checked() {
    let output = eitri(&["waitcheck", "-"], &crate::dump::MISSED);
    let stdout = text(&output.stdout);
    assert!(
        stdout.starts_with("1 program, "),
        "{stdout}{}",
        text(&output.stderr)
    );
    assert!(stdout.ends_with("0 findings\n"), "{stdout}");
}

/// A program of ours with its dispatch.
struct Subject {
    name: String,
    program: Vec<u8>,
    run: Run,
}

enum Run {
    Kernel(Box<Case>),
    Words,
}

impl Subject {
    /// The program with other flow on an instruction.
    fn with_flow(&self, index: usize, flow: Flow) -> (Vec<u8>, Vec<u64>) {
        let program = Program::parse(&self.program).unwrap();
        let mut words: Vec<u64> = program.code().collect();
        let mut instr = Instr::decode(words[index], Arch::V10).unwrap();
        instr.flow = flow;
        words[index] = instr.encode(Arch::V10).unwrap();
        let code = program.code_bytes();
        let start = code.as_ptr().addr() - program.bytes().as_ptr().addr();
        let mut bytes = self.program.clone();
        bytes[start + 8 * index..][..8].copy_from_slice(&words[index].to_le_bytes());
        seal(&mut bytes);
        (bytes, words)
    }

    /// What the model has to say against a program.
    fn on_model(&self, program: &[u8]) -> Result<(), String> {
        match &self.run {
            Run::Kernel(case) => on_model::run_bound(
                eitri_model::Config::default(),
                program,
                &kernel_case::dispatch(case),
                &mut bound(case),
            ),
            Run::Words => {
                let bytes = (0..64u32).flat_map(u32::to_le_bytes).collect();
                let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
                let dispatch = Dispatch {
                    groups: [1; 3],
                    push_constants: vec![],
                    step_limit: 0,
                };
                on_model::run(program, &dispatch, &mut buffers)
            }
        }
    }

    /// Instructions that carry a wait.
    fn waits(&self) -> Vec<(usize, Flow)> {
        let program = Program::parse(&self.program).unwrap();
        let flows = program
            .code()
            .map(|word| Instr::decode(word, Arch::V10).unwrap().flow);
        let flows = flows.enumerate();
        flows.filter(|(_, flow)| flow.waits_for() != 0).collect()
    }
}

fn report(words: &[u64]) -> Report {
    check(&Code {
        arch: Arch::V10,
        stage: Stage::Compute,
        base: 0,
        words,
    })
}

/// A shader of this file, and kernels that do not run long.
static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let own = compile(&wgsl::compile(SHADER), &Options::default()).unwrap();
    let mut subjects = vec![Subject {
        name: "own".to_owned(),
        program: own.program,
        run: Run::Words,
    }];
    const SHORT: [&str; 8] = [
        "aes128_ctr",
        "base64_encode",
        "chacha20",
        "cholesky4x4",
        "reduce_tree",
        "rle_encode",
        "spmv_csr",
        "stream_compact",
    ];
    for case in kernel_case::kernels() {
        if SHORT.contains(&case.name.as_str()) {
            let module = case.module(Module::Optimised).unwrap();
            let options = Options {
                spec_constants: case.spec_constants.clone(),
                ..Options::default()
            };
            subjects.push(Subject {
                name: case.name.clone(),
                program: compile(&module, &options).unwrap().program,
                run: Run::Kernel(Box::new(case)),
            });
        }
    }
    subjects
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 0, ..ProptestConfig::default() })]

    /// One wait is taken away from a program of ours: what the model then meets, the check has found without running it.
    #[test]
    fn the_model_meets_no_missing_wait_that_was_not_found(which: proptest::sample::Index, wait: proptest::sample::Index) {
        let subject = &SUBJECTS[which.index(SUBJECTS.len())];
        let waits = subject.waits();
        let (index, flow) = waits[wait.index(waits.len())];
        let (program, words) = subject.with_flow(index, Flow::None);
        let report = report(&words);
        let met = subject.on_model(&program);
        if let Err(met) = &met && (met.contains("waited for") || met.contains("BARRIER")) {
            prop_assert!(!report.findings.is_empty(), "{}, {index}: {met}", subject.name);
            let named = report.findings.iter().any(|finding| {
                let register = finding.kind.register();
                register.is_none_or(|register| met.contains(&format!("r{register} is")))
            });
            prop_assert!(named, "{}, {index}, {flow:?}: {met}: {report:x?}", subject.name);
        }
    }
}

#[test]
fn most_waits_of_ours_are_needed_and_the_model_meets_one_that_is_missing() {
    let own = &SUBJECTS[0];
    let program = Program::parse(&own.program).unwrap();
    assert_eq!(report(&program.code().collect::<Vec<_>>()).findings, []);
    let (mut found, mut met) = (0, 0);
    for (index, _) in own.waits() {
        let (program, words) = own.with_flow(index, Flow::None);
        found += usize::from(!report(&words).findings.is_empty());
        met += usize::from(own.on_model(&program).is_err());
    }
    assert!(met > 0, "no missing wait is met");
    assert!(found >= met, "{found} found, {met} met");
}
