! calls: collectives by mpif.h; prints, on rank 0, how many results are wrong.
      program calls
      implicit none
      include 'mpif.h'
      integer, parameter :: n = 500
      integer :: rank, ranks, wrong, total, i, given(n),
     &taken(n), code
      integer, allocatable :: blocks(:), counts(:), places(:)
      integer :: comm
      call MPI_Init(code)
      call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
      call MPI_Comm_rank(comm, rank, code)
      call MPI_Comm_size(comm, ranks, code)
      wrong = 0
      given = [(merge(i, -1, rank == 0), i = 1, n)]
      call MPI_Bcast(given, n, MPI_INTEGER, 0, comm, code)
      wrong = wrong + count(given /= [(i, i = 1, n)]) + code
      taken = given + rank
      call MPI_Allreduce(MPI_IN_PLACE, taken, n, MPI_INTEGER,
     &MPI_SUM, comm, code)
      wrong = wrong + count(taken /= [(i * ranks
     &+ ranks * (ranks - 1) / 2, i = 1, n)])
      allocate (blocks(2 * ranks), counts(ranks), places(ranks))
      blocks = -1
      blocks(2 * rank + 1:2 * rank + 2) = rank
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
     &blocks, 2, MPI_INTEGER, comm, code)
      wrong = wrong + count(blocks /= [((i - 1) / 2, i = 1,
     &2 * ranks)])
      counts = [(mod(i, 3), i = 1, ranks)]
      places = [(2 * (i - 1), i = 1, ranks)]
      given(1:2) = rank
      blocks = -1
      call MPI_Gatherv(given, counts(rank + 1), MPI_INTEGER,
     &blocks, counts, places, MPI_INTEGER, ranks - 1, comm, code)
      if (rank == ranks - 1) then
      do i = 1, ranks
      wrong = wrong + count(blocks(places(i) + 1:places(i)
     &+ counts(i)) /= i - 1)
      end do
      end if
      call MPI_Barrier(comm, code)
      call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0,
     &comm, code)
      if (rank == 0) print '(a,i0)', 'wrong: ', total
      call MPI_Comm_free(comm, code)
      call MPI_Finalize(code)
      end program
