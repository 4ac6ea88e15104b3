//! The driver's tests on a whole GPU, as an embedder uses it: what becomes of jobs, queues, memory and the device when things go
//! well, and when they do not.
//!
//! They are compiled twice. On the host (`gpu/driver/runtime/tests`) the GPU is the model in the same process, and time is the model's; in an
//! image (`qemu-tests/driver-tests`) it is behind registers, memory and interrupts as on a board, and the caches before that memory
//! are kept up by the image's own instructions. What differs between the two is a [`Bench`].
//!
//! Needs: a bench, stated by [`run_on`] before the first test.  Guarantees: a test that fails panics; each has machines of its own.
//!
//! ```
//! use eitri_driver_tests::TESTS;
//!
//! let everywhere = TESTS.iter().filter(|test| test.host_only.is_none()).count();
//! assert!(everywhere > 90);
//! ```
#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

extern crate alloc;

mod bench;
mod machine;
mod recording;

mod coherency;
mod commands;
mod counters;
mod draws;
mod dump;
mod events_and_transfers;
mod filled_uniforms;
mod firmware;
mod flushes;
mod given;
mod heap;
mod injections;
mod left_in_use;
mod memory;
mod odd_gpus;
mod orders;
mod outcomes;
mod power;
mod recovery;
mod scheduling;
mod security;
mod seeded;
mod semaphores;
mod shapes;
mod soak;
mod texels;
mod timing;
mod worked_uniforms;

pub use machine::{Bench, Parts, Shader, run_on};
pub use seeded::{SEEDED, Seeded};

/// A test.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The family and its own name, with `::` between them.
    pub name: &'static str,
    /// Runs it; it panics if it fails.
    pub run: fn(),
    /// Why it says nothing in an image, if it does not.
    pub host_only: Option<&'static str>,
}

/// Tests that take an emulated machine more than three seconds, computing or waiting. The host runs them like the others.
const SLOW: &[&str] = &[
    "draws::a_dropped_pass_exhausts_no_heap",
    "draws::a_pass_begins_with_what_was_there",
    "draws::a_pass_sees_what_another_has_drawn",
    "draws::a_small_heap_draws_the_same_behind_caches",
    "draws::a_small_heap_draws_the_same_when_the_gpu_is_suspended",
    "draws::a_small_heap_draws_what_a_large_one_does",
    "draws::a_submission_is_lost_as_a_whole_and_the_next_draws",
    "draws::a_texture_that_is_rendered_compressed_is_drawn_alike",
    "draws::compressed_images_are_cleared_blitted_and_rendered_in_part",
    "draws::compressed_texels_are_copied_bit_by_bit",
    "draws::depth_is_resolved_in_every_mode",
    "draws::draws_have_the_push_constants_of_their_moment",
    "draws::draws_in_turn_are_as_each_alone",
    "draws::draws_of_secondaries_take_their_place_in_a_pass",
    "draws::draws_that_change_go_on_in_further_blocks",
    "draws::every_fault_at_every_step_names_its_pass",
    "draws::kinds_and_samples_of_what_passes_load_are_their_own",
    "draws::means_of_raw_formats_are_worked_out",
    "draws::parts_of_a_pass_are_one_pass",
    "draws::passes_behind_a_dropped_one_are_as_each_alone",
    "draws::random_passes_with_random_faults_are_right_or_fail_by_name",
    "draws::samples_are_kept_between_passes",
    "draws::samples_become_compressed_texels",
    "draws::secondaries_have_the_words_of_buffers_of_their_call",
    "draws::several_contexts_run_out_of_memory_side_by_side",
    "draws::texels_of_every_size_are_copied_between_all_orders",
    "draws::the_nearer_one_is_seen",
    "dump::a_job_that_takes_too_long_is_dumped_with_fresh_status",
    "flushes::a_job_that_ends_behind_the_last_clean_before_a_reset_is_not_done",
    "heap::heaps_that_can_not_be_are_refused",
    "orders::a_life_keeps_the_rules_of_order",
    "power::a_supply_that_does_not_come_is_told",
    "recovery::a_failed_bring_up_gives_back_a_stopped_gpu_its_memory_and_the_platform",
    "recovery::the_memory_of_a_gpu_that_does_not_reset_is_never_given_back",
    "scheduling::a_job_that_keeps_its_core_for_ever_makes_room_in_the_end",
    "timing::silent_firmware_is_noticed_without_a_ping_of_the_callers",
];

impl Test {
    /// Whether it takes long where the machine is emulated.
    pub fn is_slow(&self) -> bool {
        SLOW.contains(&self.name)
    }
}

/// Gives a macro the list of all tests: `family { test; test: "why it is for the host alone"; } …`.
#[macro_export]
macro_rules! each_test {
    ($do:ident) => {
        $do! {
            coherency {
                jobs_run_on_memory_that_is_not_coherent;
                a_failed_job_leaves_the_timeline_of_the_next_alone;
                barriers_are_few;
            }
            commands {
                push_constants_change_between_dispatches;
                long_recordings_go_on_in_further_blocks_which_are_kept;
                secondary_commands_are_called_as_often_as_wanted_and_nest;
                what_called_commands_use_stays;
                commands_with_memory_of_their_own_run_once_at_a_time;
                dispatches_have_bases_and_counts_that_the_gpu_writes;
                several_sets_are_bound_with_offsets_of_their_own;
                an_array_of_bindings_is_indexed_when_the_shader_runs;
            }
            counters {
                jobs_are_counted_by_name;
                every_generation_counts_the_same_work;
                samples_are_read_behind_caches_that_the_gpu_does_not_see;
                samples_that_the_firmware_takes_by_itself_count;
                a_sample_that_was_lost_is_told;
                firmware_that_does_not_switch_them_on_is_named;
                counters_that_are_off_give_no_sample;
                a_sample_is_asked_for_and_fetched_later;
                their_memory_comes_back;
            }
            draws {
                a_pass_clears_its_image;
                a_triangle_is_drawn;
                the_worked_example_is_drawn_by_streams_as_they_are;
                indices_and_instances_choose_their_elements;
                the_nearer_one_is_seen;
                stencil_keeps_others_out;
                colors_are_blended;
                several_targets_have_their_own_colors;
                colors_without_a_target_go_nowhere;
                samples_are_averaged;
                only_what_is_to_be_drawn_is_drawn;
                a_small_heap_draws_what_a_large_one_does;
                a_small_heap_draws_the_same_behind_caches;
                a_dropped_pass_exhausts_no_heap;
                a_small_heap_draws_the_same_when_the_gpu_is_suspended;
                several_contexts_run_out_of_memory_side_by_side;
                a_fault_between_increments_loses_its_pass_alone: "its passes take minutes there, and the host's are the same";
                a_pass_sees_what_another_has_drawn;
                passes_in_turn_are_as_each_alone: "its passes take minutes there, and others do the same";
                passes_behind_a_dropped_one_are_as_each_alone;
                no_pass_begins_behind_one_that_was_leaked;
                a_draw_sees_what_was_copied_before;
                draws_have_the_words_of_buffers_of_their_moment;
                draws_have_the_push_constants_of_their_moment;
                another_pipeline_has_the_first_instance_of_its_draw;
                pipelines_in_turn_have_the_lengths_of_their_buffers;
                fragments_with_memory_of_their_own_draw_the_same;
                buffers_say_what_is_drawn;
                programs_read_the_first_instance_of_an_indirect_draw;
                more_indirect_draws_than_copies_are_drawn;
                draws_in_turn_are_as_each_alone;
                draws_of_secondaries_are_as_each_alone;
                a_pass_has_the_indices_that_it_binds;
                a_pass_that_goes_on_draws_once;
                draws_that_change_go_on_in_further_blocks;
                draws_with_state_of_their_own_go_on_in_further_blocks: "its draws take minutes there, and others fill blocks";
                sets_in_turn_name_what_was_bound_last;
                a_set_is_refused_whose_image_was_destroyed;
                draws_of_secondaries_take_their_place_in_a_pass;
                secondaries_have_the_words_of_buffers_of_their_call;
                a_secondary_may_be_the_first_that_a_device_draws;
                secondaries_draw_to_every_view;
                secondaries_of_other_passes_are_refused;
                draws_read_what_is_in_the_tile;
                a_barrier_in_a_pass_orders_attachments_alone;
                rectangles_are_cleared_between_draws;
                a_draw_is_the_same_behind_a_clear;
                layers_are_cleared_on_their_own;
                a_pass_of_clears_has_the_provoking_vertex_of_its_first_draw;
                queries_count_the_samples_that_are_seen;
                queries_of_several_views_add_up;
                a_query_spans_passes_and_is_copied;
                results_that_are_copied_alone_reach_the_host;
                a_pass_tells_when_it_is_done;
                faces_and_topologies_are_those_of_the_moment;
                tests_are_those_of_the_moment;
                stencil_tests_are_those_of_the_moment;
                draws_depend_on_a_word_in_memory;
                each_view_is_drawn_to_its_layer;
                programs_read_the_number_of_their_view;
                a_pass_waits_and_signals_as_a_whole;
                a_pass_begins_with_what_was_there;
                samples_are_kept_between_passes;
                kinds_and_samples_of_what_passes_load_are_their_own;
                parts_of_a_pass_are_one_pass;
                a_part_that_asks_for_what_a_pass_before_did_is_resumed;
                what_can_not_be_rendered_is_refused;
                a_draw_without_its_image_is_refused;
                parts_that_begin_before_the_others_are_submitted_wait_for_them: "time passes by itself while an image's driver works";
                a_submission_is_lost_as_a_whole_and_the_next_draws;
                the_draw_that_failed_is_named_with_its_pipeline;
                a_draw_in_turn_that_fails_or_hangs_is_known: "limits of a hang are ten times as long there";
                draws_are_numbered_as_they_were_recorded;
                a_stream_that_fails_in_a_pass_names_it: "it strikes by the time, which passes by itself while an image's driver works";
                a_draw_of_several_views_has_one_number;
                an_access_that_failed_names_the_draw_with_its_image;
                a_tile_that_is_not_written_names_its_pixels;
                every_fault_at_every_step_names_its_pass;
                random_passes_with_random_faults_are_right_or_fail_by_name;
                a_frame_that_fails_is_named_and_the_next_is_shown;
                losses_leave_the_heap_its_memory: "a draw is over before an image has polled, so that nothing is lost";
                a_heap_has_its_memory_again_after_a_loss: "a draw is over before an image has polled, so that nothing is lost";
                caches_are_invalidated_before_what_reads_through_them;
                what_a_pass_does_is_counted;
                texels_of_one_sample_are_loaded_without_its_number;
                a_dump_shows_a_draw_down_to_its_descriptors;
                a_dump_shows_a_pass_down_to_its_targets;
                clears_read_no_depth_and_say_so;
                texels_of_every_size_are_copied_between_all_orders;
                levels_layers_and_slices_are_copied;
                depth_and_stencil_are_copied_apart;
                blocks_of_compressed_images_are_copied;
                samples_are_copied;
                bytes_are_copied_wherever_they_are;
                copies_and_clears_are_ordered_by_barriers;
                regions_that_are_nowhere_are_refused;
                ranges_of_an_image_are_cleared;
                images_of_every_kind_are_cleared;
                depth_and_stencil_are_cleared_apart;
                boxes_are_scaled_mirrored_and_converted;
                a_linear_blit_means_neighbours;
                slices_are_scaled_too;
                depth_is_blitted_to_a_level;
                levels_are_generated;
                levels_are_generated_of_what_was_written_last;
                samples_are_stored_beside_their_mean;
                means_of_raw_formats_are_worked_out;
                means_of_two_samples_are_worked_out: "the GPU is not the one that the monitor plays";
                depth_is_resolved_in_every_mode;
                images_are_resolved_outside_of_passes;
                a_view_shows_a_level_of_some_layers;
                a_view_has_its_own_components_and_format;
                a_view_shows_a_slice;
                views_share_planes_which_go_with_the_image;
                compressed_texels_are_copied_bit_by_bit;
                a_texture_that_is_rendered_compressed_is_drawn_alike;
                compressed_images_are_cleared_blitted_and_rendered_in_part;
                compressed_images_are_rendered_with_small_tiles;
                samples_become_compressed_texels;
                compressed_depth_and_stencil_are_cleared_in_part;
                compressed_levels_and_layers_are_made_of_each_other;
                compressed_images_are_seen_behind_caches;
                compressed_texels_are_fetched_by_shaders;
                what_a_compressed_image_can_not_do_is_named;
                a_displays_picture_is_rendered_where_it_lies: "the machine of an image lends no memory";
                shaders_read_what_somebody_else_writes: "the machine of an image lends no memory";
                tiles_in_memory_of_somebody_else_are_copied: "the machine of an image lends no memory";
                imports_that_can_not_be_are_refused: "the machine of an image lends no memory";
            }
            dump {
                a_fault_is_dumped_before_it_is_answered;
                a_silent_firmware_is_dumped_before_the_reset;
                a_dump_sees_memory_behind_caches;
                a_job_that_takes_too_long_is_dumped_with_fresh_status;
                a_device_without_a_fault_can_be_dumped;
            }
            events_and_transfers {
                events_order_host_and_queues;
                whoever_waits_for_an_event_keeps_nobody_out;
                queries_tell_times_and_invocations;
                buffers_are_filled_updated_and_copied;
                transfers_and_dispatches_are_ordered_by_barriers;
            }
            filled_uniforms {
                words_of_buffers_are_those_of_the_moment;
                commands_that_fill_in_words_run_once_at_a_time;
                called_commands_fill_in_words_at_each_call;
                a_dispatch_of_unknown_size_has_its_words_too;
            }
            firmware {
                each_released_image_lives_its_life;
            }
            flushes {
                a_small_job_pays_no_full_flush;
                what_the_host_writes_over_a_result_stays;
                of_several_jobs_behind_a_write_one_flushes;
                setting_an_event_flushes_for_those_who_wait;
                fresh_memory_is_written_for_nothing;
                a_barrier_to_the_host_is_the_flush_of_the_host;
                commands_that_are_recorded_again_are_seen;
                results_in_caches_survive_a_reset_or_are_said_to_be_lost;
                a_job_that_ends_behind_the_last_clean_before_a_reset_is_not_done;
            }
            given {
                a_stream_at_a_given_address_runs;
                blocks_are_unmapped_in_part_and_mapped_again;
                a_program_runs_in_one_call;
            }
            heap {
                a_heap_grows_from_its_reserve_until_it_may_not;
                a_heap_with_too_many_passes_in_flight_does_not_grow;
                a_heap_with_its_most_passes_in_flight_grows;
                a_heap_that_is_none_of_the_spaces_fails_its_job;
                heaps_that_can_not_be_are_refused;
            }
            injections {
                every_injection_at_every_moment_ends_in_bounded_time_and_is_got_over: "hundreds of lives of a driver, of which the host has the table";
                every_injection_is_got_over_without_coherency: "hundreds of lives of a driver, of which the host has the table";
            }
            left_in_use {
                a_gpu_that_was_left_in_use_is_brought_up;
            }
            memory {
                what_only_idle_commands_use_is_destroyed_and_they_run_no_more;
                buffers_that_come_and_go_leave_nothing_behind;
                addresses_are_reused_when_the_space_is_full;
                a_buffer_of_a_gibibyte_is_one_block: "QEMU's machine has no gibibyte to spare";
                everything_is_the_platforms_again_after_shutdown;
                a_queue_takes_its_own_space_with_it;
                what_a_job_in_flight_uses_is_not_destroyed;
                what_is_in_one_space_is_not_used_in_another;
                handles_of_another_device_are_void;
            }
            odd_gpus {
                the_firmware_counts_cycles_where_timestamp_stands: "the GPU is not the one that the monitor plays";
                memory_for_each_core_reaches_the_highest_core: "the GPU is not the one that the monitor plays";
            }
            orders {
                a_life_keeps_the_rules_of_order;
                tables_outlive_a_flush_that_does_not_end;
            }
            outcomes {
                every_job_has_its_own_outcome;
                failures_are_kept_until_they_are_discarded;
                a_reused_slot_has_no_events_of_its_last_user;
                jobs_behind_a_fatal_fault_are_lost_and_say_so;
                jobs_follow_each_other_around_the_ring;
                a_time_limit_is_an_answer_and_the_job_goes_on;
                cancelling_ends_a_queue_and_no_other;
                a_fault_is_seen_by_whoever_only_polls;
                streams_of_a_queue_run_side_by_side;
            }
            power {
                a_gpu_with_nothing_to_do_is_off_until_there_is;
                counters_wake_a_gpu_that_is_off;
                a_gpu_is_off_and_on_without_coherency_too;
                firmware_of_later_interfaces_is_halted_and_started_again;
                jobs_outlive_a_suspended_device;
                a_signal_of_the_host_wakes_the_gpu;
                a_ping_wakes_a_gpu_that_is_on_its_way_off;
                whatever_goes_wrong_on_the_way_ends_in_bounded_time;
                a_space_that_does_not_leave_costs_a_reset;
                a_supply_that_does_not_come_is_told;
                clock_and_voltage_are_the_owners;
            }
            recovery {
                a_lost_gpu_is_stopped_before_its_memory_has_a_new_owner;
                memory_that_is_given_back_in_the_middle_of_a_loss_waits_for_the_reset;
                the_memory_of_a_gpu_that_does_not_reset_is_never_given_back;
                the_innocent_go_on_and_no_job_is_lost_or_run_twice;
                a_recovery_keeps_its_promises_without_coherency_too;
                a_queue_of_foreign_streams_does_not_go_on_without_its_state;
                a_device_is_given_up_after_as_many_starts_as_were_asked_for;
                losses_are_counted_in_a_row;
                a_restart_on_demand_keeps_buffers_and_queues;
                a_restart_that_fails_leaves_the_device_lost;
                a_crash_of_the_firmware_is_told;
                a_failed_bring_up_gives_back_a_stopped_gpu_its_memory_and_the_platform;
                no_interrupt_is_let_through_after_shutdown;
                coherency_that_the_gpu_does_not_speak_is_refused: "the GPU's own registers are not what the monitor is asked for";
                coherency_is_decided_once: "the GPU's own registers are not what the monitor is asked for";
                every_part_of_the_tables_comes_up;
            }
            scheduling {
                queues_may_have_the_same_priority;
                there_are_more_queues_than_slots_and_spaces;
                a_group_on_a_slot_whose_space_was_away_sees_its_next_job;
                a_job_that_comes_while_a_fault_has_taken_its_space_is_seen;
                groups_come_and_go_without_coherency_too;
                a_job_in_progress_is_saved_and_resumed;
                a_job_that_keeps_its_core_for_ever_makes_room_in_the_end;
                a_page_fault_stops_the_queue_that_made_it_alone;
                a_page_fault_names_address_unit_and_the_buffer_that_was_missed;
                a_gpu_fault_that_names_a_space_is_its_jobs;
                cores_and_priorities_of_streams_are_the_callers;
            }
            security {
                a_shader_that_writes_anywhere_harms_its_own_queue_alone;
                streams_are_out_of_reach_of_their_own_shaders;
            }
            semaphores {
                a_job_waits_until_the_host_signals;
                the_host_waits_for_what_jobs_signal;
                what_a_job_wrote_before_its_signal_is_read_after_it;
                queues_wait_for_each_other_before_anybody_signals;
                queues_wait_for_each_other_without_coherency;
                a_chain_of_queues_outlives_a_lost_gpu;
                who_waits_gives_its_slot_to_others;
                streams_of_a_queue_wait_for_each_other;
                a_job_that_fails_signals_all_the_same;
                a_job_that_is_cancelled_signals_all_the_same;
                a_job_that_still_works_has_not_signalled;
                a_job_that_was_let_go_is_lost_with_the_gpu;
                a_signal_that_does_not_raise_its_semaphore_is_refused;
                nothing_else_lies_where_semaphores_may;
                what_can_not_be_is_refused;
            }
            soak {
                random_work_with_random_faults_ends_once_and_leaves_nothing_behind: "its bounds are those of a time in which the driver's own instructions take none";
            }
            texels {
                texels_stored_by_a_dispatch_are_fetched_by_the_next;
                texels_stored_by_a_job_are_fetched_by_the_next;
                texels_copied_by_a_job_are_fetched_by_the_next;
                a_dispatch_behind_a_copy_is_as_one_before_it;
                texels_stored_in_another_queue_are_fetched_behind_its_signal;
                texels_stored_in_another_queue_are_fetched_behind_its_event;
                texels_and_descriptors_of_the_host_are_fetched;
                texels_of_host_and_gpu_are_seen_without_coherency;
            }
            timing {
                the_last_of_several_jobs_in_flight_is_not_waited_for_a_millisecond_longer: "its bounds are those of a time in which the driver's own instructions take none";
                limits_of_the_hardware_scale_with_its_clock;
                the_running_phase_never_waits: "its bounds are those of a time in which the driver's own instructions take none";
                a_recovery_never_waits: "its bounds are those of a time in which the driver's own instructions take none";
                a_loop_that_sleeps_until_it_is_due_sees_every_job_end;
                silent_firmware_is_noticed_without_a_ping_of_the_callers;
            }
            worked_uniforms {
                what_is_worked_out_follows_the_push_constants;
            }
        }
    };
}

macro_rules! table {
    ($($family:ident { $($test:ident $(: $why:literal)?;)* })*) => {
        /// Every test.
        pub static TESTS: &[Test] = &[
            $($(Test {
                name: concat!(stringify!($family), "::", stringify!($test)),
                run: $family::$test,
                host_only: table!(@ $($why)?),
            },)*)*
        ];
    };
    (@) => { None };
    (@ $why:literal) => { Some($why) };
}
each_test!(table);

#[cfg(test)]
mod tests {
    use super::{SLOW, TESTS};
    use alloc::vec::Vec;

    #[test]
    fn slow_tests_are_tests() {
        let is_one = |name: &&str| TESTS.iter().any(|test| test.name == *name);
        let gone: Vec<&&str> = SLOW.iter().filter(|name| !is_one(name)).collect();
        assert!(gone.is_empty(), "no such tests: {gone:?}");
    }
}
