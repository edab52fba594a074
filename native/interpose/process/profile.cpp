#include "interpose/process/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

namespace timpani {

namespace {

constexpr char kMark = '\t';  // between fields on their way to rank 0; no name has one
constexpr const char* kProgram = "program";

/// What the program's file is called.
std::string program_name() {
    std::array<char, 4096> path{};  // PATH_MAX
    const auto length = readlink("/proc/self/exe", path.data(), path.size());
    std::string name(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    name = name.substr(name.rfind('/') + 1);
    std::ranges::replace_if(name, [](char each) { return each == kMark || each == '\n' || each == '"'; }, '_');
    return name;
}

class Fields {
  public:
    explicit Fields(const std::string& line) : fields_(line) {}
    std::string next() {
        std::string field;
        std::getline(fields_, field, kMark);
        return field;
    }

  private:
    std::istringstream fields_;
};

/// The ranks' texts, one behind the other.
ProfileReport from_text(const std::string& text) {
    ProfileReport report;
    std::istringstream lines(text);
    ProfileEntry rank;
    for (std::string line; std::getline(lines, line);) {
        Fields fields(line);
        ProfileKey key;
        key.collective = fields.next();
        if (key.collective == kProgram) {
            report.total.add(std::exchange(rank, {}));
            const std::string name = fields.next();
            if (std::ranges::find(report.programs, name) == report.programs.end()) report.programs.push_back(name);
            report.wall_seconds = std::max(report.wall_seconds, std::stod(fields.next()));
            ++report.reporting;
            continue;
        }
        key.ranks = std::stoi(fields.next());
        key.between_groups = fields.next() == "1";
        key.size_class = std::stoi(fields.next());
        key.algorithm = fields.next();
        key.reason = fields.next();
        ProfileEntry entry{.calls = std::stoll(fields.next()), .bytes = std::stoll(fields.next()), .seconds = 0};
        entry.seconds = entry.seconds_max = std::stod(fields.next());
        report.rows[key].add(entry);
        rank.calls += entry.calls;
        rank.seconds += entry.seconds;
        rank.seconds_max = rank.seconds;
    }
    report.total.add(rank);
    return report;
}

}  // namespace

void ProfileEntry::add(const ProfileEntry& other) {
    calls += other.calls;
    bytes += other.bytes;
    seconds += other.seconds;
    seconds_max = std::max(seconds_max, other.seconds_max);
}

double ProfileReport::each(const ProfileKey& key, std::int64_t sum) const {
    return static_cast<double>(sum) / (reporting == 1 ? 1 : key.ranks);
}

double ProfileReport::share(const ProfileEntry& entry) const {
    return wall_seconds > 0 ? mean(entry) / wall_seconds : 0;
}

std::vector<const std::pair<const ProfileKey, ProfileEntry>*> ProfileReport::by_cost() const {
    std::vector<const std::pair<const ProfileKey, ProfileEntry>*> sorted;
    for (const auto& row : rows) sorted.push_back(&row);
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto* row) { return row->second.seconds; });
    return sorted;
}

int size_class_of(std::int64_t bytes) { return std::bit_width(static_cast<std::uint64_t>(bytes)); }

void Profile::add(const ProfileKey& key, std::int64_t bytes, double seconds) {
    const std::scoped_lock lock(mutex_);
    rows_[key].add({1, bytes, seconds, seconds});
}

std::string Profile::as_text() {
    const std::scoped_lock lock(mutex_);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
    std::ostringstream text;
    text.precision(std::numeric_limits<double>::max_digits10);
    text << kProgram << kMark << program_name() << kMark << wall.count() << '\n';
    for (const auto& [key, entry] : rows_) {
        text << key.collective << kMark << key.ranks << kMark << key.between_groups << kMark << key.size_class << kMark
             << key.algorithm << kMark << key.reason << kMark << entry.calls << kMark << entry.bytes << kMark
             << entry.seconds << '\n';
    }
    return text.str();
}

ProfileReport Profile::gathered(MPI_Comm comm) {
    int rank = 0;
    int ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    const std::string own = as_text();
    const int length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks));
    PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(static_cast<std::size_t>(rank == 0 ? places.back() + lengths.back() : 0), ' ');
    PMPI_Gatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, 0, comm);
    return from_text(all);
}

ProfileReport Profile::alone(const std::string& note) {
    ProfileReport report = from_text(as_text());
    report.note = note;
    return report;
}

}  // namespace timpani
