#pragma once

#include <string>

namespace timpani {

/// Whether calls are counted by their place in the program; written as `counting` is.
inline constinit bool marking_sites = false;

/// The address after this thread's call of a blocking collective by a C function; nullptr if it is unknown.
inline constinit thread_local const void* call_site = nullptr;

inline void mark_call_site(const void* address) {
    if (marking_sites) call_site = address;
}

/// `app+0x11d4`: the file that holds the address, and the offset in it. Empty for nullptr.
std::string site_text(const void* address);

}  // namespace timpani
