//! The command as its users meet it, and what the compiler makes as the model runs it.
//!
//! One binary, so that it links once and what waits does so beside what computes.

mod amber;
mod amber_levels;
mod boot;
mod checks;
mod code_checks;
mod code_quality;
mod compile;
mod compile_adreno;
mod console;
mod cost;
mod cs;
mod debug;
mod debug_client;
mod debug_dump;
mod debug_scene;
mod debug_script;
mod divergence_on_model;
mod doctor;
mod draw;
mod draw_attachments;
mod draw_checks;
mod draw_features;
mod draw_models;
mod draw_multisampled;
mod draw_parts;
mod drawn_scene;
mod dump;
mod eitri;
mod explain;
mod firmware;
mod images_on_model;
mod ir3;
mod isa;
mod kernel;
mod kernels_on_model;
mod linux;
mod litmus_on_model;
mod metrics;
mod on_model;
mod operations_on_model;
mod pack;
mod pages;
mod profile;
mod random_graphics_on_model;
mod random_kernels;
mod random_on_model;
mod random_scenes;
mod readers_on_model;
mod reduce;
mod reorder;
mod repeated_on_model;
mod results;
mod run;
mod schema;
mod shaders_on_model;
mod spin_locks_on_model;
mod subgroups_on_model;
mod threads;
mod trace;
mod validate;
mod waitcheck;
mod waits_on_model;

#[path = "../../../shaderc/tests/all/support/divergent_program/mod.rs"]
mod divergent_program;
#[path = "../../../shaderc/tests/all/support/kernel.rs"]
mod kernel_case;
#[path = "../../../shaderc/tests/all/support/operations.rs"]
mod operations;
#[path = "../../../shaderc/tests/all/support/random_function/mod.rs"]
mod random_function;
#[path = "../../../shaderc/tests/all/support/spin_lock.rs"]
mod spin_lock;
#[path = "../../../shaderc/tests/all/support/spvasm.rs"]
mod spvasm;
#[path = "../../../shaderc/tests/all/support/subgroups.rs"]
mod subgroups;
#[path = "../../../shaderc/tests/all/support/wgsl.rs"]
mod wgsl;
