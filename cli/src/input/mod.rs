//! Input: what a person gives on a command line or in a file: shaders, buffers, images, boards and GPUs by name.

pub(crate) mod board_choice;
pub(crate) mod board_file;
pub(crate) mod board_firmware;
pub(crate) mod board_tree;
pub(crate) mod buffer_source;
pub(crate) mod check_arguments;
pub(crate) mod descriptor_count;
pub(crate) mod descriptor_names;
pub(crate) mod engine_choice;
pub(crate) mod firmware_file;
pub(crate) mod given;
pub(crate) mod gpu_choice;
pub(crate) mod image_format;
pub(crate) mod image_source;
pub(crate) mod instruction_set;
pub(crate) mod ir3_text;
pub(crate) mod job_arguments;
pub(crate) mod nearest;
pub(crate) mod passes;
pub(crate) mod push_constants;
pub(crate) mod result_view;
pub(crate) mod shader_file;
pub(crate) mod shown;
pub(crate) mod specialisation;
pub(crate) mod text_input;
pub(crate) mod trace_option;
