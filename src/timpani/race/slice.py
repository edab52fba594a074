"""Races as a slice: `timpani run --regret` measures algorithms again until the regret of each choice is bounded."""

AGENDAS = ("timpani.race.agenda:racing_agenda",)
PLAN_CHECKS = ("timpani.race.agenda:check_race",)
PLAN_EXTENTS = ("timpani.race.agenda:extent",)
RACES = ("timpani.race.results:read_race",)
