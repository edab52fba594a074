"""The rules file of Open MPI's `coll/han`, which on several nodes goes before `coll/tuned`, from 5.0 on.

    file  := NCOLL coll*
    coll  := NAME NLEVELS level*
    level := (intra_node | inter_node | global_communicator) NCONF conf*
    conf  := RANKS NMSG msg*                    (the first RANKS is 1)
    msg   := BYTES COMPONENT [@ALGORITHM]       (the first BYTES is 0; a block's, or the vector's)

At the level `global_communicator` the component `tuned` does the whole call, as the rules of coll/tuned have it, and
`han` does what it does without a file. Read from the source of 5.0.10.

In a lab, by a file that hands broadcasts of 4096 B and more over, 5.0.11 sent 4095 B like its default, 4096 B like the
algorithm of coll/tuned's file, and reductions like its default.
"""
