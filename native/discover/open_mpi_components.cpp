// Open MPI 4.1 and 5.0 print which components are enabled for a communicator (coll_base_verbose), not which collectives
// each of them runs. So this reads the table of functions through which the library calls them: the communicator
// points to it, and each entry names a module, whose class is called after its component (ompi/mca/coll/coll.h,
// opal/class/opal_object.h). A library with another layout shows nothing: all entries must name components.

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "discover/components.hpp"

namespace timpani {

namespace {

using Address = std::uintptr_t;

constexpr std::array collectives{
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw",      "barrier",
    "bcast",     "exscan",     "gather",    "gatherv",  "reduce",    "reduce_scatter", "reduce_scatter_block",
    "scan",      "scatter",    "scatterv"};

constexpr std::size_t communicator_words = 64;  // Open MPI pads its predefined communicators to 512 bytes
constexpr std::size_t longest_name = 64;

/// What each collective's entry of the table holds.
struct Entry {
    Address function;
    Address module;
};

/// This process's memory, read through the kernel: an address that is not mapped yields nothing.
class Memory {
  public:
    Memory() : file_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
    ~Memory() {
        if (file_ >= 0) close(file_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    template <typename Value>
    [[nodiscard]] std::optional<Value> at(Address address) const {
        Value value{};
        const auto size = static_cast<ssize_t>(sizeof(value));
        return pread(file_, &value, sizeof(value), static_cast<off_t>(address)) == size ? std::optional(value)
                                                                                        : std::nullopt;
    }

    /// At most `longest_name` characters.
    [[nodiscard]] std::string text_at(Address address) const {
        std::array<char, longest_name> text{};
        const ssize_t length = pread(file_, text.data(), text.size(), static_cast<off_t>(address));
        const std::string_view read(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
        return std::string(read.substr(0, read.find('\0')));
    }

  private:
    int file_;
};

/// `tuned` of the class `mca_coll_tuned_module_t`; empty of other classes.
std::string component_of_class(std::string_view name) {
    constexpr std::string_view before = "_coll_";
    constexpr std::string_view after = "_module_t";
    const auto start = name.find(before);
    if (start == std::string_view::npos || !name.ends_with(after)) return "";
    name.remove_suffix(after.size());
    return name.size() > start + before.size() ? std::string(name.substr(start + before.size())) : "";
}

/// An object begins with the address of its class, and a class with the address of its name.
std::string component_of(const Memory& memory, Address module) {
    const auto type = memory.at<Address>(module);
    const auto name = type ? memory.at<Address>(*type) : std::nullopt;
    return name ? component_of_class(memory.text_at(*name)) : "";
}

std::vector<std::pair<std::string, std::string>> components_in(const Memory& memory, Address table) {
    const auto entries = memory.at<std::array<Entry, collectives.size()>>(table);
    std::vector<std::pair<std::string, std::string>> found;
    for (std::size_t i = 0; entries && i < entries->size(); ++i) {
        const std::string component = component_of(memory, (*entries)[i].module);
        if (component.empty()) return {};
        found.emplace_back(collectives[i], component);
    }
    return found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> collective_components() {
    const Memory memory;
    const auto communicator = memory.at<std::array<Address, communicator_words>>(
        reinterpret_cast<Address>(MPI_COMM_WORLD));  // NOLINT: a handle of Open MPI is an address
    if (!communicator) return {};
    for (const Address word : *communicator)
        if (auto found = components_in(memory, word); !found.empty()) return found;
    return {};
}

}  // namespace timpani
