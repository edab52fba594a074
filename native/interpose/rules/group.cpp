#include "interpose/rules/group.hpp"

#include <ranges>

namespace timpani {

namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

}  // namespace

std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address) {
    const auto name = short_name(host);
    int number = 0;
    for (const auto group : std::views::split(groups, ';')) {
        for (const auto node : std::views::split(group, ',')) {
            if (short_name({node.begin(), node.end()}) == name) return "group " + std::to_string(number);
        }
        ++number;
    }
    const auto dot = slurm_address.rfind('.');
    if (dot == std::string_view::npos || slurm_address.substr(dot + 1) != name) return {};
    return std::string(slurm_address.substr(0, dot));
}

}  // namespace timpani
