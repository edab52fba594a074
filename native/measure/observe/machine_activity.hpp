#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

namespace timpani {

/// What the machines of a launch were busy with while it ran, so that a reader sees figures measured beside other work.
///
/// The kernel counts processor time over all cores of a machine (/proc/stat, in ticks of 10 ms on most systems) and
/// over each process. What the ranks did not use themselves, others did. Machines are told apart by the kernel's boot
/// id: nodes that are network namespaces of one computer share its processors.
class MachineActivity {
  public:
    /// Begins to count. Collective in spirit only: every rank makes one at about the same time.
    MachineActivity() : before_(read()) {}

    /// A JSON array at rank 0, empty elsewhere and in simulations; collective. An object for each machine:
    /// host            of its lowest rank
    /// cores           that the kernel counts time of
    /// seconds         since the construction
    /// busy_s          processor seconds that all processes used on them, this program's too
    /// own_s           processor seconds that the ranks used
    /// steal_s         processor seconds that a hypervisor gave to others; counted in neither
    /// load_before, load_after   processes that ran or waited to, averaged over the minute before
    /// mhz_before, mhz_after     [lowest, highest] clock rate of its cores now; empty where the kernel doesn't tell
    /// governor        what decides on the clock rates of its cores now, "mixed" where that differs; "" as above
    [[nodiscard]] std::string describe(MPI_Comm comm, int rank, int size) const;

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
