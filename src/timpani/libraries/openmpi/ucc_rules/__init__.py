"""Settings of UCC, the library that Open MPI's `coll/ucc` gives collectives to: `ucc.conf` and `UCC_TL_UCP_TUNE`.

    file    := (NAME = VALUE)* section*
    section := "[" (KEY=RANGE)+ "]" (NAME = VALUE)*         (keys team_size, ppn, nnodes and more; RANGE is N or N-M)
    tune    := UCC_TL_UCP_TUNE = token ("#" token)*
    token   := parts separated by ":", in any order:
               collectives, sizes FIRST-LAST, memory, [TEAM SIZES], score, @ALGORITHM

A section holds for teams that meet all its keys; of several that do, any one may win, since the library keeps them in a
hash table. From `ucc_parser.c`, `ucc_coll_score.c` and the algorithms of TL/UCP of UCC's master branch of August 2026
(8263de4742). Not tried with the library.
"""
