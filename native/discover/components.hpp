#pragma once

#include <string>
#include <utility>
#include <vector>

namespace timpani {

/// Each collective and the component of the library that runs it on MPI_COMM_WORLD. Empty if the library has no
/// components, or does not show them.
std::vector<std::pair<std::string, std::string>> collective_components();

}  // namespace timpani
