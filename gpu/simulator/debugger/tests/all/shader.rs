//! Shaders under the debugger.

use eitri_debugger::session::Session;
use eitri_debugger::source::SourceLevel;
use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
use eitri_shaderc::interp::{Buffer, Dispatch, Resources};
use eitri_shaderc::ir::Function;
use eitri_shaderc::{Options, spirv};

/// Calls, divergence, a loop, a barrier, two warps and two workgroups.
pub const SUM: &str = "var<workgroup> s: array<u32, 32>;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn square(x: u32) -> u32 {
    let y = x * x;
    return y;
}
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
    s[i] = square(i);
    workgroupBarrier();
    var sum = 0u;
    for (var k = 0u; k < 4u; k++) {
        sum += s[(i + k) % 32u];
    }
    if (i % 2u == 0u) {
        sum += 1000u;
    } else {
        sum += square(sum);
    }
    let v = vec3<f32>(f32(sum), 0.1, f32(i));
    o[g.x * 32u + i] = sum + u32(v.y);
}
";

/// What a session borrows.
pub struct Shader {
    pub function: Function,
    pub dispatch: Dispatch,
    pub bytes: usize,
}

impl Shader {
    pub fn new(text: &str, groups: u32, bytes: usize) -> Shader {
        let spirv = to_spirv_with(Language::Wgsl, "shader.wgsl", text, Names::All).unwrap();
        let options = Options {
            notes: true,
            robust: eitri_shaderc::Robust::Off,
            ..Options::default()
        };
        Shader {
            function: spirv::translate(&spirv, &options).unwrap().function,
            dispatch: Dispatch {
                groups: [groups, 1, 1],
                push_constants: vec![],
                step_limit: u64::MAX,
            },
            bytes,
        }
    }

    pub fn resources(&self) -> Resources {
        let mut resources = Resources::default();
        let bytes = vec![0; self.bytes];
        resources.buffers.insert((0, 0, 0), Buffer { bytes });
        resources
    }

    pub fn session(&self) -> Session<SourceLevel<'_>> {
        let mut resources = self.resources();
        let (level, program) =
            SourceLevel::new(&self.function, &self.dispatch, &mut resources).unwrap();
        Session::new(level, program)
    }
}
