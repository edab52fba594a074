#include "measure/files/plan.hpp"

#include <stdexcept>

#include "tests/check.hpp"

namespace timpani {

namespace {

std::string error_of(const std::string& text) {
    try {
        parse_plan(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(a_competitor_loses_by_a_factor_over_1) {
    CHECK(!parse_plan("timpani-plan 1\n").lose_at);
    CHECK(parse_plan("timpani-plan 1\nlose_at 1.5\n").lose_at == 1.5);
    CHECK(error_of("timpani-plan 1\nlose_at 1\n") == "plan line 2: lose_at is a factor over 1");
}

TEST(a_whole_plan_is_read) {
    const auto plan = parse_plan(
        "timpani-plan 1\nmethod osu\nstart barrier\ndatatype float\nprecision 0.02\nslot_ns 1000\nwarmup 3\n"
        "repetitions 9\ntwice 7\nskew 1 -500 2.5\n\n"
        "cell 4 bcast 1048576 rotate a_b=6,c=0 d=1 knomial:radix=4  # openmpi/binomial\ncell 5 barrier 0 flush - - "
        "-\n");
    CHECK(plan.method == Method::osu);
    CHECK(plan.start == Start::barrier);
    CHECK(plan.datatype == "float");
    CHECK(plan.precision == 0.02);
    CHECK(plan.slot_ns == 1000);
    CHECK(plan.warmup == 3 && plan.repetitions == 9 && plan.twice == 7);
    CHECK(plan.skews.size() == 1 && plan.skews[0].offset_ns == -500 && plan.skews[0].drift_ppm == 2.5);
    const auto& points = plan.points;
    CHECK(points.size() == 2 && points[0].cells.size() == 1 && points[1].cells.size() == 1);
    const CellPlan& first = points[0].cells[0];
    const CellPlan& second = points[1].cells[0];
    CHECK(first.id == 4 && first.operation == "bcast" && first.message_bytes == 1048576);
    CHECK(first.mode == CacheMode::rotate);
    CHECK((first.at_creation == Controls{{"a_b", 6}, {"c", 0}}));
    CHECK((first.at_call == Controls{{"d", 1}}));
    CHECK(first.algorithm == "knomial:radix=4" && second.algorithm.empty());
    CHECK(second.at_creation.empty() && second.at_call.empty());
}

TEST(cells_after_a_point_are_interleaved) {
    const auto plan = parse_plan(
        "timpani-plan 1\nseed 7\nprobe\npoint\ncell 1 bcast 8 warm - - -\ncell 2 bcast 8 warm a=1 - -\npoint 12\n"
        "cell 3 bcast 16 warm - - -\n");
    CHECK(plan.seed == 7 && plan.probe);
    const auto& points = plan.points;
    CHECK(points.size() == 2 && points[0].cells.size() == 2 && points[1].cells.size() == 1);
    CHECK(!points[0].rounds && points[1].rounds == 12);
    CHECK(error_of("timpani-plan 1\npoint 0\n") == "plan line 2: a point needs at least one round");
    CHECK(error_of("timpani-plan 1\npoint many\n") == "plan line 2: a value is missing or malformed");
    CHECK(error_of("timpani-plan 1\npoint\ncell 1 bcast 8 warm - - -\ncell 2 bcast 16 warm - - -\n") ==
          "plan line 4: cells of a point have one operation, size and mode");
}

TEST(a_point_has_an_arrival_pattern) {
    const auto plan = parse_plan(
        "timpani-plan 1\npoint\narrival one_late 50000 ns\ncell 1 bcast 8 warm - - -\npoint 3\narrival sorted 2.5 "
        "calls\n"
        "point\n");
    const auto& points = plan.points;
    CHECK(points.size() == 3);
    CHECK(points[0].arrival.kind == ArrivalKind::one_late && points[0].arrival.delay == 50000);
    CHECK(!points[0].arrival.in_calls && points[0].cells.size() == 1);
    CHECK(points[1].arrival.kind == ArrivalKind::sorted && points[1].arrival.delay == 2.5);
    CHECK(points[1].arrival.in_calls);
    CHECK(points[2].arrival.kind == ArrivalKind::together);
    CHECK(error_of("timpani-plan 1\narrival sorted 1 ns\n") == "plan line 2: an arrival pattern is a point's");
    CHECK(error_of("timpani-plan 1\npoint\narrival sorted 0 ns\n") == "plan line 3: a delay is over 0");
    CHECK(error_of("timpani-plan 1\npoint\narrival early 1 ns\n") == "plan line 3: unknown word 'early'");
}

TEST(a_mistake_in_a_plan_is_reported_with_its_line) {
    CHECK(error_of("") == "plan line 1: 'timpani-plan 1' expected");
    CHECK(error_of("timpani-plan 2\n") == "plan line 1: 'timpani-plan 1' expected");
    CHECK(error_of("timpani-plan 1\nslot_ns x\n") == "plan line 2: a value is missing or malformed");
    CHECK(error_of("timpani-plan 1\n\ncell 1 bcast\n") == "plan line 3: a value is missing or malformed");
    CHECK(error_of("timpani-plan 1\ncolor blue\n") == "plan line 2: unknown key 'color'");
    CHECK(error_of("timpani-plan 1\nmethod OSU\n") == "plan line 2: unknown word 'OSU'");
    CHECK(error_of("timpani-plan 1\nslot_ns 1 2\n") == "plan line 2: '2' is one word too many");
    CHECK(error_of("timpani-plan 1\ncell 1 bcast 8 warm a - -\n") ==
          "plan line 2: a is not a control variable and its value, such as name=1");
}

}  // namespace timpani
