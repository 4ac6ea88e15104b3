//! Writes scenes of the seeds from one to another into a folder.
fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(arguments.next().unwrap());
    let from: u64 = arguments.next().unwrap().parse().unwrap();
    let to: u64 = arguments.next().unwrap().parse().unwrap();
    for seed in from..to {
        let name = format!("random_{seed}");
        let own = folder.join(&name);
        std::fs::create_dir_all(&own)?;
        for (file, bytes) in eitri_random_scenes::files() {
            std::fs::write(own.join(file), bytes)?;
        }
        let scene = serde_json::to_vec_pretty(&eitri_random_scenes::scene(seed, &name)).unwrap();
        std::fs::write(own.join(format!("{name}.json")), scene)?;
    }
    Ok(())
}
