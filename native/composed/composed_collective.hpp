#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "collectives/collective.hpp"
#include "composed/levels.hpp"

namespace timpani {

/// One rank's part of a collective that is composed of the library's own.
class ComposedCollective {
  public:
    virtual ~ComposedCollective() = default;
    ComposedCollective() = default;
    ComposedCollective(const ComposedCollective&) = delete;
    ComposedCollective& operator=(const ComposedCollective&) = delete;

    /// MPI's first error code.
    virtual int operator()(const void* send, void* receive) = 0;
};

/// The first error of several calls, all of which are made: others wait for what a rank that failed has to send.
class FirstError {
  public:
    void take(int error) {
        if (first_ == MPI_SUCCESS) first_ = error;
    }
    [[nodiscard]] int get() const { return first_; }

  private:
    int first_ = MPI_SUCCESS;
};

/// What one is made for. All elements of a rank's buffers must be countable by an int.
struct ComposedSpec {
    CollectiveArguments args;  // with a topology, which outlives what is made
    MPI_Comm comm;
    MPI_Datatype type;
    std::size_t element_bytes;
    MPI_Op op;  // commutes
    /// Whether each call makes its communicators and frees them; else they are made once.
    bool setup_each_call;
};

/// A row of operations.def, and what makes it. A shape has no name where no communicators are made.
struct Composed {
    std::string_view collective;
    std::string_view name;
    int min_nodes;
    int min_groups;
    Shape shape;
    std::unique_ptr<ComposedCollective> (*make)(const ComposedSpec& spec, const Shape& shape);
};

/// The composed collective of that name, or nullptr.
const Composed* find_composed(std::string_view collective, std::string_view name);

/// One for each collective of those rows.
namespace make_composed {
std::unique_ptr<ComposedCollective> bcast(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> gather(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> reduce(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> alltoallv(const ComposedSpec& spec, const Shape& shape);
}  // namespace make_composed

}  // namespace timpani
