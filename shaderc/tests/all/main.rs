//! The front half of the compiler as its users meet it: modules in, results and errors out.
//!
//! One binary, so that it links once.
mod attachments;
mod checkers;
mod deep;
mod descriptor_arrays;
mod divergence;
mod documented_order;
mod drawn;
mod entry_points;
mod errors;
mod fences;
mod graphics;
mod graphics_code;
mod growth;
mod interp;
mod ir3;
mod ir3_checker;
mod ir3_images;
mod kernels;
mod layout;
mod lowering;
mod malformed;
mod out_of_range;
mod passes;
mod pointers;
mod random;
mod random_graphics;
mod scenes;
mod settling;
mod shaders;
mod spin_locks;
mod stages;
mod subgroups;
mod support;
mod switches;
mod vectors;
