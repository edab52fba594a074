#include "interpose/profile.hpp"

#include <algorithm>
#include <bit>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

namespace timpani {

namespace {

constexpr char kMark = '\t';  // between fields on their way to rank 0; no name has one

std::string as_text(const ProfileRows& rows) {
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::max_digits10);
    for (const auto& [key, entry] : rows) {
        text << key.collective << kMark << key.ranks << kMark << key.size_class << kMark << key.algorithm << kMark
             << key.reason << kMark << entry.calls << kMark << entry.bytes << kMark << entry.seconds << '\n';
    }
    return text.str();
}

ProfileRows from_text(const std::string& text) {
    ProfileRows rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        const auto next = [&fields] {
            std::string field;
            std::getline(fields, field, kMark);
            return field;
        };
        ProfileKey key;
        key.collective = next();
        key.ranks = std::stoi(next());
        key.size_class = std::stoi(next());
        key.algorithm = next();
        key.reason = next();
        ProfileEntry entry{.calls = std::stoll(next()), .bytes = std::stoll(next()), .seconds = std::stod(next())};
        entry.seconds_max = entry.seconds;
        rows[key].add(entry);  // ranks' rows with the same key follow each other's
    }
    return rows;
}

/// Sums over ranks as one call of all of them.
double each(const ProfileKey& key, double sum) { return sum / key.ranks; }

std::string low_of(const ProfileKey& key) {
    if (key.size_class < 0) return "";
    return std::to_string(key.size_class == 0 ? 0 : std::int64_t{1} << (key.size_class - 1));
}

std::string high_of(const ProfileKey& key) {
    if (key.size_class < 0) return "";
    return std::to_string(key.size_class == 0 ? 0 : (std::int64_t{1} << key.size_class) - 1);
}

}  // namespace

void ProfileEntry::add(const ProfileEntry& other) {
    calls += other.calls;
    bytes += other.bytes;
    seconds += other.seconds;
    seconds_max = std::max(seconds_max, other.seconds_max);
}

int size_class_of(std::int64_t bytes) { return std::bit_width(static_cast<std::uint64_t>(bytes)); }

void Profile::add(const ProfileKey& key, std::int64_t bytes, double seconds) {
    const std::scoped_lock lock(mutex_);
    rows_[key].add({1, bytes, seconds, seconds});
}

ProfileRows Profile::gathered(MPI_Comm comm) {
    int rank = 0;
    int ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    std::string own;
    {
        const std::scoped_lock lock(mutex_);
        own = as_text(rows_);
    }
    const int length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks));
    PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(static_cast<std::size_t>(rank == 0 ? places.back() + lengths.back() : 0), ' ');
    PMPI_Gatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, 0, comm);
    return from_text(all);
}

void write_csv(std::ostream& out, const ProfileRows& rows) {
    out << "collective,ranks,bytes_low,bytes_high,algorithm,reason,calls,bytes,seconds,seconds_max\n";
    for (const auto& [key, entry] : rows) {
        // Parameters of an algorithm are parted by commas.
        out << key.collective << ',' << key.ranks << ',' << low_of(key) << ',' << high_of(key) << ",\"" << key.algorithm
            << "\"," << key.reason << ',' << each(key, static_cast<double>(entry.calls)) << ',' << std::fixed
            << std::setprecision(0) << each(key, static_cast<double>(entry.bytes)) << std::setprecision(9) << ','
            << each(key, entry.seconds) << ',' << entry.seconds_max << std::defaultfloat << '\n';
    }
}

void write_summary(std::ostream& out, const ProfileRows& rows) {
    for (const auto& [key, entry] : rows) {
        out << "timpani: " << std::left << std::setw(21) << key.collective << std::right << std::setw(6) << key.ranks
            << " ranks " << std::setw(11) << low_of(key) << " B.. " << std::setw(8)
            << each(key, static_cast<double>(entry.calls)) << " calls " << std::setw(11) << std::fixed
            << std::setprecision(6) << each(key, entry.seconds) << " s  " << std::defaultfloat << key.algorithm
            << (key.reason.empty() ? "" : ", because of: ") << key.reason << '\n';
    }
}

}  // namespace timpani
