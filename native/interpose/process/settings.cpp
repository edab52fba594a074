#include "interpose/process/settings.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "interpose/rules/group.hpp"

namespace timpani {

namespace {

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_on(const std::string& value) { return !value.empty() && value != "0" && value != "false"; }

}  // namespace

Settings read_settings() {
    std::array<char, 256> host{};  // POSIX: names have at most 255 bytes
    gethostname(host.data(), host.size() - 1);
    return {.off = is_on(value_of("TIMPANI_OFF")),
            .rules = value_of("TIMPANI_RULES"),
            .profile = value_of("TIMPANI_PROFILE"),
            .proves = is_on(value_of("TIMPANI_PROVE")),
            .sites = is_on(value_of("TIMPANI_SITES")),
            .group = group_of(host.data(), value_of("TIMPANI_GROUPS"), value_of("SLURM_TOPOLOGY_ADDR")),
            .clock_skew = value_of("TIMPANI_CLOCK_SKEW"),
            .fault_tolerance = is_on(value_of("OMPI_MCA_mpi_ft_enable"))};
}

}  // namespace timpani
