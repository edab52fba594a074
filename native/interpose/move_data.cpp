#include "interpose/move_data.hpp"

#include "interpose/wire.hpp"

namespace timpani {

namespace {

int blocks_sent(Kind kind, int ranks) {
    const bool all =
        kind == Kind::scatter || kind == Kind::scatterv || kind == Kind::alltoall || kind == Kind::alltoallv;
    return all ? ranks : 1;
}

int blocks_received(Kind kind, int ranks) {
    return kind == Kind::bcast || kind == Kind::scatter || kind == Kind::scatterv ? 1 : ranks;
}

bool in_pairs(Kind kind) { return kind == Kind::alltoall || kind == Kind::alltoallv; }

}  // namespace

int move_data(const Call& call, const Communicator& communicator, Execution& execution) {
    const Place here = communicator.here();
    const Side& sent = call.kind == Kind::bcast ? call.receive : call.send;
    const bool send_in_place = sends(call, here) && sent.data == MPI_IN_PLACE;
    const bool receive_in_place = receives(call, here) && call.receive.data == MPI_IN_PLACE;
    Wire from;
    Wire to;
    if (sends(call, here) && !send_in_place) from = Wire(sent, blocks_sent(call.kind, here.ranks), communicator.own());
    if (receives(call, here) && !receive_in_place) {
        to = Wire(call.receive, blocks_received(call.kind, here.ranks), communicator.own());
    }
    int error = from.fill();
    // In place, what a rank contributes lies where its result will.
    if (send_in_place) error = in_pairs(call.kind) ? to.fill() : to.fill(here.rank);
    if (error != MPI_SUCCESS) return error;
    error = execution(send_in_place ? MPI_IN_PLACE : from.bytes(), receive_in_place ? MPI_IN_PLACE : to.bytes());
    return error == MPI_SUCCESS ? to.empty() : error;
}

}  // namespace timpani
