#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "collectives/collective.hpp"
#include "composed/levels.hpp"

namespace timpani {

/// One rank's part of a collective that is composed of the library's collectives.
class ComposedCollective {
  public:
    virtual ~ComposedCollective() = default;
    ComposedCollective() = default;
    ComposedCollective(const ComposedCollective&) = delete;
    ComposedCollective& operator=(const ComposedCollective&) = delete;

    /// MPI's first error code.
    virtual int operator()(const void* send, void* receive) = 0;
};

/// The first error of several calls, all of which are made: other ranks wait for what this rank sends, even if it
/// failed.
class FirstError {
  public:
    void take(int error) {
        if (first_ == MPI_SUCCESS) first_ = error;
    }
    [[nodiscard]] int get() const { return first_; }

  private:
    int first_ = MPI_SUCCESS;
};

/// Arguments of the constructor. An int must hold the number of elements in any rank's buffers.
struct ComposedSpec {
    CollectiveArguments args;  // with a topology that outlives the collective
    MPI_Comm comm;
    MPI_Datatype type;
    std::size_t element_bytes;
    MPI_Op op;  // commutes
    /// Whether each call makes and frees its communicators, or the constructor makes them once.
    bool setup_each_call;
};

/// A row of operations.def, and its factory. A shape that makes no communicators has no name.
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

/// A factory for each collective in those rows.
namespace make_composed {
std::unique_ptr<ComposedCollective> bcast(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> gather(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> reduce(const ComposedSpec& spec, const Shape& shape);
std::unique_ptr<ComposedCollective> alltoallv(const ComposedSpec& spec, const Shape& shape);
}  // namespace make_composed

}  // namespace timpani
