#include "composed/composed_collective.hpp"

#include <algorithm>
#include <array>

namespace timpani {

namespace {

constexpr std::array kAll{
#define COMPOSED(collective, name, alias, min_nodes, min_groups, parameters, meaning) \
    Composed{#collective, #name, min_nodes, min_groups, shapes::name, make_composed::collective},
#include "collectives/operations.def"
};

}  // namespace

const Composed* find_composed(std::string_view collective, std::string_view name) {
    const auto* found = std::ranges::find_if(
        kAll, [&](const Composed& each) { return each.collective == collective && each.name == name; });
    return found == kAll.end() ? nullptr : found;
}

}  // namespace timpani
