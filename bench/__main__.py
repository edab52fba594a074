"""`python -m bench [NAME…]`: what the product must reach, measured side by side; `make bench` runs all.

Quiet the machine first: nothing else should run. Each figure stands beside what it must reach.
"""

import sys

from bench import (
    changes,
    components,
    damage,
    default,
    families,
    held_out_ranks,
    kills,
    least_mean,
    loggopsim,
    mpitune_fast,
    overhead,
    pairs,
    pass_through,
    power,
    predict,
    predict_here,
    predict_lab,
    predict_noise,
    predict_published,
    program,
    race,
    race_ablation,
    race_gain,
    race_grid,
    race_measured,
    race_replayed,
    reproducibility,
    simulation,
    speed,
    states,
    switches,
    truth,
)

BENCHMARKS = {
    "truth": truth.run,
    "reproducibility": reproducibility.run,
    "speed": speed.run,
    "default": default.run,
    "pairs": pairs.run,
    "changes": changes.run,
    "components": components.run,
    "power": power.run,
    "families": families.run,
    "race": race.run,
    "race_ablation": race_ablation.run,
    "race_gain": race_gain.run,
    "race_grid": race_grid.run,
    "race_measured": race_measured.run,
    "race_replayed": race_replayed.run,
    "overhead": overhead.run,
    "pass_through": pass_through.run,
    "simulation": simulation.run,
    "loggopsim": loggopsim.run,
    "program": program.run,
    "states": states.run,
    "switches": switches.run,
    "damage": damage.run,
    "kills": kills.run,
    "predict": predict.run,
    "predict_here": predict_here.run,
    "predict_lab": predict_lab.run,
    "predict_noise": predict_noise.run,
    "predict_published": predict_published.run,
    "held_out_ranks": held_out_ranks.run,
    "least_mean": least_mean.run,
    "mpitune_fast": mpitune_fast.run,
}


def main() -> None:
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"\n== {name}", flush=True)
        BENCHMARKS[name]()


main()
