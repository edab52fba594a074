#pragma once

#include <string>
#include <vector>

namespace timpani {

/// Which ranks of the world run with this library.
struct Roll {
    std::vector<int> present;  // ascending; the same on all of them, and empty where they could not find out in time
    bool is_first = false;     // of those that run with it
};

/// Asked of the launcher's name service (MPI_Publish_name), since a message or a collective would reach ranks that know
/// nothing of it: docs/decisions/0009. Where the launcher has no such service all ranks are taken to be there. Call it
/// right after MPI_Init.
Roll call_roll(int rank, int ranks);

/// Ranks as text, `0-3,7`, and back.
std::string as_ranges(const std::vector<int>& ranks);
std::vector<int> from_ranges(const std::string& text);

}  // namespace timpani
