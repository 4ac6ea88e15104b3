//! What a build script gets: modules that compile and say the truth, and errors at the shader's own line.

use super::*;
use std::process::Command;

const SHADER: &str = "\
struct Settings {
    scale: f32,
    centre: vec3<f32>,
    turn: mat3x3<f32>,
    pairs: array<vec2<u32>, 2>,
    type_of: i32,
}
struct Points { count: u32, points: array<vec4<f32>> }
@group(0) @binding(0) var<storage, read> settings: Settings;
@group(1) @binding(2) var<storage, read_write> points: Points;
@compute @workgroup_size(8, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    points.points[id.x].x = settings.scale + settings.centre.y + f32(settings.pairs[1].x) + f32(settings.type_of)
        + settings.turn[2].z + f32(points.count);
}
";

/// A folder for a test, which goes with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left lies among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

fn folder(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("eitri-build-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    Folder(folder)
}

/// Writes a shader and what a build script makes of it; the folder, and what is wrong.
fn built(name: &str, file: &str, text: &str) -> (Folder, Vec<Problem>) {
    let folder = folder(name);
    let path = folder.join(file);
    std::fs::write(&path, text).expect("a file can be written");
    let problems = Shaders::new().shader(path).write(&folder);
    (folder, problems)
}

/// Compiles and runs a program that has the shaders as a module; what the compiler says if it refuses.
fn run(folder: &Path, main: &str) -> Result<(), String> {
    let text = format!("mod shaders {{ include!(\"shaders.rs\"); }}\nfn main() {{ {main} }}\n");
    let (source, program) = (folder.join("main.rs"), folder.join("main"));
    std::fs::write(&source, text).expect("a file can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition", "2024", "-D", "warnings", "-o"])
        .args([&program, &source])
        .output()
        .expect("rustc runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let status = Command::new(&program).status().expect("the program runs");
    assert!(status.success(), "{main}");
    Ok(())
}

#[test]
fn a_program_fills_structs_as_the_shader_reads_them() {
    let (folder, problems) = built("fill", "blur-all.wgsl", SHADER);
    assert_eq!(problems, []);
    let made = run(
        &folder,
        "use shaders::blur_all as s;
        assert_eq!((s::ENTRY, s::WORKGROUP_SIZE), (\"main\", [8, 2, 1]));
        assert_eq!((s::SETTINGS, s::POINTS), ((0, 0), (1, 2)));
        assert!(!s::PROGRAM.is_empty());
        let settings = s::Settings {
            scale: 1.0,
            padding_0: [0; 12],
            centre: [2.0, 3.0, 4.0],
            padding_1: [0; 4],
            turn: [s::Strided::new([5.0; 3]), s::Strided::new([6.0; 3]), s::Strided::new([7.0; 3])],
            pairs: [[8, 9], [10, 11]],
            type_of: -1,
        };
        let bytes = settings.to_bytes();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 1.0f32.to_bits());
        assert_eq!((word(16), word(24)), (2.0f32.to_bits(), 4.0f32.to_bits()));
        assert_eq!((word(32), word(44), word(72)), (5.0f32.to_bits(), 0, 7.0f32.to_bits()));
        assert_eq!((word(80), word(92), word(96)), (8, 11, u32::MAX));
        assert_eq!(s::Points { count: 3, }.to_bytes(), [3, 0, 0, 0]);
        assert_eq!(s::Points::POINTS_OFFSET, 16);",
    );
    assert_eq!(made, Ok(()));
    // What the shader does not have, or has as something else, is no program.
    let wrong = run(&folder, "let _ = shaders::blur_all::Points { count: 1.5 };");
    assert!(wrong.is_err_and(|error| error.contains("expected `u32`")));
}

#[test]
fn errors_begin_with_the_shaders_file_and_line() {
    let check = |name: &str, file: &str, text: &str, line: &str, what: &str| {
        let (folder, problems) = built(name, file, text);
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}");
        };
        let place = format!("{}:{line}", folder.join(file).display());
        assert!(problem.place.starts_with(&place), "{problem}");
        assert!(problem.message.contains(what), "{problem}");
        assert!(!folder.join("shaders.rs").exists());
    };
    check(
        "syntax",
        "bad.wgsl",
        "@compute @workgroup_size(1)\nfn main() {\n    let x = ;\n}\n",
        "3:13",
        "expected expression",
    );
    check(
        "types",
        "types.wgsl",
        "@compute @workgroup_size(1)\nfn main() {\n    let x: u32 = 1.5;\n}\n",
        "3:",
        "",
    );
    check(
        "glsl",
        "bad.comp",
        "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {\n  uint x = y;\n}\n",
        "4:",
        "y",
    );
    // What only the compiler refuses stands where the source says.
    check(
        "refused",
        "double.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<f64>;\n@compute @workgroup_size(1)\nfn main() {\n    o[0] = o[1];\n}\n",
        "4:",
        "capability Float64 (`f64`, `double`) is not supported",
    );
    let (_, problems) = built("language", "shader.txt", "");
    assert!(
        problems[0].message.contains("can't tell the language"),
        "{problems:?}"
    );
}

#[test]
fn two_shaders_of_one_name_are_refused() {
    let folder = folder("twice");
    for file in ["a.wgsl", "A.wgsl"] {
        std::fs::write(folder.join(file), SHADER).expect("a file can be written");
    }
    let shaders = Shaders::new()
        .shader(folder.join("a.wgsl"))
        .shader(folder.join("A.wgsl"));
    let problems = shaders.write(&folder);
    assert!(
        problems
            .iter()
            .any(|problem| problem.message.contains("a second shader")),
        "{problems:?}"
    );
}

#[test]
fn options_are_those_of_each_shader() {
    let folder = folder("options");
    let text =
        "@compute @workgroup_size(8) fn first() {}\n@compute @workgroup_size(4) fn second() {}\n";
    let paths = ["a.wgsl", "b.wgsl"].map(|file| folder.join(file));
    for path in &paths {
        std::fs::write(path, text).expect("a file can be written");
    }
    let [a, b] = paths;
    let shaders = Shaders::new().shader(a).options(Options {
        entry: Some("second".to_owned()),
        ..Options::default()
    });
    assert_eq!(shaders.shader(b).write(&folder), []);
    let rust = std::fs::read_to_string(folder.join("shaders.rs")).expect("it is written");
    assert_eq!(rust.matches("\"second\"").count(), 2, "{rust}");
    for file in ["a.program", "b.program"] {
        let program = std::fs::read(folder.join(file)).expect("it is written");
        let program = eitri_program::Program::parse(&program).expect("the compiler made it");
        assert_eq!(program.workgroup().invocations(), 4, "{file}");
    }
}

#[test]
fn names_become_rusts() {
    for (name, wanted) in [
        ("blurAll", "blur_all"),
        ("3d-noise", "_3d_noise"),
        ("HTTPServer", "httpserver"),
    ] {
        assert_eq!(bindings::snake(name), wanted);
    }
}

/// The words of each control barrier of a module, behind the opcode, as values of constants.
fn barriers(spirv: &[u8]) -> Vec<[u32; 3]> {
    let module = rspirv::dr::load_bytes(spirv).expect("naga writes modules");
    let value = |id: u32| {
        let constant = module
            .types_global_values
            .iter()
            .find(|it| it.result_id == Some(id));
        let operand = constant.and_then(|it| it.operands.first());
        operand.map_or(0, |it| it.unwrap_literal_bit32())
    };
    module
        .all_inst_iter()
        .filter(|instr| instr.class.opcode == rspirv::spirv::Op::ControlBarrier)
        .map(|instr| [0, 1, 2].map(|number| instr.operands[number].id_ref_any().map_or(0, value)))
        .collect()
}

/// Scopes of SPIR-V, and memories of its semantics beside acquire and release.
const DEVICE: u32 = 1;
const WORKGROUP: u32 = 2;
const SUBGROUP: u32 = 3;
const ORDERS: u32 = 0x8;
const UNIFORM_MEMORY: u32 = 0x40;
const SUBGROUP_MEMORY: u32 = 0x80;
const WORKGROUP_MEMORY: u32 = 0x100;
const IMAGE_MEMORY: u32 = 0x800;

#[test]
fn a_barrier_holds_up_all_that_it_names() {
    use shader_text::{Language, to_spirv};
    // In each place where a statement can stand.
    let glsl = "#version 450
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) buffer Out { uint o[]; };
        void deep() { barrier(); }
        void main() {
            barrier();
            deep();
            if (o[0] == 1u) { barrier(); } else { barrier(); }
            for (uint i = 0u; i < o[1]; i++) { barrier(); { barrier(); } }
            switch (o[2]) { case 0u: barrier(); break; default: barrier(); }
        }";
    let all = barriers(&to_spirv(Language::Glsl, "x.comp", glsl).unwrap());
    let memories = ORDERS | UNIFORM_MEMORY | WORKGROUP_MEMORY | IMAGE_MEMORY;
    assert_eq!(all, vec![[WORKGROUP, DEVICE, memories]; 8]);

    for (name, expected) in [
        (
            "workgroup",
            [WORKGROUP, WORKGROUP, ORDERS | WORKGROUP_MEMORY],
        ),
        ("storage", [WORKGROUP, DEVICE, ORDERS | UNIFORM_MEMORY]),
        ("texture", [WORKGROUP, WORKGROUP, ORDERS | IMAGE_MEMORY]),
        ("subgroup", [SUBGROUP, SUBGROUP, ORDERS | SUBGROUP_MEMORY]),
    ] {
        let wgsl = format!("@compute @workgroup_size(64) fn main() {{ {name}Barrier(); }}");
        let spirv = to_spirv(Language::Wgsl, "x.wgsl", &wgsl).unwrap();
        assert_eq!(barriers(&spirv), [expected], "{name}Barrier");
    }
}

#[test]
fn glsl_that_naga_misreads_is_refused_at_its_line() {
    use shader_text::{Language, to_spirv};
    let shader = |declarations: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer Out {{ uint o[]; }};\n\
             {declarations}\nvoid main() {{ o[0] = 1u; }}\n"
        )
    };
    for (declarations, what) in [
        ("shared uint t[2][3];", "dimensions"),
        (
            "layout(push_constant) uniform P { float w[5]; };",
            "push constants",
        ),
        (
            "struct S { float x; };\nlayout(push_constant) uniform P { uint n; S s; };",
            "push constants",
        ),
    ] {
        let text = shader(declarations);
        let error = to_spirv(Language::Glsl, "x.comp", &text).unwrap_err();
        let report = error.report("x.comp", &text);
        assert!(report.contains(what), "{declarations}: {report}");
        assert!(report.starts_with("x.comp:"), "{declarations}: {report}");
    }
    for declarations in [
        "shared uint t[3][3];",
        "layout(push_constant) uniform P { vec3 a; float b; uint n; };",
        "layout(push_constant, std430) uniform P { float w[5]; };",
    ] {
        let text = shader(declarations);
        if let Err(error) = to_spirv(Language::Glsl, "x.comp", &text) {
            panic!("{declarations}: {}", error.report("x.comp", &text));
        }
    }
}
