//! The passes that back ends share, on Valhall's machine IR.

mod hoist_invariants {
    use crate::machine::hoist_invariants::hoist_invariants;
    use crate::valhall::mir::{Form, Function, verify};

    #[test]
    fn what_every_round_computes_anew_moves_out_of_all_loops() {
        let mut function = Function::parse(
            "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = phi b0 %0, b4 %6
              jump b2
            b2:
              %2 = phi b1 %1, b2 %3
              %4 = IADD.u32 %0, %0
              %5 = IADD.u32 %4, %1
              %3 = IADD.u32 %2, %5
              branch %3, b2, b3
            b3:
              branch %0, b4, b5
            b4:
              %6 = IADD.u32 %1, %0
              jump b1
            b5:
              end",
        )
        .expect("text is MIR");
        assert!(hoist_invariants(&mut function));
        assert_eq!(verify(&function, Form::Ssa), []);
        let text = function.to_string();
        assert!(
            text.contains("b0:\n  %4 = IADD.u32 %0, %0\n  jump b1"),
            "{text}"
        );
        assert!(text.contains("  %5 = IADD.u32 %4, %1\n  jump b2"), "{text}");
    }

    #[test]
    fn memory_and_what_not_every_round_does_stay() {
        let text = "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = LD_BUFFER.i32 %0, u0, space:buffer
              branch %1, b2, b3
            b2:
              %2 = IADD.u32 %0, %0
              STORE.i32 @%2, u0, imm:0, space:buffer
              jump b3
            b3:
              branch %0, b1, b4
            b4:
              end";
        let mut function = Function::parse(text).expect("text is MIR");
        assert!(!hoist_invariants(&mut function), "{function}");
    }
}

mod delay_sources {
    use crate::machine::delay_sources::delay_sources;
    use crate::valhall::mir::{Form, Function, verify};

    #[test]
    fn the_next_value_is_computed_behind_the_readers_of_this_one() {
        let mut function = Function::parse(
            "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = phi b0 %0, b1 %2
              %3 = phi b0 %0, b1 %4
              %2 = IADD.u32 %1, %3
              %4 = IADD.u32 %3, %1
              branch %4, b1, b2
            b2:
              STORE.i32 @%2, u0, imm:0, space:buffer
              end",
        )
        .expect("text is MIR");
        assert!(delay_sources(&mut function));
        assert_eq!(verify(&function, Form::Ssa), []);
        let text = function.to_string();
        // The other reads the phi of the first: one of the two has to stand in front.
        assert!(
            text.contains("  %4 = IADD.u32 %3, %1\n  %2 = IADD.u32 %1, %3\n"),
            "{text}"
        );
    }

    #[test]
    fn what_is_read_before_stays_in_front() {
        let text = "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = phi b0 %0, b1 %2
              %2 = IADD.u32 %1, %0
              %3 = IADD.u32 %2, %1
              STORE.i32 @%3, u0, imm:0, space:buffer
              branch %2, b1, b2
            b2:
              end";
        let mut function = Function::parse(text).expect("text is MIR");
        assert!(!delay_sources(&mut function), "{function}");
    }
}

mod split_edges {
    use crate::machine::split_edges::split_edges;
    use crate::valhall::mir::{Form, Function, verify};

    #[test]
    fn a_loop_that_branches_back_gets_a_latch() {
        let mut function = Function::parse(
            "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = phi b0 #0x0, b1 %2
              %2 = IADD.u32 %1, %0
              branch %2, b1, b2
            b2:
              end",
        )
        .expect("text is MIR");
        assert!(split_edges(&mut function));
        assert_eq!(verify(&function, Form::Ssa), []);
        let text = function.to_string();
        assert!(text.contains("%1 = phi b0 #0x0, b2 %2"), "{text}");
        assert!(text.contains("branch %2, b2, b3"), "{text}");
        assert!(text.contains("b2:\n  jump b1\n"), "{text}");
    }
}

mod lower_phis {
    use crate::machine::lower_phis::lower_phis;
    use crate::valhall::mir::{Form, Function, verify};

    #[test]
    fn a_rotation_reads_the_old_value_first() {
        let mut function = Function::parse(
            "b0:
              %0 = MOV.i32 t0
              jump b1
            b1:
              %1 = phi b0 %0, b2 %2
              %2 = phi b0 %0, b2 %3
              %3 = IADD.u32 %1, %2
              branch %3, b2, b3
            b2:
              jump b1
            b3:
              end",
        )
        .expect("text is MIR");
        assert!(lower_phis(&mut function));
        assert_eq!(verify(&function, Form::Variables), []);
        assert!(
            function
                .to_string()
                .contains("b2:\n  %4 = MOV.i32 %2\n  %5 = MOV.i32 %3\n"),
            "{function}"
        );
    }
}

mod thread_jumps {
    use crate::machine::thread_jumps::thread_jumps;
    use crate::valhall::mir::Function;

    #[test]
    fn an_if_without_else_branches_to_the_join() {
        let mut function = Function::parse(
            "b0:
              branch r0, b1, b2
            b1:
              r1 = MOV.i32 t0
              jump b3
            b2:
              jump b3
            b3:
              end",
        )
        .expect("text is MIR");
        thread_jumps(&mut function);
        assert_eq!(
            function.to_string(),
            "b0:\n  branch r0, b1, b2\nb1:\n  r1 = MOV.i32 t0\n  jump b2\nb2:\n  end\n"
        );
    }

    /// A loop whose two ways through it meet in an empty block that jumps back.
    fn blocks_left(work: &str) -> usize {
        let text = format!(
            "b0:
              jump b1
            b1:
              {work}
              branch r0, b2, b3
            b2:
              r1 = MOV.i32 t0
              jump b4
            b3:
              r1 = MOV.i32 r0
              jump b4
            b4:
              jump b1"
        );
        let mut function = Function::parse(&text).expect("text is MIR");
        thread_jumps(&mut function);
        function.blocks.len()
    }

    #[test]
    fn lanes_that_may_wait_for_one_another_meet_before_the_next_round() {
        assert_eq!(blocks_left("r0 = MOV.i32 r1"), 4);
        assert_eq!(blocks_left("ATOM.i32.aumax @r2, r4, imm:0"), 5);
    }

    #[test]
    fn lanes_meet_before_the_next_round_if_most_of_it_is_the_same_for_all() {
        assert_eq!(
            blocks_left("r0 = MOV.i32 r1\nr2 = MOV.i32 r1\nr3 = MOV.i32 r1"),
            5
        );
    }

    #[test]
    fn lanes_that_go_three_ways_meet_before_the_next_round() {
        let mut function = Function::parse(
            "b0:
              jump b1
            b1:
              r0 = MOV.i32 r1
              branch r0, b2, b5
            b2:
              r1 = MOV.i32 t0
              branch r1, b3, b4
            b3:
              r2 = MOV.i32 r0
              jump b5
            b4:
              r2 = MOV.i32 r1
              jump b5
            b5:
              jump b1",
        )
        .expect("text is MIR");
        thread_jumps(&mut function);
        assert_eq!(function.blocks.len(), 6, "{function}");
    }

    #[test]
    fn a_loop_without_a_body_stays() {
        let mut function =
            Function::parse("b0:\n jump b1\nb1:\n jump b2\nb2:\n jump b1").expect("text is MIR");
        thread_jumps(&mut function);
        assert!(function.loop_count() == 1, "{function}");
    }
}

mod rotate_loops {
    use crate::machine::rotate_loops::rotate_loops;
    use crate::valhall::mir::Function;

    fn rotated(text: &str) -> String {
        let mut function = Function::parse(text).expect("text is MIR");
        rotate_loops(&mut function);
        function.to_string()
    }

    #[test]
    fn a_loop_tests_at_its_bottom() {
        let text = rotated(
            "b0:
              jump b1
            b1:
              r1 = ICMP_OR.u32.lt r0, u0, t0
              branch r1, b2, b3
            b2:
              r0 = IADD.u32 r0, u1
              jump b1
            b3:
              end",
        );
        assert!(
            text.ends_with(
                "b2:\n  r0 = IADD.u32 r0, u1\n  r1 = ICMP_OR.u32.lt r0, u0, t0\n  branch r1, b2, b3\nb3:\n  end\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_barrier_stays_alone() {
        let text = "b0:
              jump b1
            b1:
              BARRIER
              branch r1, b2, b3
            b2:
              jump b1
            b3:
              end";
        assert!(rotated(text).contains("b2:\n  jump b1\n"));
    }
}

mod verify {
    use crate::valhall::mir::{Form, Function, verify};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let function = Function::parse(text).expect("text is MIR");
        let broken = verify(&function, Form::Variables);
        let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(broken, expected, "{text}");
    }

    #[test]
    fn what_one_way_leaves_unwritten_is_named_where_it_is_read() {
        let both = "preload %0 = r60
            b0:
              branch %0, b1, b2
            b1:
              %1 = IADD.u32 %0, %0
              jump b3
            b2:
              %1 = IADD.u32 %0, t4
              jump b3
            b3:
              %2 = IADD.u32 %1, %0
              end";
        check(both, &[]);
        check(
            &both.replace("%1 = IADD.u32 %0, t4", "%3 = IADD.u32 %0, t4"),
            &["b3: %1 is not defined on every path: %2 = IADD.u32 %1, %0"],
        );
    }

    #[test]
    fn what_a_loop_reads_before_it_writes_it_is_named() {
        check(
            "preload %0 = r60
            b0:
              jump b1
            b1:
              %1 = IADD.u32 %2, %0
              %2 = IADD.u32 %1, %0
              branch %3, b1, b2
            b2:
              end",
            &[
                "b1: %2 is not defined on every path: %1 = IADD.u32 %2, %0",
                "b1: %3 is not defined on every path: branch %3, b1, b2",
            ],
        );
    }
}

mod variants {
    use std::convert::Infallible;

    use crate::machine::variants::{Attempt, Base, Candidate, Variant, cheapest};
    use crate::pass::{Changed, Pass, Runner};
    use crate::target::Target;
    use crate::valhall::mir::{Function, Valhall};

    const CHANGES: Pass<Function> = Pass {
        name: "changes",
        what: "says that it changed something",
        run: |_, _| Changed::Yes,
    };
    const IDLE: Pass<Function> = Pass {
        name: "idle",
        what: "does nothing",
        run: |_, _| Changed::No,
    };

    /// What is always short of registers.
    struct Tight;

    impl Candidate for Tight {
        type Cost = u32;

        fn cost(&self) -> u32 {
            0
        }

        fn is_tight(&self) -> bool {
            true
        }
    }

    /// How many variants are finished of two, of which the second does without the pass at the end of the first.
    fn finished(last: Pass<Function>) -> u32 {
        let variant = |last, without| Variant::<Valhall> {
            what: "a variant",
            base: Base::Best,
            change: None,
            last,
            without,
        };
        let variants = [variant(Some(last), None), variant(None, Some(last))];
        let function = Function::parse("b0:\n  end").expect("text is MIR");
        let mut runner = Runner::new(Target::default(), &[]);
        let mut count = 0;
        let best = cheapest(function, IDLE, &variants, &mut runner, |_, _, _| {
            count += 1;
            Ok::<_, Infallible>(Attempt::Finished(Tight))
        });
        assert!(best.is_ok_and(|best| best.is_some()));
        count
    }

    #[test]
    fn doing_without_a_pass_is_tried_where_it_has_changed_something() {
        assert_eq!(finished(CHANGES), 2);
        assert_eq!(finished(IDLE), 1);
    }
}
