#include "interpose/replace/move_data.hpp"

#include "interpose/replace/packed_buffer.hpp"

namespace timpani {

namespace {

int blocks_of(const CollectiveBuffers& buffers, int ranks) { return buffers.in_blocks() ? ranks : 1; }

}  // namespace

int move_data(const InterceptedCall& call, const Communicator& communicator, Execution& execution) {
    const RankInComm here = communicator.here();
    const Collective& collective = collective_of(call.kind);
    const BufferArguments& sent = collective.one_buffer() ? call.receive : call.send;
    const bool send_in_place = sends(call, here) && sent.data == MPI_IN_PLACE;
    const bool receive_in_place = receives(call, here) && call.receive.data == MPI_IN_PLACE;
    PackedBuffer from = sends(call, here) && !send_in_place
                            ? PackedBuffer(sent, blocks_of(collective.send, here.ranks), call.comm)
                            : PackedBuffer();
    PackedBuffer to = receives(call, here) && !receive_in_place
                          ? PackedBuffer(call.receive, blocks_of(collective.receive, here.ranks), call.comm)
                          : PackedBuffer();
    if (aliased(call, here)) from.detach();
    int error = from.pack();
    // In place, a rank's contribution lies where its result will be.
    if (send_in_place) error = collective.send.content == Content::pairs ? to.pack() : to.pack(here.rank);
    if (error != MPI_SUCCESS) return error;
    error = execution(send_in_place ? MPI_IN_PLACE : from.bytes(), receive_in_place ? MPI_IN_PLACE : to.bytes());
    return error == MPI_SUCCESS ? to.unpack() : error;
}

}  // namespace timpani
