#pragma once

#include <string>

namespace timpani {

/// Gathers the counts of all ranks of the world, and writes them at rank 0. Collective over the world's communicator.
void report_all();

/// Writes the counts of this process alone; `note` says why the others were not included. May be repeated.
void report_alone(const std::string& note);

}  // namespace timpani
