#include <stdexcept>

#include "measure/observe/tool_interface.hpp"

namespace timpani {

ToolInterface::ToolInterface() = default;

ToolInterface::~ToolInterface() = default;

int exchange_control(const std::string& name, int) {
    throw std::runtime_error("this MPI library has no tool interface to set " + name);
}

struct SentSoFar::Variables {};

SentSoFar::SentSoFar(MPI_Comm) { throw std::runtime_error("this MPI library has no tool interface to count messages"); }

SentSoFar::~SentSoFar() = default;

Sent SentSoFar::read() const { return {}; }

}  // namespace timpani
