"""The rules of Open MPI 6's `coll/tuned` in JSON.

    {"rule_file_version": 3, "module": "tuned", "collectives": {COLLECTIVE: [ENTRY, ...], ...}}
    ENTRY := {"comm_size_min": N, "comm_size_max": N, "comm_rank_distribution": DISTRIBUTION, "rules": [RULE, ...]}
    RULE  := {"msg_size_min": N, "msg_size_max": N, "alg": NAME, "faninout": N, "seg_size": N, "reqs": N}

When a communicator is created, the first ENTRY that fits it is taken; at a call, the first RULE in it. All keys but
`rules` and `alg` may be missing. From `coll_tuned_dynamic_file.c` and `coll_tuned_dynamic_rules.c` of Open MPI's main
branch of August 2026 (8efebee745). Where its schema says something else, the reader decides: the schema calls
`reduce_scatter` `reducescatter`, and knows no `seg_size`.
"""
