//! The division of registers is that of the data file of the facts.

use crate::facts;
use eitri_cs::{Arch, Layout, Reg, RegSet, SUPPORTED, SubQueue};
use serde_json::Value;

fn range(fact: &Value) -> RegSet {
    let end = |i: usize| fact[i].as_u64().unwrap() as u8;
    RegSet::range(end(0), end(1))
}

#[test]
fn registers_are_divided_as_the_facts_say() {
    let data = facts::data();
    for arch in SUPPORTED.iter() {
        let fact = &data["arches"][arch.major().to_string()]["register_file"];
        let layout = Layout::of(arch);
        let map = &fact["driver_map"];
        assert_eq!(fact["count"], layout.count(), "{arch}");
        assert_eq!(range(&map["job_state"]), layout.job_state(), "{arch}");
        assert_eq!(range(&map["scratch"]), layout.scratch(), "{arch}");
        assert_eq!(range(&map["kernel"]), layout.kernel(), "{arch}");
        assert_eq!(map["subqueue_context"], layout.context().number(), "{arch}");
        let link = &fact["chunk_link"];
        assert_eq!(
            range(&link["address"]),
            layout.link_address().into(),
            "{arch}"
        );
        assert_eq!(link["length"], layout.link_length().number(), "{arch}");
        let ring = &fact["kernel_job"];
        assert_eq!(
            range(&ring["address"]),
            layout.ring_address().into(),
            "{arch}"
        );
        assert_eq!(range(&ring["value"]), layout.ring_value().into(), "{arch}");
        for (queue, name) in SubQueue::ALL
            .into_iter()
            .zip(["vertex_tiler", "fragment", "compute"])
        {
            let progress = layout.progress(queue).number();
            assert_eq!(map["progress_seqno"][name], progress, "{arch}");
        }
    }
}

#[test]
fn a_count_leaves_room_for_scratch() {
    assert_eq!(Layout::with_count(96), Some(Layout::of(Arch::V10)));
    assert_eq!(Layout::with_count(97), None);
    assert_eq!(Layout::with_count(78), None);
    let smallest = Layout::with_count(80).unwrap();
    assert_eq!(smallest.scratch(), RegSet::range(66, 67));
    assert_eq!(smallest.first_scratch(), Reg::new(66));
}
