#include "interpose/replace/packed_buffer.hpp"

#include <cstring>

#include "execute/elements.hpp"
#include "interpose/call/arguments.hpp"

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
    if (!predefined_type(inner)) PMPI_Type_free(&inner);
    return plain;
}

AnchoredType::AnchoredType(MPI_Datatype absolute, const void* address) {
    const int one = 1;
    MPI_Aint place = 0;
    PMPI_Get_address(address, &place);
    place = -place;
    PMPI_Type_create_hindexed(1, &one, &place, absolute, &type_);
    PMPI_Type_commit(&type_);
}

AnchoredType::~AnchoredType() { PMPI_Type_free(&type_); }

PackedBuffer::PackedBuffer(const BufferArguments& buffer, int blocks, MPI_Comm comm)
    : comm_(comm), type_(buffer.type), is_bytes_(is_bytes(buffer.type)) {
    const ElementLayout layout(buffer.type);
    auto* memory = static_cast<std::byte*>(buffer.data);
    if (memory == MPI_BOTTOM && !is_bytes_ && layout.size > 0) {
        static std::byte anchor{};
        memory = &anchor;
        type_ = anchored_.emplace(type_, memory).get();
    }
    bool packed_already = is_bytes_;
    std::int64_t end = 0;
    for (int rank = 0; rank < blocks; ++rank) {
        const std::int64_t elements = buffer.counts.given() ? buffer.counts[rank] : buffer.count;
        const std::int64_t displacement =
            buffer.displacements.given() ? buffer.displacements[rank] : rank * buffer.count;
        const std::int64_t bytes = elements * layout.size;
        packed_already = packed_already && (bytes == 0 || displacement * layout.extent == end);
        blocks_.push_back({memory + displacement * layout.extent, elements, end, bytes});
        end += bytes;
    }
    bytes_ = memory;
    if (!packed_already) stage();
}

void PackedBuffer::stage() {
    const std::int64_t end = blocks_.empty() ? 0 : blocks_.back().offset + blocks_.back().bytes;
    staging_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end));
    bytes_ = staging_.get();
}

void PackedBuffer::detach() {
    if (!staging_) stage();
}

int PackedBuffer::copy(const Block& block, bool pack) {
    if (block.bytes == 0) return MPI_SUCCESS;
    std::byte* const packed = bytes_ + block.offset;
    if (is_bytes_) {
        std::memcpy(pack ? packed : block.memory, pack ? block.memory : packed, static_cast<std::size_t>(block.bytes));
        return MPI_SUCCESS;
    }
    const int size = static_cast<int>(block.bytes);  // fits: larger messages are passed to the library
    const int elements = static_cast<int>(block.elements);
    int position = 0;
    if (pack) return PMPI_Pack(block.memory, elements, type_, packed, size, &position, comm_);
    return PMPI_Unpack(packed, size, &position, block.memory, elements, type_, comm_);
}

int PackedBuffer::copy(std::span<const Block> blocks, bool pack) {
    for (const Block& block : blocks) {
        if (!staging_) break;
        if (const int error = copy(block, pack); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

}  // namespace timpani
