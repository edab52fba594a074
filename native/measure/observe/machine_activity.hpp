#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

namespace timpani {

/// How busy the machines of a launch were while it ran. Readers see from it if other work disturbed the measurement.
///
/// The kernel counts processor time over all cores of a machine (/proc/stat, in ticks of 10 ms on most systems) and for
/// each process. Other processes used the difference. The kernel's boot id distinguishes machines: nodes that are
/// network namespaces of one computer share its processors.
class MachineActivity {
  public:
    /// Starts to count. Not collective, but every rank should construct it at about the same time.
    MachineActivity() : before_(read()) {}

    /// Collective. A JSON array at rank 0, empty elsewhere and in simulations, with one object per machine:
    /// host            name at its lowest rank
    /// cores           number of cores in the kernel's times
    /// seconds         since the constructor
    /// busy_s          processor seconds of all processes on them, including this program
    /// own_s           processor seconds of the ranks
    /// steal_s         processor seconds that a hypervisor gave to others; in neither of the above
    /// load_before, load_after   processes that run or wait to run, averaged over the last minute
    /// mhz_before, mhz_after     [lowest, highest] current clock rate of its cores; empty if the kernel doesn't report
    /// it
    /// governor        current policy for its cores' clock rates, "mixed" if cores differ; "" if not reported
    [[nodiscard]] std::string describe(MPI_Comm comm) const;

    struct Reading {
        std::array<char, 40> machine{};
        std::array<char, 64> host{};
        std::int64_t cores = 0;
        double clock_s = 0;
        double busy_s = 0;
        double own_s = 0;
        double steal_s = 0;
        double load = 0;
        std::int64_t lowest_mhz = 0;
        std::int64_t highest_mhz = 0;
        std::array<char, 32> governor{};
    };

  private:
    static Reading read();

    Reading before_;
};

}  // namespace timpani
