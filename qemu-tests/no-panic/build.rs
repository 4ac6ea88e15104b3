//! Links without any script: the program is never run.

fn main() {
    println!("cargo::rustc-link-arg-bins=--entry=no_panic_start");
}
