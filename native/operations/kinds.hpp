#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "operations/operation.hpp"

namespace timpani {

/// What a kind of an operation is made for: the values of its parameters stand in the order of make_operation's table.
struct Request {
    std::int64_t bytes;
    std::vector<std::int64_t> parameters;
    const Datatype& datatype;
    MPI_Comm comm;
    Controls controls;
};

// One maker a kind. Each throws NotApplicable where the ranks or the size don't admit it.
std::unique_ptr<Operation> make_ping_pong(const Request& request);
std::unique_ptr<Operation> make_bandwidth(const Request& request);
std::unique_ptr<Operation> make_bidirectional(const Request& request);
std::unique_ptr<Operation> make_message_rate(const Request& request);
std::unique_ptr<Operation> make_parametrised_round_trip(const Request& request);
std::unique_ptr<Operation> make_reduce_local(const Request& request);
std::unique_ptr<Operation> make_setup(const Request& request);
std::unique_ptr<Operation> make_column_by_column(const Request& request);
std::unique_ptr<Operation> make_nested_datatype(const Request& request);
std::unique_ptr<Operation> make_packed(const Request& request);
std::unique_ptr<Operation> make_plain_message(const Request& request);
std::unique_ptr<Operation> make_local_copy(const Request& request);
std::unique_ptr<Operation> make_local_memcpy(const Request& request);
std::unique_ptr<Operation> make_transpose_alltoall(const Request& request);
std::unique_ptr<Operation> make_transpose_alltoallv(const Request& request);

}  // namespace timpani
