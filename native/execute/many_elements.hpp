#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace timpani {

constexpr std::int64_t kMaxCount = std::numeric_limits<int>::max();  // of MPI's calls with int counts

/// One element that holds `count` consecutive elements of `type`, for messages of more than `kMaxCount`. Some
/// libraries lack MPI 4's calls with large counts, but all support derived types of any length.
class ManyElements {
  public:
    ManyElements(MPI_Datatype type, MPI_Aint extent, std::int64_t count) : count_(count) {
        MPI_Datatype part = MPI_DATATYPE_NULL;
        PMPI_Type_contiguous(static_cast<int>(kMaxCount), type, &part);
        const int lengths[]{static_cast<int>(count / kMaxCount), static_cast<int>(count % kMaxCount)};
        const MPI_Aint places[]{0, count / kMaxCount * kMaxCount * extent};
        const MPI_Datatype types[]{part, type};
        PMPI_Type_create_struct(2, lengths, places, types, &type_);
        PMPI_Type_commit(&type_);
        PMPI_Type_free(&part);
    }
    ~ManyElements() {
        if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
    }
    ManyElements(const ManyElements&) = delete;
    ManyElements& operator=(const ManyElements&) = delete;
    ManyElements(ManyElements&& other) noexcept
        : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), count_(other.count_) {}
    ManyElements& operator=(ManyElements&&) = delete;

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    std::int64_t count_;
};

}  // namespace timpani
