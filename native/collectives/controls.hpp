#pragma once

#include <string>
#include <utility>
#include <vector>

namespace timpani {

/// MPI_T control variables of the library and the integers that they are set to.
using Controls = std::vector<std::pair<std::string, int>>;

}  // namespace timpani
