#include "interpose/rules/group.hpp"

#include <algorithm>

namespace timpani {

namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

/// Removes the text before the first `mark`, and the mark, from `text`, and returns that text.
std::string_view cut(std::string_view& text, char mark) {
    const auto end = std::min(text.find(mark), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

}  // namespace

std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address) {
    const auto name = short_name(host);
    for (int number = 0; !groups.empty(); ++number) {
        for (auto nodes = cut(groups, ';'); !nodes.empty();) {
            if (short_name(cut(nodes, ',')) == name) return "group " + std::to_string(number);
        }
    }
    const auto dot = slurm_address.rfind('.');
    if (dot == std::string_view::npos || slurm_address.substr(dot + 1) != name) return {};
    return std::string(slurm_address.substr(0, dot));
}

}  // namespace timpani
