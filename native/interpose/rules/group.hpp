#pragma once

#include <string>
#include <string_view>

namespace timpani {

/// The group of nodes that contains `host`, as a name. It is its place in `groups` (`n1,n2;n3,n4`), else the switches
/// in `slurm_address` (`s0.s4.n3`, Slurm's SLURM_TOPOLOGY_ADDR) if that is this host's, else empty. Hosts are compared
/// up to the first dot.
std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address);

}  // namespace timpani
