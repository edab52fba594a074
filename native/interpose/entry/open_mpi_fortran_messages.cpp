// Messages as Fortran programs call them on Open MPI. They are passed to Open MPI's Fortran functions, whose arguments
// are all addresses, so handles and statuses need no conversion.

#include "interpose/entry/intercept.hpp"
#include "interpose/entry/open_mpi_fortran.hpp"

namespace {

/// The bytes of a buffer that Fortran's second and third arguments describe.
std::int64_t bytes_of(const void* count, const void* type) {
    const auto elements = *static_cast<const MPI_Fint*>(count);
    return elements > 0 ? elements * timpani::type_bytes(PMPI_Type_f2c(*static_cast<const MPI_Fint*>(type))) : 0;
}

}  // namespace

// Open MPI's functions exist if the program loads its Fortran library.
#define TIMPANI_PASSED(name, words, counted, ...)                           \
    extern void pmpi_##name##_ TIMPANI_WORDS_##words __attribute__((weak)); \
    TIMPANI_FORTRAN(name, words) {                                          \
        timpani::counted(                                                   \
            #name, __VA_ARGS__[&] {                                         \
                pmpi_##name##_ TIMPANI_GIVEN_##words;                       \
                return MPI_SUCCESS;                                         \
            });                                                             \
    }

#pragma GCC visibility push(default)
extern "C" {
#define MESSAGE(Name, name, words, parameters, arguments) \
    TIMPANI_PASSED(name, words, count_messages, timpani::Form::message, [&] { return bytes_of(b, c); }, )
#define COMPLETION(Name, name, words, parameters, arguments) \
    TIMPANI_PASSED(name, words, count_messages, timpani::Form::completion, [] { return std::int64_t{0}; }, )
#define POLL(Name, name, words, parameters, arguments) TIMPANI_PASSED(name, words, count_polls, )
#include "interpose/entry/messages.def"
}  // extern "C"
#pragma GCC visibility pop
