//! Each program is one of each generation that has it.

use eitri_draw_programs::Shader;
use eitri_program::{Arch, GraphicsProgram, Stage};

#[test]
fn each_generation_has_its_programs() {
    for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
        for shader in [
            Shader::Vertices,
            Shader::Color,
            Shader::TwoColors,
            Shader::Fetched,
            Shader::TableColor,
            Shader::PushedColor,
            Shader::LengthColor,
            Shader::SpilledColor,
            Shader::TileSwapped,
        ] {
            let bytes = shader.build(arch).unwrap_or_else(|error| {
                panic!("{shader:?} on {arch}: {error}");
            });
            let program = GraphicsProgram::parse(&bytes).unwrap_or_else(|error| {
                panic!("{shader:?} on {arch}: {error}");
            });
            let stage = match shader {
                Shader::Vertices
                | Shader::MovedVertices
                | Shader::PlacedVertices
                | Shader::InstancePlacedVertices
                | Shader::ViewPlacedVertices => Stage::Vertex,
                Shader::Color
                | Shader::TwoColors
                | Shader::Fetched
                | Shader::TableColor
                | Shader::PushedColor
                | Shader::LengthColor
                | Shader::SpilledColor
                | Shader::TileSwapped => Stage::Fragment,
            };
            assert_eq!(program.common().stage(), stage, "{shader:?}");
            assert_eq!(program.common().arch(), arch, "{shader:?}");
        }
    }
}
