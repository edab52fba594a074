#include "measure/launch/share_cores.hpp"

#include <sched.h>
#include <sys/time.h>

#include <cerrno>
#include <csignal>

namespace timpani {

namespace {

constexpr long kInterval = 200;  // µs

void set_interval(long microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, nullptr);
}

void offer_core(int) {
    const int before = errno;
    sched_yield();
    errno = before;
}

}  // namespace

ScopedCoreSharing::ScopedCoreSharing() {
    struct sigaction offer{};
    offer.sa_handler = offer_core;
    offer.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &offer, &before_);
    set_interval(kInterval);
}

ScopedCoreSharing::~ScopedCoreSharing() {
    set_interval(0);
    sigaction(SIGALRM, &before_, nullptr);
}

}  // namespace timpani
