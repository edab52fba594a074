#pragma once

#include <array>
#include <string_view>

#include "interpose/call/intercepted_call.hpp"

namespace timpani {

/// For each collective, why this thread's last call that a rule matches was not replaced; empty if it was replaced. The
/// exported `timpani_refusal` returns it to the measuring program.
inline thread_local constinit std::array<std::string_view, kCollectiveKinds.size()> refusals{};

}  // namespace timpani
