#include <cmath>
#include <cstdio>
#include <string>

#include "interpose/process/profile.hpp"

namespace timpani {

namespace {

std::string low_of(const ProfileKey& key) {
    if (key.size_class < 0) return "";
    return std::to_string(key.size_class == 0 ? 0 : std::int64_t{1} << (key.size_class - 1));
}

std::string high_of(const ProfileKey& key) {
    if (key.size_class < 0) return "";
    return std::to_string(key.size_class == 0 ? 0 : (std::int64_t{1} << key.size_class) - 1);
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
    const int length = std::snprintf(nullptr, 0, format, values...);
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::snprintf(text.data(), text.size(), format, values...);
    text.pop_back();
    return text;
}

std::string programs(const ProfileReport& report) {
    std::string text;
    for (const auto& name : report.programs) text += (text.empty() ? "" : " : ") + name;
    return report.note.empty() ? text : text + " (" + report.note + ")";
}

/// Half a call is one of which half of the ranks have no library.
std::string number(double value) { return formatted(value == std::floor(value) ? "%.0f" : "%.1f", value); }

}  // namespace

void write_csv(std::ostream& out, const ProfileReport& report) {
    out << "program,collective,communicator,ranks,bytes_low,bytes_high,algorithm,reason,calls,bytes,seconds,seconds_"
           "max,"
           "share\n";
    const std::string program = '"' + programs(report) + '"';
    for (const auto* row : report.by_cost()) {
        const auto& [key, entry] = *row;
        // Parameters of an algorithm are parted by commas.
        out << program << ',' << key.collective << ',' << (key.between_groups ? "inter" : "intra") << ',' << key.ranks
            << ',' << low_of(key) << ',' << high_of(key) << ",\"" << key.algorithm << "\",\"" << key.reason << "\","
            << number(report.each(key, entry.calls)) << ',' << formatted("%.0f", report.each(key, entry.bytes)) << ','
            << formatted("%.9f,%.9f,%.4f", report.mean(entry), entry.seconds_max, report.share(entry)) << '\n';
    }
    out << program << ",total,,,,,,,,,"
        << formatted("%.9f,%.9f,%.4f", report.mean(report.total), report.total.seconds_max, report.share(report.total))
        << '\n'
        << program << ",wall,,,,,,,,," << formatted("%.9f,%.9f,%.4f", report.wall_seconds, report.wall_seconds, 1.0)
        << '\n';
}

void write_summary(std::ostream& out, const ProfileReport& report) {
    out << "timpani: " << programs(report) << ": " << report.reporting << " ranks, "
        << formatted("%.3f s of wall time; in all below %.3f s a rank (%.1f %%), %.3f s on the rank with most",
                     report.wall_seconds, report.mean(report.total), 100 * report.share(report.total),
                     report.total.seconds_max)
        << "\ntimpani: collective            ranks       size       calls          bytes    seconds       most  "
           "share\n";
    for (const auto* row : report.by_cost()) {
        const auto& [key, entry] = *row;
        const std::string size = key.size_class < 0 ? "" : low_of(key) + " B..";
        out << "timpani: "
            << formatted("%-21s%6d%s%12s%10s%15.0f%11.6f%11.6f%5.1f %%  ", key.collective.c_str(), key.ranks,
                         key.between_groups ? "i" : " ", size.c_str(), number(report.each(key, entry.calls)).c_str(),
                         report.each(key, entry.bytes), report.mean(entry), entry.seconds_max,
                         100 * report.share(entry))
            << key.algorithm << (key.reason.empty() ? "" : ", because of: ") << key.reason << '\n';
    }
    out << "timpani: seconds: the mean over all ranks, in the communicator or not, threads' times added; most: of the "
           "rank with most; i: an intercommunicator\n"
           "timpani: not seen: waiting for non-blocking and persistent collectives (their own rows are the calls that "
           "start and prepare them), messages, one-sided communication, files"
#ifdef OMPI_MAJOR_VERSION
           "; such collectives called from Fortran"
#endif
           "\n";
}

}  // namespace timpani
