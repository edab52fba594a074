#include "measure/launch/share_cores.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>

#include "tests/check.hpp"

namespace timpani {

TEST(a_core_is_offered_until_the_scope_ends) {
    {
        const ScopedCoreSharing sharing;
        for (int offers = 0; offers < 3; ++offers) pause();  // until the timer's signal was handled
    }
    itimerval left{};
    getitimer(ITIMER_REAL, &left);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
    struct sigaction after{};
    sigaction(SIGALRM, nullptr, &after);
    CHECK(after.sa_handler == SIG_DFL);
}

}  // namespace timpani
