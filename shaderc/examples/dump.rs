fn main() {
    let mut args = std::env::args().skip(1);
    let bytes = std::fs::read(args.next().unwrap()).unwrap();
    let mut options = eitri_shaderc::Options::default();
    for a in args {
        options.print_after.push(a);
    }
    let f = eitri_shaderc::front_end(&bytes, &options).unwrap();
    for (n, t) in &f.prints {
        println!("; after {n}\n{t}");
    }
    if options.print_after.is_empty() {
        println!("{}", f.function);
    }
    for (n, t) in &f.timings {
        eprintln!("{n}: {t:?}");
    }
}
