"""The rules files of Open MPI."""
