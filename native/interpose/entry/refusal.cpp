// The query of the measuring program whether rules were followed. See measure/cell/cell_calls.cpp.

#include "interpose/entry/refusal.hpp"

#include <utility>

#include "interpose/process/process.hpp"
#include "interpose/world/world.hpp"

#pragma GCC visibility push(default)
extern "C" const char* timpani_refusal(const char* collective);
#pragma GCC visibility pop

/// Why this thread's calls of `collective` did not follow the rules since the last query; nullptr: the algorithm of
/// each rule that matched ran.
const char* timpani_refusal(const char* collective) {
    using namespace timpani;
    if (!intercepting()) return "libtimpani.so is switched off, or has no rules";
    const Process& process = Process::get();
    if (!process.refusal().empty()) return process.refusal().c_str();
    if (World::get() == nullptr || !World::get()->has_rules()) return "libtimpani.so has no rules";
    const Collective* const known = find_collective(collective);
    if (known == nullptr) return nullptr;
    const std::string_view refusal =
        std::exchange(refusals[static_cast<std::size_t>(known - collectives().data())], {});
    return refusal.empty() ? nullptr : refusal.data();
}
