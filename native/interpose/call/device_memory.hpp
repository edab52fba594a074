#pragma once

#include "interpose/call/intercepted_call.hpp"

namespace timpani {

/// Whether the program has loaded the library of CUDA or HIP. Then buffers may be in a GPU's memory.
bool has_devices();

/// Whether a buffer of the call is in a GPU's memory, or in memory that the GPU's driver moves. Algorithms that read
/// and write buffers themselves would crash there.
bool in_device_memory(const InterceptedCall& call);

}  // namespace timpani
