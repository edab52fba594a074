#pragma once

#include <string>

namespace timpani {

/// Settings of the library from the environment.
struct Settings {
    bool off = false;              // TIMPANI_OFF=1
    std::string rules;             // TIMPANI_RULES, a file. Empty: no call is replaced.
    std::string profile;           // TIMPANI_PROFILE, a folder to write to at the end. Empty: no profile.
    bool proves = false;           // TIMPANI_PROVE=1: the messages of collectives are counted.
    bool sites = false;            // TIMPANI_SITES=1: calls are counted by their place in the program.
    std::string group;             // of this host, from TIMPANI_GROUPS or Slurm
    std::string clock_skew;        // TIMPANI_CLOCK_SKEW, for tests
    bool fault_tolerance = false;  // Open MPI's: mpirun --with-ft sets OMPI_MCA_mpi_ft_enable

    [[nodiscard]] bool counts() const { return !profile.empty(); }
    [[nodiscard]] bool idle() const { return off || (rules.empty() && !counts()); }
};

Settings read_settings();

}  // namespace timpani
