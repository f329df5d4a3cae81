#!/bin/bash
# completions.sh: what bash, zsh and fish offer, as installed: commands, options, their values, and the
# names of functions in the data.
. "$(dirname "$0")/../bad/lib.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
make -s -C "$root" B="$QUIPU_BUILD" install PREFIX="$PWD/installed" >log 2>&1 || fail "make install: $(tail -n 3 log)"
export PATH=$PWD/installed/bin:$PATH XDG_DATA_DIRS=$PWD/installed/share HOME=$PWD
printf 'int work(int n) { return n * 3; }\nint main(void) { return work(2) != 6; }\n' >program.c
quipu cc --quipu=count -g program.c -o program && ./program || fail "cannot build"

# offers WORDS WANTED...: these are the only completions of the last word
offers() {
    local line=$1 words
    shift
    printf '%s\n' "$@" | sort >wanted
    IFS=' ' read -r -a words <<<"$line"
    bash installed/share/quipu/complete "${words[@]}" | sort >offered
    cmp -s wanted offered || fail "'$line' offers: $(tr '\n' ' ' <offered)"
    has fish || return 0
    fish -c "complete -C '$line'" | cut -f 1 | sort >offered
    cmp -s wanted offered || fail "fish: '$line' offers: $(tr '\n' ' ' <offered)"
}
offers "quipu exp" export
offers "quipu report --by=f" --by=file --by=function
offers "quipu report --names" --names=
offers "quipu report --function=w" --function=work
offers "quipu diff --to=h" --to=html
offers "quipu-cc --quipu-pl" --quipu-placement=
offers "quipu-c++ --quipu=mo" --quipu=moment
offers "quipu /usr/bin/gcc --quipu=mo" --quipu=moment
for version in installed/bin/quipu-gcc-[0-9]*; do
    [[ -e $version ]] || break
    offers "${version##*/} --quipu-pl" --quipu-placement=
done

# bash-completion loads the file that has the command's name.
for name in quipu-cc quipu-g++ ${version:+"${version##*/}"}; do
    [[ -e installed/bin/$name ]] || continue
    bash --norc -c '. "$1" && complete -p "${1##*/}"' bash "installed/share/bash-completion/completions/$name" >given ||
        fail "bash has nothing for '$name'"
    grep -q "_quipu_cc" given || fail "bash: '$name': $(cat given)"
done
if has fish; then
    touch a_file
    fish -c "complete -C 'quipu-cc --quipu='" | cut -f 1 >offered
    ! grep -q a_file offered && grep -q watch offered || fail "fish, modes: $(cat offered)"
fi
has zsh || exit 0
cat >script <<'END'
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'PS1="> "; fpath=($PWD/installed/share/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D'
sleep 1
zpty -w -n shell $'quipu report --by=fun\t --names=man\t --limit=1 && print finished\n'
for turn in {1..1000}; do
    zpty -r -t shell more && all+=$more
    [[ $all == *finished*finished* ]] && break
    sleep 0.1
done
print -r -- "$all"
END
timeout 120 zsh -f script >terminal
grep -q "by=function.*names=mangled.*limit" terminal || fail "zsh: $(cat -v terminal)"
