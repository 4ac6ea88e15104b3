//! Users that share a device, in turns as two CPUs would take them.

use eitri_csf::Arch;
use eitri_model::{Config, stub_firmware};
use eitri_on_model::Machine;
use eitri_runtime::{Device, Options, Platform, Storage};
use eitri_validation::User;

#[test]
fn users_take_turns_and_each_has_its_own_results() {
    const ROUNDS: u32 = 5;
    let (firmware, program) = (stub_firmware(), User::program(Arch::V10).unwrap());
    let mut storage = Storage::<'_, 4, 16, 64>::new();
    let mut machine = Machine::new(Config::default());
    let up = Device::bring_up(
        machine.clone(),
        &firmware,
        &mut storage,
        Options::default(),
        &mut (),
    );
    let mut device = up.unwrap();
    let mut users = [3, 8].map(|number| User::new(&mut device, &program, number).unwrap());
    let mut done = [0; 2];
    let mut turns = 0;
    while done.iter().any(|rounds| *rounds < ROUNDS) {
        // Never in the same order, and one more often than the other.
        let who = usize::from(turns % 3 == 1);
        let now = machine.now();
        if done[who] < ROUNDS {
            done[who] = users[who].turn(&mut device, now).unwrap();
        }
        machine.pass(std::time::Duration::from_micros(20));
        turns += 1;
        assert!(turns < 10_000, "{done:?}");
    }
    for user in &users {
        user.check(&mut device).unwrap();
    }
    device.shutdown(&mut ()).unwrap();
}
