# fish completion for quipu: the words are those of bash's completion.
function __quipu_complete
    set -l quipu (path resolve (command -s quipu))
    set -l words (commandline -opc) (commandline -ct)
    bash (path dirname $quipu)/../share/quipu/complete $words 2>/dev/null
end
complete -c quipu -f -a '(__quipu_complete)'
# fish loads a file by the command's name, so quipu-gcc-12 and the like are links to this one.
set -l names (string match -r '^quipu-.*(?=\.fish$)' (status basename))
for name in $names quipu-cc quipu-c++ quipu-gcc quipu-g++ quipu-clang quipu-clang++ quipu-fortran quipu-gfortran quipu-ada quipu-d
    complete -c $name -a '(__quipu_complete)'
    complete -c $name -n 'string match -q -- "--quipu*=*" (commandline -ct)' -f
end
