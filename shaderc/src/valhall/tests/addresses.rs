//! Addresses of accesses: made once for what is near, and again for what is far.

use super::select::after;

/// How many addresses are made for two accesses of one buffer at one index, with `between` IR instructions between them. The second
/// access is in another block.
fn addresses(between: usize) -> usize {
    let mut text = String::from(
        "function main
        workgroup 64 1 1
        binding 0 0 storage written
        b0:
          %x = global_id.x
          %y = global_id.y
          %at = ishl %x, 2
          %s0 = load.buffer @0.0, %at
          %c = ieq %s0, 7
          branch %c, b1, b2
        b1:\n",
    );
    for number in 0..between {
        let next = number + 1;
        text += &format!("  %s{next} = iadd %s{number}, %y\n");
    }
    text += &format!(
        "  %behind = iadd %at, 64
          store.buffer @0.0, %behind, %s{between}
          jump b2
        b2:
          return"
    );
    after(&text, "share_moves").matches("SHADDX").count()
}

/// An address is two registers, which are held from the first access to the last.
#[test]
fn an_address_is_kept_for_what_is_near_and_made_again_for_what_is_far() {
    assert_eq!(addresses(8), 1, "near");
    assert_eq!(addresses(64), 2, "far");
}
