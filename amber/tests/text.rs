//! Any text gives a script or an error, never a panic; and errors say where.

use proptest::prelude::*;

/// Words that statements are made of, so that random text gets far into the parser.
const WORDS: &[&str] = &[
    "#!amber\n",
    "\n",
    " ",
    "END",
    "SHADER",
    "compute",
    "vertex",
    "s",
    "b",
    "p",
    "GLSL",
    "x",
    "PASSTHROUGH",
    "BUFFER",
    "DATA_TYPE",
    "uint32",
    "vec3<float>",
    "mat2x3<int8>",
    "float[]",
    "STD140",
    "DATA",
    "SIZE",
    "4",
    "0",
    "-1",
    "1.5",
    "0xff",
    "nan",
    "FILL",
    "SERIES_FROM",
    "INC_BY",
    "FORMAT",
    "B8G8R8A8_UNORM",
    "D24_UNORM_S8_UINT",
    "IMAGE",
    "WIDTH",
    "HEIGHT",
    "DIM_3D",
    "DEPTH",
    "MIP_LEVELS",
    "SAMPLES",
    "PIPELINE",
    "graphics",
    "ATTACH",
    "BIND",
    "BUFFER_ARRAY",
    "AS",
    "storage",
    "uniform_dynamic",
    "color",
    "LOCATION",
    "DESCRIPTOR_SET",
    "BINDING",
    "OFFSET",
    "SUBGROUP",
    "STENCIL",
    "front_and_back",
    "TEST",
    "on",
    "REFERENCE",
    "BLEND",
    "VIEWPORT",
    "FRAMEBUFFER_SIZE",
    "STRUCT",
    "STRIDE",
    "RUN",
    "DRAW_RECT",
    "POS",
    "DRAW_ARRAY",
    "TRIANGLE_LIST",
    "COUNT",
    "REPEAT",
    "COPY",
    "TO",
    "EXPECT",
    "IDX",
    "EQ",
    "EQ_RGBA",
    "TOLERANCE",
    "%",
    "EQ_BUFFER",
    "RMSE_BUFFER",
    "CLEAR",
    "CLEAR_COLOR",
    "DERIVE_PIPELINE",
    "FROM",
    "VIRTUAL_FILE",
    "\"a b\"",
    "SAMPLER",
    "MIN_LOD",
    "ACCELERATION_STRUCTURE",
    "BOTTOM_LEVEL",
    "GEOMETRY",
    "TRIANGLES",
    "raytracing",
    "SHADER_GROUP",
    "SET",
    "ENGINE_DATA",
    "18446744073709551615",
    "99999999999",
    "\\\n",
    "(",
    ")",
    ",",
    "é",
    "[test]\n",
    "[compute shader]\n",
    "[vertex data]\n",
    "[require]\n",
    "[indices]\n",
    "0/R32_SFLOAT",
    "ssbo",
    "0:1",
    "subdata",
    "int",
    "probe",
    "ssbo",
    "==",
    "~=",
    "rect",
    "rgba",
    "uniform",
    "ubo",
    "ivec3",
    "draw",
    "arrays",
    "relative",
    "tolerance",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: if eitri_testdata::long() { 100_000 } else { 2_000 }, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        let _ = eitri_amber::parse(&text);
        let _ = eitri_amber::parse(&format!("#!amber\n{text}"));
        let _ = eitri_amber::parse(&format!("[test]\n{text}"));
    }

    #[test]
    fn any_words_are_answered(picks in prop::collection::vec(0..WORDS.len(), 0..60), amber: bool) {
        let mut text = String::from(if amber { "#!amber\n" } else { "" });
        for pick in picks {
            text.push_str(WORDS[pick]);
            text.push(' ');
        }
        if let Err(error) = eitri_amber::parse(&text) {
            prop_assert!(text.get(error.span.clone()).is_some(), "the span {:?} is not in the text", error.span);
        }
    }

    /// A whole script with some of its bytes replaced: the commonest kind of wrong script.
    #[test]
    fn damaged_scripts_are_answered(at in 0usize..2000, with in 0..WORDS.len(), cut in 0usize..40) {
        for seed in SEEDS {
            let mut text = (*seed).to_owned();
            let start = (0..=at % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let end = (start..=(start + cut).min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
            text.replace_range(start..end, WORDS[with]);
            let _ = eitri_amber::parse(&text);
        }
    }
}

/// Scripts that touch every statement.
const SEEDS: &[&str] = &[
    include_str!("seeds/amber.amber"),
    include_str!("seeds/graphics.amber"),
    include_str!("seeds/rays.amber"),
    include_str!("seeds/vk.amber"),
];

#[test]
fn the_seeds_are_read() {
    for seed in SEEDS {
        if let Err(error) = eitri_amber::parse(seed) {
            panic!("{error} in\n{seed}");
        }
    }
}

#[test]
fn structs_in_structs_end_somewhere() {
    let deep: String = (1..200)
        .map(|n| format!("STRUCT s{n}\n  s{} a\nEND\n", n - 1))
        .collect();
    let error =
        eitri_amber::parse(&format!("#!amber\nSTRUCT s0\n  int8 a\nEND\n{deep}")).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("structs within each other must be at most 64, not 65"),
        "{error}"
    );
    let wide: String = (1..40)
        .map(|n| format!("STRUCT s{n}\n  s{m} a\n  s{m} b\nEND\n", m = n - 1))
        .collect();
    let error =
        eitri_amber::parse(&format!("#!amber\nSTRUCT s0\n  int8 a\nEND\n{wide}")).unwrap_err();
    assert!(
        error.to_string().contains("components of a struct"),
        "{error}"
    );
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = eitri_amber::parse(text).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), expected, "{text:?}");
}

const COMPUTE: &str = "#!amber
SHADER compute s GLSL
void main() {}
END
BUFFER b DATA_TYPE uint32 SIZE 4 FILL 0
BUFFER c DATA_TYPE int32 SIZE 4 FILL 0
";
const PIPELINE: &str = "PIPELINE compute p
  ATTACH s
  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0
END
";

#[test]
fn errors_say_where_and_what() {
    refused(
        "hello\n",
        "1:1: only comments may stand before the first [section]",
    );
    refused("#!amber\nHELLO x\n", "2:1: `HELLO` is no statement");
    refused(
        "#!amber\nSHADER compute s GLSL\nvoid main() {}\n",
        "2:22: this SHADER has no END",
    );
    refused(
        "#!amber\nSHADER compute s GLSL\n\nEND\n",
        "2:22: the shader is empty",
    );
    refused(
        "#!amber\nBUFFER b DATA_TYPE uint32 DATA 1.5 END\n",
        "2:32: 1.5 is no integer, but the type has integer components",
    );
    refused(
        "#!amber\nBUFFER b DATA_TYPE vec2<int8> DATA 1 2 3 END\n",
        "2:36: 3 values do not make whole elements of 2 components",
    );
    refused(
        "#!amber\nBUFFER b DATA_TYPE int8 SIZE 0 FILL 1\n",
        "2:30: SIZE must be positive, not 0",
    );
    refused(
        "#!amber\nBUFFER b DATA_TYPE double SIZE 99999999999 FILL 1\n",
        "2:27: too large: a buffer of more than 268435456 bytes",
    );
    refused(
        "#!amber\nBUFFER b DATA_TYPE vec2<int8> SIZE 2 SERIES_FROM 0 INC_BY 1\n",
        "2:38: a buffer with SERIES_FROM can't have the type several components",
    );
    refused(
        "#!amber\nDEVICE_FEATURE shaderInt128\n",
        "2:16: `shaderInt128` is no device feature",
    );
    refused(
        "#!amber\nPIPELINE compute p\nEND\n",
        "2:18: pipeline p has no compute shader",
    );
    refused(
        "#!amber\nPIPELINE graphics p\nEND\n",
        "2:19: pipeline p has no vertex shader",
    );
    refused(
        &format!("{COMPUTE}BUFFER b DATA_TYPE int8 SIZE 1 FILL 0\n"),
        "7:8: buffer or image b is there already",
    );
    refused(
        &format!("{COMPUTE}PIPELINE graphics p\n ATTACH s\nEND\n"),
        "8:9: a compute shader does not fit a graphics pipeline",
    );
    refused(
        &format!("{COMPUTE}{PIPELINE}RUN p DRAW_RECT POS 0 0 SIZE 1 1\n"),
        "11:5: a draw does not fit a compute pipeline",
    );
    refused(
        &format!("{COMPUTE}{PIPELINE}RUN q 1 1 1\n"),
        "11:5: no pipeline is called `q` so far",
    );
    refused(
        &format!("{COMPUTE}{PIPELINE}RUN p 1 1\n"),
        "11:10: expected a number of workgroups, found the end of the line",
    );
    refused(
        &format!("{COMPUTE}{PIPELINE}RUN p 1 1 1 1\n"),
        "11:13: expected the end of the line, found 1",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 0 EQ\n"),
        "7:18: expected a value, found the end of the line",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 2 EQ 1\n"),
        "7:14: offset 2 is no multiple of the element's stride, 4",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 16 EQ 1\n"),
        "7:14: 1 values at byte 16 reaches beyond the end of b, which has 16 bytes",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 0 == 1\n"),
        "7:16: expected EQ, NE, LT, LE, GT or GE, found `==`",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 0 TOLERANCE 1 LT 1\n"),
        "7:28: TOLERANCE needs EQ",
    );
    refused(
        &format!("{COMPUTE}EXPECT b EQ_BUFFER c\n"),
        "7:8: b and c can't be compared: their types differ",
    );
    refused(
        &format!("{COMPUTE}EXPECT b EQ_HISTOGRAM_EMD_BUFFER b TOLERANCE 1\n"),
        "7:8: a histogram can't have the type uint32",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 0 0 SIZE 2 1 EQ_RGB 0 0 0\n"),
        "7:14: a rectangle of 2 x 1 pixels at 0, 0 reaches beyond the end of b, which has 1 x 1 pixels",
    );
    refused(
        &format!("{COMPUTE}EXPECT b IDX 0 0 SIZE 1 1 EQ_RGB 0 0 256\n"),
        "7:38: a color must be an integer from 0 to 255, not 256",
    );
    refused(
        &format!("{COMPUTE}COPY b TO b\n"),
        "7:6: COPY must be two different buffers",
    );
    refused(
        &format!("{COMPUTE}REPEAT 0\nEND\n"),
        "7:8: REPEAT must be positive, not 0",
    );
    refused(
        &format!("{COMPUTE}REPEAT 1\nEXPECT b IDX 0 EQ 0\n"),
        "9:1: this REPEAT has no END",
    );
    refused(
        "[compute shader]\nvoid main() {}\n[test]\ncompute 1 1\n",
        "4:12: expected a number of workgroups, found the end of the line",
    );
    refused(
        "[compute shader]\nvoid main() {}\n[test]\nprobe ssbo int 0 0 EQ 1\n",
        "4:20: expected ==, !=, <, >, <=, >= or ~=, found `EQ`",
    );
    refused(
        "[compute shader]\nx\n[require]\nno-such\n",
        "4:1: `no-such` is no feature or extension",
    );
    refused(
        "[compute shadow]\nx\n",
        "1:1: `compute shadow` is no section",
    );
}
