//! Spin locks that lanes of one subgroup take from one another, in the forms in which they are written.
//!
//! Vulkan promises no progress among the lanes of a subgroup. These end all the same where lanes that have failed meet
//! those that have the lock before they try again.

use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};

/// Invocations of the workgroup: two subgroups of 16, and some.
const INVOCATIONS: u32 = 40;

/// The forms: a name, and the body of `main`. Each adds the invocation's number to a sum, under the lock.
pub const FORMS: [(&str, &str); 7] = [
    (
        "a flag ends the loop",
        "var done = false;
         while (!done) {
             if (atomicCompareExchangeWeak(&lock, 0u, 1u).exchanged) {
                 add(i);
                 atomicStore(&lock, 0u);
                 done = true;
             }
         }",
    ),
    (
        "who fails comes first",
        "var done = false;
         while (!done) {
             if (atomicExchange(&lock, 1u) != 0u) {
                 tries += 1u;
             } else {
                 add(i);
                 atomicStore(&lock, 0u);
                 done = true;
             }
         }",
    ),
    (
        "who fails continues",
        "var done = false;
         while (!done) {
             if (atomicCompareExchangeWeak(&lock, 0u, 1u).old_value != 0u) {
                 continue;
             }
             add(i);
             atomicStore(&lock, 0u);
             done = true;
         }",
    ),
    (
        "who has had the lock breaks",
        "loop {
             if (atomicExchange(&lock, 1u) == 0u) {
                 add(i);
                 atomicStore(&lock, 0u);
                 break;
             }
         }",
    ),
    (
        "turns go by, and a flag ends the loop",
        "var done = false;
         while (!done) {
             if (atomicLoad(&lock) == i) {
                 add(i);
                 atomicStore(&lock, next(i));
                 done = true;
             }
         }",
    ),
    (
        "who waits for its turn continues",
        "var done = false;
         while (!done) {
             if (atomicLoad(&lock) != i) {
                 continue;
             }
             add(i);
             atomicStore(&lock, next(i));
             done = true;
         }",
    ),
    (
        "who has had its turn breaks",
        "loop {
             if (atomicLoad(&lock) == i) {
                 add(i);
                 atomicStore(&lock, next(i));
                 break;
             }
         }",
    ),
];

/// The WGSL of a form.
pub fn source(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> lock: atomic<u32>;
         @group(0) @binding(1) var<storage, read_write> sum: atomic<u32>;
         fn add(i: u32) {{
             let before = atomicLoad(&sum);
             atomicStore(&sum, before + i + 1u);
         }}
         fn next(i: u32) -> u32 {{
             return (i + 1u) % {INVOCATIONS}u;
         }}
         @compute @workgroup_size({INVOCATIONS}) fn main(@builtin(local_invocation_index) i: u32) {{
             var tries = 0u;
             {body}
         }}"
    )
}

/// The lock, open, and a sum of nothing.
pub fn buffers() -> Buffers {
    [0, 1]
        .map(|binding| ((0, binding, 0), Buffer { bytes: vec![0; 4] }))
        .into()
}

/// One workgroup, and an end to what would never end.
pub fn dispatch() -> Dispatch {
    Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 20,
    }
}

/// Checks the sum, and that the lock is open again.
pub fn check(buffers: &Buffers) -> Result<(), String> {
    let word = |binding: u32| {
        let bytes = &buffers[&(0, binding, 0)].bytes;
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let expected = (0, INVOCATIONS * (INVOCATIONS + 1) / 2);
    let got = (word(0), word(1));
    match got == expected {
        true => Ok(()),
        false => Err(format!("lock and sum are {got:?}, expected {expected:?}")),
    }
}
