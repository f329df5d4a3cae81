# fish completion for quipu: the words are those of bash's completion.
function __quipu_complete
    set -l quipu (path resolve (command -s quipu))
    set -l words (commandline -opc) (commandline -ct)
    bash (path dirname $quipu)/../share/quipu/complete $words 2>/dev/null
end
complete -c quipu -f -a '(__quipu_complete)'
for name in quipu-cc quipu-c++ quipu-gcc quipu-g++ quipu-clang quipu-clang++ quipu-fortran quipu-gfortran quipu-ada quipu-d
    complete -c $name -a '(__quipu_complete)'
end
