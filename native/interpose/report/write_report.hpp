#pragma once

#include <string>

namespace timpani {

/// Gathers what all ranks of the world counted, and writes it at rank 0. Collective over the world's communicator.
void report_all();

/// Writes what this process alone has counted; `note` says why the others were not asked. May be repeated.
void report_alone(const std::string& note);

}  // namespace timpani
