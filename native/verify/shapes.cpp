#include "verify/shapes.hpp"

#include <algorithm>
#include <set>

namespace timpani {

namespace {

using Values = std::set<std::int64_t>;

bool has_root(std::string_view collective) {
    return collective == "bcast" || collective == "reduce" || collective.starts_with("scatter") ||
           collective.starts_with("gather");
}

bool has_own_counts(std::string_view collective) { return collective != "bcast" && collective.ends_with('v'); }

Values counts_at(const Extent& extent, int ranks) {
    Values counts;
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{ranks} - 1,
          std::int64_t{ranks}, std::int64_t{ranks} + 1, extent.first_count, extent.last_count}) {
        if (extent.first_count <= count && count <= extent.last_count) counts.insert(count);
    }
    return counts;
}

Values values_of(const Parameter& parameter) {
    Values values;
    for (const std::int64_t value : {parameter.least, parameter.least + 1, std::int64_t{3}, std::int64_t{7}}) {
        if (value >= parameter.least) values.insert(value);
    }
    values.insert(parameter.standard);
    return values;
}

/// Blocks that are all alike; of every size up to `count`, none among them; and one rank that has all there is.
std::vector<std::vector<std::int64_t>> distributions(std::string_view collective, int ranks, std::int64_t count) {
    const auto blocks = static_cast<std::size_t>(collective == "alltoallv" ? ranks * ranks : ranks);
    std::vector<std::int64_t> uneven(blocks);
    for (std::size_t i = 0; i < blocks; ++i) uneven[i] = static_cast<std::int64_t>(i * 7 + i / 3) % (count + 1);
    std::vector<std::int64_t> lonely(blocks);
    lonely[blocks / 2] = count;
    return {{}, uneven, lonely};
}

/// Each parameter in turn takes its values while the others keep their standard ones.
std::vector<Shape> with_parameters(const Algorithm& algorithm, Shape shape) {
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        shape.parameters.at(i) = algorithm.parameters[i].standard;
    }
    std::vector<Shape> shapes{shape};
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        for (const auto value : values_of(algorithm.parameters[i])) {
            if (value == algorithm.parameters[i].standard) continue;
            shapes.push_back(shape);
            shapes.back().parameters.at(i) = value;
        }
    }
    return shapes;
}

}  // namespace

void for_each_shape(const Algorithm& algorithm, const Extent& extent, const std::function<bool(const Shape&)>& visit) {
    for (int ranks = extent.first_ranks; ranks <= extent.last_ranks; ++ranks) {
        const std::set<int> roots = has_root(algorithm.collective)
                                        ? std::set<int>{0, std::min(1, ranks - 1), ranks / 2, ranks - 1}
                                        : std::set<int>{0};
        const auto* collective = find_collective(algorithm.collective);
        for (const auto count : counts_at(extent, ranks)) {
            const auto own_counts = has_own_counts(algorithm.collective)
                                        ? distributions(algorithm.collective, ranks, count)
                                        : std::vector<std::vector<std::int64_t>>{{}};
            for (const int root : roots) {
                for (const auto& counts : own_counts) {
                    for (const bool commutative : {true, false}) {
                        if (!collective->reduces && !commutative) continue;
                        const Shape shape{ranks, count, root, 1, commutative, {}, counts};
                        if (!algorithm.restrictions.admit(shape)) continue;
                        for (const auto& each : with_parameters(algorithm, shape)) {
                            if (!visit(each)) return;
                        }
                    }
                }
            }
        }
    }
}

std::string show(const Algorithm& algorithm, const Shape& shape) {
    std::string text = std::to_string(shape.ranks) + " ranks, " + std::to_string(shape.count) + " elements";
    if (has_root(algorithm.collective)) text += ", root " + std::to_string(shape.root);
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        text += ", " + std::string(algorithm.parameters[i].name) + " " + std::to_string(shape.parameters.at(i));
    }
    if (find_collective(algorithm.collective)->reduces) text += shape.commutative ? ", any order" : ", order kept";
    return text;
}

}  // namespace timpani
