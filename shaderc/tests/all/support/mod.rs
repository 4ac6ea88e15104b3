//! What several tests share.
pub mod byte_operations;
pub mod divergent_program;
pub mod drawing;
pub mod half_operations;
pub mod kept_sums;
pub mod kernel;
pub mod on_ir3;
pub mod operations;
pub mod random_function;
pub mod spin_lock;
pub mod spvasm;
pub mod subgroups;
pub mod wgsl;
