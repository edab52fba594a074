// Of a library without components.

#include "discover/components.hpp"

namespace timpani {

std::vector<std::pair<std::string, std::string>> collective_components() { return {}; }

}  // namespace timpani
