#pragma once

#include <string>
#include <utility>

namespace timpani {

/// Whether it matters where the program calls: calls are counted by their place, or a rule names one. Written as
/// `counting` is.
inline constinit bool marking_sites = false;

/// The address after this thread's call of a collective by C or Fortran; nullptr if it is unknown.
inline constinit thread_local const void* call_site = nullptr;

/// Called by the outer entry point first: Fortran's call C's.
inline void mark_call_site(const void* address) {
    if (marking_sites && call_site == nullptr) call_site = address;
}

inline const void* take_call_site() { return marking_sites ? std::exchange(call_site, nullptr) : nullptr; }

/// `app+0x11d4`: the file that holds the address, and the offset in it. Empty for nullptr.
std::string site_text(const void* address);

/// The same, looked up once a thread.
const std::string& known_site_text(const void* address);

}  // namespace timpani
