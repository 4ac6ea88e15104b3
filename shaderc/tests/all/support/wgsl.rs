//! WGSL and GLSL to SPIR-V, by naga.

/// The SPIR-V of a WGSL module.
pub fn compile(source: &str) -> Vec<u8> {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    write(&module)
}

/// The SPIR-V of a GLSL compute shader.
pub fn compile_glsl(source: &str) -> Vec<u8> {
    let options = naga::front::glsl::Options::from(naga::ShaderStage::Compute);
    let module = naga::front::glsl::Frontend::default()
        .parse(&options, source)
        .unwrap_or_else(|errors| panic!("{}", errors.emit_to_string(source)));
    write(&module)
}

fn write(module: &naga::Module) -> Vec<u8> {
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::all(),
    );
    let info = validator.validate(module).unwrap();
    let options = naga::back::spv::Options::default();
    let words = naga::back::spv::write_vec(module, &info, &options, None).unwrap();
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
