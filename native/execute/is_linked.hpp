#pragma once

namespace timpani {

/// Whether the library has a function. Carried programs are linked weakly with those that the oldest library lacks.
template <typename Result, typename... Arguments>
[[nodiscard]] bool is_linked(Result (*function)(Arguments...)) {
    return function != nullptr;
}

}  // namespace timpani
