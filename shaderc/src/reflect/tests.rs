//! Reflection of shaders from naga.

use super::*;
use naga::back::spv;

fn spirv(wgsl: &str) -> Vec<u8> {
    let module = naga::front::wgsl::parse_str(wgsl).unwrap();
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::all(),
    );
    let info = validator.validate(&module).unwrap();
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::DEBUG,
        ..Default::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).unwrap();
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

const SHADER: &str = "
    struct Particle { position: vec3<f32>, mass: f32, turn: mat3x3<f32> }
    struct Settings { count: u32, scale: vec2<f32> }
    @group(0) @binding(1) var<storage, read> particles: array<Particle>;
    @group(1) @binding(0) var<uniform> settings: Settings;
    @group(0) @binding(2) var picture: texture_storage_2d<rgba8unorm, write>;
    @group(0) @binding(0) var<storage, read_write> sums: array<u32, 4>;
    @id(7) override rounds: i32 = -3;
    @compute @workgroup_size(8, 4) fn first() {
        sums[0] = settings.count + u32(rounds) + u32(particles[1].mass);
        textureStore(picture, vec2<i32>(0), vec4<f32>(1.0));
    }
    @compute @workgroup_size(1) fn second() {}";

#[test]
fn a_shader_tells_what_it_wants() {
    // Overrides have values by the time naga writes SPIR-V; specialisation constants are tested below.
    let source = SHADER.replace(
        "@id(7) override rounds: i32 = -3;",
        "const rounds: i32 = 3;",
    );
    let spirv = spirv(&source);
    let found = reflect(&spirv, Some("first"), &BTreeMap::new()).unwrap();
    assert_eq!(found.entry, "first");
    assert_eq!(found.workgroup_size, [8, 4, 1]);
    let lines: Vec<String> = found
        .resources
        .iter()
        .map(|it| {
            let access = match (it.read_only, it.write_only) {
                (true, _) => "reads",
                (_, true) => "writes",
                _ => "both",
            };
            let Type::Struct { members, .. } = &it.ty else {
                return format!(
                    "{}:{} {} {:?} {access} {}",
                    it.set, it.binding, it.name, it.kind, it.ty
                );
            };
            let members: Vec<String> = members
                .iter()
                .map(|member| format!("{}@{}: {}", member.name, member.offset.unwrap(), member.ty))
                .collect();
            format!(
                "{}:{} {} {:?} {access} {} bytes {members:?}",
                it.set,
                it.binding,
                it.name,
                it.kind,
                it.ty.bytes()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            r#"0:0 sums StorageBuffer both 16 bytes ["@0: array<u32, 4>"]"#,
            r#"0:1 particles StorageBuffer reads 0 bytes ["@0: array<struct Particle>"]"#,
            "0:2 picture StorageImage writes image2D of f32 rgba8",
            r#"1:0 settings UniformBuffer reads 16 bytes ["@0: struct Settings"]"#,
        ]
    );
    assert!(found.capabilities.contains(&"Shader".to_owned()));
    let Err(error) = reflect(&spirv, None, &BTreeMap::new()) else {
        panic!("two entry points and none named");
    };
    assert!(error.to_string().contains("second"), "{error}");
}

/// A module by hand: an array whose length and a workgroup size that specialisation sets.
fn specialised() -> Vec<u8> {
    let mut words: Vec<u32> = vec![0x0723_0203, 0x0001_0300, 0, 20, 0];
    let mut instr = |op: Op, operands: &[u32]| {
        words.push((operands.len() as u32 + 1) << 16 | op as u32);
        words.extend(operands);
    };
    let main = u32::from_le_bytes(*b"main");
    instr(Op::Capability, &[Capability::Shader as u32]);
    instr(Op::MemoryModel, &[0, 1]);
    instr(
        Op::EntryPoint,
        &[ExecutionModel::GLCompute as u32, 1, main, 0],
    );
    instr(
        Op::ExecutionMode,
        &[1, ExecutionMode::LocalSize as u32, 1, 1, 1],
    );
    instr(Op::Decorate, &[4, Decoration::SpecId as u32, 7]);
    instr(
        Op::Decorate,
        &[6, Decoration::BuiltIn as u32, BuiltIn::WorkgroupSize as u32],
    );
    instr(Op::Decorate, &[9, Decoration::ArrayStride as u32, 4]);
    instr(Op::MemberDecorate, &[10, 0, Decoration::Offset as u32, 16]);
    instr(Op::TypeInt, &[2, 32, 0]);
    instr(Op::Constant, &[2, 3, 2]);
    instr(Op::SpecConstant, &[2, 4, 5]);
    instr(Op::TypeVector, &[5, 2, 3]);
    instr(Op::SpecConstantComposite, &[5, 6, 4, 3, 3]);
    instr(Op::SpecConstantOp, &[2, 8, Op::IMul as u32, 4, 3]);
    instr(Op::TypeArray, &[9, 2, 8]);
    instr(Op::TypeStruct, &[10, 9]);
    instr(
        Op::TypePointer,
        &[11, StorageClass::PushConstant as u32, 10],
    );
    instr(Op::Variable, &[11, 12, StorageClass::PushConstant as u32]);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn specialisation_sets_sizes() {
    for (given, size) in [(None, 5), (Some(9), 9)] {
        let values = given.map(|value| (7, value)).into_iter().collect();
        let found = reflect(&specialised(), None, &values).unwrap();
        assert_eq!(found.workgroup_size, [size, 2, 2]);
        let push = found.push_constants.unwrap();
        assert_eq!(push.bytes(), 16 + 4 * 2 * u64::from(size));
        let [constant] = &*found.spec_constants else {
            panic!("{:?}", found.spec_constants);
        };
        assert_eq!(
            (constant.id, constant.ty.as_str(), constant.default),
            (7, "u32", 5)
        );
    }
}

#[test]
fn a_type_that_holds_itself_comes_to_an_end() {
    let mut module = specialised();
    // The array's element becomes the struct that holds the array.
    let words: Vec<u8> = [9u32, 2, 8]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    let at = module
        .windows(12)
        .position(|window| window == words)
        .unwrap();
    module[at + 4] = 10;
    assert!(reflect(&module, None, &BTreeMap::new()).is_ok());
}

#[test]
fn what_is_no_module_is_refused() {
    let error = reflect(b"nonsense", None, &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("not a SPIR-V module"), "{error}");
}
