#include <array>
#include <cstdlib>

#include "measure/clock/global_clock.hpp"
#include "tests/check.hpp"

namespace timpani {

TEST(a_line_through_two_fits_holds_between_them_whatever_their_slopes) {
    // A clock that is 1000 ns behind at local time 0 and 3000 ns behind at 10⁹; the fits' own slopes are wrong.
    const ClockLine first{.base = 0, .intercept_ns = 1000, .slope = 1e-3};
    const ClockLine last{.base = 1'000'000'000, .intercept_ns = 3000, .slope = -1e-3};
    const ClockLine line = line_through(first, 0, last, 1'000'000'000);
    const std::array<std::int64_t, 3> locals{0, 500'000'000, 1'000'000'000};
    for (const std::int64_t local : locals)
        CHECK(std::abs(line.to_global(local) - local - 1000 - local / 500'000) <= 1);
}

}  // namespace timpani
