#include "operations/operation.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace timpani {

namespace {

using Makers = std::map<std::pair<std::string_view, std::string_view>, MakeOperation>;

// Function-local: the operations' files register themselves before main, in an unspecified order.
Makers& makers() {
    static Makers all;
    return all;
}

}  // namespace

std::int64_t OperationSpec::value_of(std::string_view parameter) const {
    const auto found = std::ranges::find(parameters, parameter, &Parameter::name);
    if (found == parameters.end()) throw std::logic_error("no parameter " + std::string(parameter) + " is stated");
    return values[static_cast<std::size_t>(found - parameters.begin())];
}

RegisterOperation::RegisterOperation(std::string_view operation, std::string_view way, MakeOperation make) {
    makers().emplace(std::pair(operation, way), make);
}

MakeOperation find_maker(std::string_view operation, std::string_view way) {
    const auto found = makers().find({operation, way});
    return found == makers().end() ? nullptr : found->second;
}

}  // namespace timpani
