"""Reads environments as labgrid does, and says what labgrid would not take: a driver that it does not have, an option that a
driver does not have, a strategy that can't be imported, or one whose needs no driver meets."""

import sys

import attr
from labgrid import Environment
from labgrid.factory import target_factory


def wrong(path):
    environment = Environment(path)
    for image in ["eitri"]:
        environment.config.get_image_path(image)
    for target in environment.config.get_targets().values():
        resources, drivers = target_factory.normalize_config(target)
        for kinds, known in [(resources, target_factory.resources), (drivers, target_factory.drivers)]:
            for name, instances in kinds.items():
                if name not in known:
                    yield f"labgrid has no {name}"
                    continue
                fields = {field.name for field in attr.fields(known[name]) if field.init}
                for options, *_ in instances.values():
                    yield from (f"{name} has no option {option}" for option in options if option not in fields)
        strategies = [name for name in drivers if name.endswith("Strategy")]
        if len(strategies) != 1:
            yield f"strategies: {strategies}"


failed = False
for path in sys.argv[1:]:
    for line in wrong(path):
        failed = True
        print(f"{path}: {line}")
sys.exit(failed)
