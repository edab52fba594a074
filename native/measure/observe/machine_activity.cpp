#include "measure/observe/machine_activity.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <string_view>
#include <vector>

#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

namespace {

using Reading = MachineActivity::Reading;

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// The first line of /proc/stat has ticks over all cores: user nice system idle iowait irq softirq steal. User and nice
/// include guests. One line for each core follows.
void read_processor_times(Reading& reading) {
    std::ifstream file("/proc/stat");
    const auto tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    std::string name;
    std::array<double, 8> ticks{};
    file >> name;
    for (auto& value : ticks) file >> value;
    const auto [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    reading.busy_s = (user + nice + system + irq + softirq) * tick_s;
    reading.steal_s = steal * tick_s;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("cpu")) ++reading.cores;
    }
}

void read_clock_rates(Reading& reading) {
    std::string governor;
    for (std::int64_t core = 0; core < sysconf(_SC_NPROCESSORS_CONF); ++core) {
        const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/";
        if (std::string word; std::ifstream(folder + "scaling_governor") >> word) {
            governor = governor.empty() || governor == word ? word : "mixed";
        }
        std::ifstream file(folder + "scaling_cur_freq");
        std::int64_t khz = 0;
        if (!(file >> khz)) continue;
        const auto mhz = khz / 1000;
        reading.lowest_mhz = reading.lowest_mhz == 0 ? mhz : std::min(reading.lowest_mhz, mhz);
        reading.highest_mhz = std::max(reading.highest_mhz, mhz);
    }
    governor.copy(reading.governor.data(), reading.governor.size() - 1);
}

std::vector<std::int64_t> clock_rates(const Reading& reading) {
    if (reading.highest_mhz == 0) return {};
    return {reading.lowest_mhz, reading.highest_mhz};
}

}  // namespace

MachineActivity::Reading MachineActivity::read() {
    Reading reading;
    if constexpr (kSimulated) return reading;
    std::ifstream("/proc/sys/kernel/random/boot_id").read(reading.machine.data(), reading.machine.size() - 1);
    gethostname(reading.host.data(), reading.host.size() - 1);
    reading.clock_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    read_processor_times(reading);
    read_clock_rates(reading);
    std::ifstream("/proc/loadavg") >> reading.load;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    reading.own_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    return reading;
}

std::string MachineActivity::describe(MPI_Comm comm) const {
    if constexpr (kSimulated) return "[]";
    const auto before = gather_values(std::vector{before_}, comm);
    const auto after = gather_values(std::vector{read()}, comm);
    std::map<std::string_view, std::vector<std::size_t>> ranks_of;
    for (std::size_t i = 0; i < after.size(); ++i) ranks_of[after[i].machine.data()].push_back(i);
    std::vector<std::string> machines;
    for (const auto& [machine, ranks] : ranks_of) {
        const Reading& then = before[ranks.front()];
        const Reading& now = after[ranks.front()];
        double own_s = 0;
        for (const auto each : ranks) own_s += after[each].own_s - before[each].own_s;
        machines.push_back(JsonObject()
                               .add("host", now.host.data())
                               .add("cores", now.cores)
                               .add("seconds", now.clock_s - then.clock_s)
                               .add("busy_s", now.busy_s - then.busy_s)
                               .add("own_s", own_s)
                               .add("steal_s", now.steal_s - then.steal_s)
                               .add("load_before", then.load)
                               .add("load_after", now.load)
                               .add("mhz_before", clock_rates(then))
                               .add("mhz_after", clock_rates(now))
                               .add("governor", now.governor.data())
                               .text());
    }
    return json_array(machines);
}

}  // namespace timpani
