#include "interpose/wire.hpp"

#include <array>
#include <cstring>

#include "execute/elements.hpp"

namespace timpani {

bool is_bytes(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return ElementLayout(type).contiguous;
    const bool contiguous = combiner == MPI_COMBINER_CONTIGUOUS;
    if (!contiguous && combiner != MPI_COMBINER_DUP) return false;
    int count = 0;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    PMPI_Type_get_contents(type, integers, addresses, types, &count, nullptr, &inner);
    const bool plain = is_bytes(inner);
    PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&inner);
    return plain;
}

Wire::Wire(const Side& side, int blocks, MPI_Comm comm) : comm_(comm), type_(side.type), plain_(is_bytes(side.type)) {
    const ElementLayout layout(side.type);
    auto* const memory = static_cast<std::byte*>(side.data);
    bool as_it_is = plain_;
    std::int64_t end = 0;
    for (int block = 0; block < blocks; ++block) {
        const int elements = side.counts == nullptr ? side.count : side.counts[block];
        const std::int64_t place =
            side.places == nullptr ? static_cast<std::int64_t>(block) * side.count : side.places[block];
        const std::int64_t bytes = elements * static_cast<std::int64_t>(layout.size);
        as_it_is = as_it_is && (bytes == 0 || place * layout.extent == end);
        pieces_.push_back({memory + place * layout.extent, elements, end, bytes});
        end += bytes;
    }
    if (as_it_is) {
        pieces_.clear();
        bytes_ = memory;
    } else {
        aside_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end));
        bytes_ = aside_.get();
    }
}

int Wire::move(const Piece& piece, bool pack) {
    if (piece.bytes == 0) return MPI_SUCCESS;
    std::byte* const wire = bytes_ + piece.first;
    if (plain_) {
        std::memcpy(pack ? wire : piece.memory, pack ? piece.memory : wire, static_cast<std::size_t>(piece.bytes));
        return MPI_SUCCESS;
    }
    const int size = static_cast<int>(piece.bytes);
    int position = 0;
    if (pack) return PMPI_Pack(piece.memory, piece.elements, type_, wire, size, &position, comm_);
    return PMPI_Unpack(wire, size, &position, piece.memory, piece.elements, type_, comm_);
}

int Wire::fill() {
    for (const Piece& piece : pieces_) {
        if (const int error = move(piece, true); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

int Wire::fill(int block) {
    return pieces_.empty() ? MPI_SUCCESS : move(pieces_[static_cast<std::size_t>(block)], true);
}

int Wire::empty() {
    for (const Piece& piece : pieces_) {
        if (const int error = move(piece, false); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

}  // namespace timpani
