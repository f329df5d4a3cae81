#!/bin/bash
# ranks.sh: processes that were started by MPI have their rank in the views and exports. Forked
# children keep it, other processes have none.
. "$(dirname "$0")/lib.bash"
needs python3

cat >program.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    clearenv();
    if (argc > 1 && fork() == 0)
        return 0;
    wait(NULL);
    return argc > 5 && argv;
}
END
"$quipu" cc --quipu=count,calls -O1 -g program.c -o program
for name in OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK; do
    rm -rf data
    env "$name=0" QUIPU_DATA=data ./program
    env "$name=12" QUIPU_DATA=data ./program fork
    env "$name=x1" QUIPU_DATA=data ./program x x x
    "$quipu" report --by=process data >report.txt
    for wanted in "rank 0: ./program" "rank 12: ./program fork" " ./program x x x"; do
        grep -qF "$wanted" report.txt || fail "$name: no '$wanted': $(cat report.txt)"
    done
    "$quipu" report --by=process --format=json data >report.json
    "$quipu" export --to=json -o whole.json data
    python3 - <<'END' || fail "$name: $(cat report.json)"
import collections, json
wanted = {0: 1, 12: 2, None: 2}
for name in "report.json", "whole.json":
    found = collections.Counter(process.get("rank") for process in json.load(open(name))["processes"])
    assert found == wanted, found
END
    "$quipu" export --to=speedscope -o roots.json data
    grep -q "program, rank 12, process [0-9]*, thread" roots.json || fail "$name: no rank in a root"
done

has mpicc && has mpirun || exit 0
cat >ring.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100 * rank; i++)
        value += i;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
OMPI_CC="$quipu-cc" MPICH_CC="$quipu-cc" mpicc --quipu=count -O1 -g ring.c -o ring
rm -rf data
QUIPU_DATA=$PWD/data OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    mpirun -n 3 ./ring || fail "mpirun"
"$quipu" report --by=process --sort=-rank --format=csv data >ranks.csv
[ "$(grep -c ring ranks.csv)" = 3 ] || fail "not three processes: $(cat ranks.csv)"
python3 - <<'END' || fail "$(cat ranks.csv)"
import csv
rows = list(csv.DictReader(open("ranks.csv")))
assert [row["rank"] for row in rows] == ["0", "1", "2"]
executed = [int(row["instructions"]) for row in rows]
assert executed[0] + 300 < executed[1] == executed[2] - 400, executed
END
