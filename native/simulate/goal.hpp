#pragma once

#include <ostream>

#include "schedule/algorithm.hpp"

namespace timpani {

/// Writes what all ranks do as text of the Group Operation Assembly Language, which LogGOPSim reads (Hoefler, Siebert,
/// Lumsdaine, ICPP 2009; Hoefler, Schneider, Lumsdaine, HPDC 2010).
///
/// A step starts once the one before it has (`irequires`), and once those that it waits for have ended (`requires`),
/// which a local one has when the next starts. The tag counts the messages from one rank to another. A message without
/// data has one byte, since LogGOPSim charges G for the bytes behind the first; `calc` has the bytes that are reduced
/// or copied: a nanosecond each.
void write_goal(const Algorithm& algorithm, const CollectiveArguments& args, std::ostream& out);

}  // namespace timpani
