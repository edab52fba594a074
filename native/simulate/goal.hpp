#pragma once

#include <ostream>

#include "schedule/algorithm.hpp"

namespace timpani {

/// Writes the steps of all ranks in the Group Operation Assembly Language, which LogGOPSim reads (Hoefler, Siebert,
/// Lumsdaine, ICPP 2009; Hoefler, Schneider, Lumsdaine, HPDC 2010).
///
/// A step starts after the previous one has started (`irequires`), and after the steps that it waits for have ended
/// (`requires`); a local step ends before the next starts. The tag counts the messages from one rank to another. A
/// message without data has one byte, since LogGOPSim charges G for the bytes after the first; `calc` has the reduced
/// or copied bytes: a nanosecond each.
void write_goal(const Algorithm& algorithm, const CollectiveArguments& args, std::ostream& out);

}  // namespace timpani
