      program messages
      include 'mpif.h'
      double precision values(100), room(100)
      integer rank, other, numbers(10), received(10), requests(2), e
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
      values = 0
      numbers = 0
      call MPI_Init(e)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      other = 1 - rank
      if (rank .eq. 0) then
        call MPI_Send(values, 100, MPI_DOUBLE_PRECISION, other, 1,
     &                MPI_COMM_WORLD, e)
      else
        call MPI_Recv(room, 100, MPI_DOUBLE_PRECISION, other, 1,
     &                MPI_COMM_WORLD, status, e)
      end if
      call MPI_Irecv(received, 10, MPI_INTEGER, other, 2,
     &               MPI_COMM_WORLD, requests(1), e)
      call MPI_Isend(numbers, 10, MPI_INTEGER, other, 2,
     &               MPI_COMM_WORLD, requests(2), e)
      call MPI_Waitall(2, requests, statuses, e)
      call MPI_Sendrecv(values, 1, MPI_DOUBLE_PRECISION, other, 3, room,
     &                  1, MPI_DOUBLE_PRECISION, other, 3,
     &                  MPI_COMM_WORLD, status, e)
      call MPI_Finalize(e)
      end
