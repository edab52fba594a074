#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpose/profile/coordinated_sample.hpp"
#include "interpose/profile/sent_messages.hpp"

namespace timpani {

/// How a call uses MPI. For a non-blocking or persistent call, the time is that of this call alone.
enum class Form : std::uint8_t { blocking, non_blocking, persistent, message, completion, setup };
std::string_view name_of(Form form);

/// Properties of a communicator's ranks. `nodes` is 0 if a rank belongs to another program, or has no libtimpani.so.
struct CommunicatorShape {
    bool world = false;           // the ranks of MPI_COMM_WORLD in their order
    bool between_groups = false;  // an intercommunicator
    int ranks = 0;                // both groups together
    int nodes = 0;
    int per_node = 0;           // maximum number of ranks on a node
    std::string_view made{};    // how, as far as MPI records it: `predefined`, or a topology. Static storage
    int stride = 0;             // between the ranks in MPI_COMM_WORLD; 0: none, or it differs
    std::uint64_t members = 0;  // a hash of the ranks in order; 0: unknown, or of further lists than the table keeps

    friend bool operator==(const CommunicatorShape&, const CommunicatorShape&) = default;
};

/// The key by which calls are counted. Texts have static storage. The same text at two addresses gives two rows of the
/// table, but one row in the profile.
struct CallKey {
    std::string_view name{};
    Form form = Form::blocking;
    std::uint32_t shape = 0;  // in the table's list
    int size_class = -1;  // bits of the message's bytes: 0 for empty messages, k for [2^(k−1), 2^k); -1: ranks differ
    bool in_place = false;
    std::string_view reduction{};  // the operator's class
    std::string_view datatype{};   // its class
    std::string_view algorithm{};  // empty: the library's choice
    std::string_view reason{};     // why a rule that matches was not followed
    const void* site = nullptr;    // where the program calls it, if sites are marked

    friend bool operator==(const CallKey& one, const CallKey& two) {
        return one.name.data() == two.name.data() && one.form == two.form && one.shape == two.shape &&
               one.size_class == two.size_class && one.in_place == two.in_place &&
               one.reduction.data() == two.reduction.data() && one.datatype.data() == two.datatype.data() &&
               one.algorithm.data() == two.algorithm.data() && one.reason.data() == two.reason.data() &&
               one.site == two.site;
    }
};

/// A hash of the earlier hash and of `value`: the same on all ranks.
constexpr std::uint64_t hash_with(std::uint64_t before, std::uint64_t value) {
    const std::uint64_t mixed = (before ^ value) * 0x9E3779B97F4A7C15U;
    return mixed ^ (mixed >> 29U);
}

struct CallKeyHash {
    std::size_t operator()(const CallKey& key) const;
};

/// The name of a row of calls whose keys exceed kMaxRows.
inline constexpr std::string_view kFurtherKinds = "further_kinds";

/// Totals of this rank's calls in one row.
struct CallTotals {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::int64_t smallest_bytes = 0;  // of a call
    std::int64_t largest_bytes = 0;
    std::int64_t ns = 0;
    std::int64_t longest_ns = 0;
    std::int64_t root_calls = 0;  // number of calls in which this rank was the root
    int root = 0;                 // this rank's number in the communicator of the last of these
};

/// One call, for the table.
struct CountedCall {
    CallKey key;
    std::int64_t bytes = 0;
    std::int64_t entry_ns = 0;
    std::int64_t ns = 0;
    std::optional<int> root{};  // this rank's number, if it is the root
    std::int64_t calls = 1;     // number of equal calls that it stands for
};

/// Which ranks must enter before a rank can leave a call.
enum class Needs : std::uint8_t { all, root, all_at_root };

/// Calls whose n-th is the same call on every rank: of one collective and size class, among the same ranks.
struct Stratum {
    std::string_view name;
    std::uint32_t shape;
    int size_class;
    Needs needs;
    CoordinatedSample sample{};
    int proven_calls = 0;
    std::optional<ProvenCall> proven{};  // the last of the first few: the first may include the library's set-up
};

/// The size class of a message.
int size_class_of(std::int64_t bytes);

/// This process's calls. Threads may add at the same time.
class CallTable {
  public:
    static constexpr int kProvenCalls = 3;  // of each stratum
    static constexpr std::size_t kLongestCalls = 10;
    /// 350 bytes each. Calls of further keys share a row for each form.
    static constexpr std::size_t kMaxRows = 4096;
    /// Communicators of further lists of ranks are kept without their list, and those of further shapes not at all.
    static constexpr std::size_t kMaxLists = 1024;
    static constexpr std::size_t kMaxShapes = 2 * kMaxLists;
    static constexpr std::size_t kMaxSites = 1024;  // calls from further places have no site
    static constexpr std::size_t kMaxStrata = 256;  // 512 × 40 bytes each; calls of further strata are only counted

    void add(const CountedCall& call);
    /// Adds a call that can be matched with the same call on the other ranks. `proven` has its messages, if they were
    /// counted.
    void add(const CountedCall& call, Needs needs, const ProvenCall* proven = nullptr);
    /// The number of a shape; equal shapes have one number. 0: the table is full, and the shape is not kept.
    std::uint32_t shape_number(CommunicatorShape shape);

    struct Contents {
        std::vector<CommunicatorShape> shapes;
        std::vector<CallKey> keys;
        std::vector<CallTotals> totals;  // one for each key
        std::unordered_map<std::uint64_t, Stratum> strata;
        std::vector<CountedCall> longest;  // the longest blocking collectives, the longest first
        bool several_threads = false;      // that call collectives: their order may differ between ranks
    };
    /// A copy: threads may still add.
    Contents contents();

  private:
    std::uint32_t count(const CountedCall& call);
    std::uint32_t row_of(const CallKey& key);
    /// The row of a new key. Not inlined, so that the lookup before it is.
    [[gnu::noinline]] std::uint32_t add_row(const CallKey& key);
    /// nullptr if there are too many.
    Stratum* stratum_of(const CallKey& key, Needs needs);
    void keep_longest(const CountedCall& call);

    std::mutex mutex_;
    std::unordered_map<CallKey, std::uint32_t, CallKeyHash> rows_;
    std::array<std::uint32_t, 64> recent_{};  // rows of recent calls, by hash: most calls repeat one of few kinds
    std::vector<Stratum*> strata_;            // of each row, once known
    std::unordered_set<const void*> sites_;
    Contents contents_{.shapes = {CommunicatorShape{}}, .keys = {}, .totals = {}, .strata = {}, .longest = {}};
    int threads_ = 0;
    std::int64_t long_ns_ = -1;  // longer calls are among the longest
};

}  // namespace timpani
