"""The rules file of Open MPI's `coll/tuned`.

    file  := ["rule-file-version-N"] NCOLL coll*
    coll  := COLLID NCOMM comm*
    comm  := COMSIZE NMSG msg*
    msg   := MSGSIZE ALG TOPO SEGSIZE [MAXREQ]      (MAXREQ in version 2)

Of the COMSIZEs the last that is no larger than the communicator holds, the first where all are larger; of its MSGSIZEs
likewise. ALG 0 leaves the choice to the library. Read from the sources of 4.1.4, 4.1.8 and 5.0.7 to 5.0.10.
"""
