//! Shaders of vertices and fragments as programs, which live as long as any device.

use crate::bench::OrFail;
use eitri_draw_programs::Shader;
use eitri_program::{Arch, GraphicsProgram};

fn program(shader: Shader, arch: Arch) -> GraphicsProgram<'static> {
    let bytes = shader.build(arch).or_fail("it is assembly");
    GraphicsProgram::parse(bytes.leak()).or_fail("it was just encoded")
}

/// Vertices with a position in attribute 0, and a colour in attribute 1.
pub(super) fn vertices(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::Vertices, arch)
}

/// The same with attribute 2 added to the position.
pub(super) fn moved_vertices(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::MovedVertices, arch)
}

/// The vertices' colour into target 0.
pub(super) fn color(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::Color, arch)
}

/// The vertices' colour into target 1, and its green alone into target 0.
pub(super) fn two_colors(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::TwoColors, arch)
}

/// The texel of the image of set 0 at the pixel into target 0.
pub(super) fn fetched(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::Fetched, arch)
}

/// Vertices around the centre that the buffer of set 0 has.
pub(super) fn placed_vertices(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::PlacedVertices, arch)
}

/// Words 4 to 7 of the buffer of set 0 into target 0.
pub(super) fn table_color(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::TableColor, arch)
}

/// Words 0 to 3 of the push constants into target 0.
pub(super) fn pushed_color(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::PushedColor, arch)
}

/// What target 0 holds at the pixel, red and green the other way round, into target 1.
pub(super) fn tile_swapped(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::TileSwapped, arch)
}

/// Vertices around a centre whose x is the first instance's number, as the bits of a float.
pub(super) fn instance_placed_vertices(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::InstancePlacedVertices, arch)
}

/// Vertices around a centre that is half the viewport's width times the number of the view to the right.
pub(super) fn view_placed_vertices(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::ViewPlacedVertices, arch)
}

/// The length of the buffer of set 0, in 255ths, into target 0.
pub(super) fn length_color(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::LengthColor, arch)
}

/// The vertices' colour into target 0, by way of the thread's own memory.
pub(super) fn spilled_color(arch: Arch) -> GraphicsProgram<'static> {
    program(Shader::SpilledColor, arch)
}
