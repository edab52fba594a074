#include "interpose/rules/group.hpp"

#include <algorithm>

namespace timpani {

namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

}  // namespace

std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address) {
    const auto name = short_name(host);
    for (int number = 0; !groups.empty();) {
        const auto end = std::min(groups.find_first_of(",;"), groups.size());
        if (short_name(groups.substr(0, end)) == name) return "group " + std::to_string(number);
        number += groups.substr(end, 1) == ";" ? 1 : 0;
        groups.remove_prefix(std::min(end + 1, groups.size()));
    }
    const auto dot = slurm_address.rfind('.');
    if (dot == std::string_view::npos || slurm_address.substr(dot + 1) != name) return {};
    return std::string(slurm_address.substr(0, dot));
}

}  // namespace timpani
