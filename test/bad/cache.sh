#!/bin/bash
# quipu cache and quipu reuse: files that are missing or something else, lackey files that are cut
# off, shapes that no cache has.
. "$(dirname "$0")/lib.bash"
printf '==7== Lackey\nI  04000a90,3\n L 1ffeffe7e,8\n' >whole
for command in cache reuse; do
    ends 0 quipu $command --from=lackey whole
    refuses "name one trace" "'quipu $command --help'" -- quipu $command
    refuses "name one trace" -- quipu $command --from=lackey whole whole
    refuses "'none'" "No such file" -- quipu $command none
    refuses "'none'" "No such file" -- quipu $command --from=lackey none
    refuses "'whole' is not a trace" "quipu trace" -- quipu $command whole
    refuses "'--from=lacky'" "did you mean 'lackey'?" -- quipu $command --from=lacky whole

    # cut off at each byte behind the first reference
    for size in 28 29 30 31 40 41; do
        head -c $size whole >short
        refuses "'short', line 3" "cut off" "--tool=lackey" -- quipu $command --from=lackey short
    done
    for line in ' L 1ffe' ' S 1ffe,' 'I  ,4' ' M 1ffg,4' ' L 1ffe,4x' ' L 1ffe,0' ' S 1ffe,4097' \
        ' L 12345678123456781,1' ' S ffffffffffffffff,2' ' L 10,99999999999999999999'; do
        printf 'I  04000a90,3\n%s\n' "$line" >wrong
        refuses "'wrong', line 2" -- quipu $command --from=lackey wrong
    done
    echo "no reference" >wrong
    refuses "'wrong' has no references" "--tool=lackey" -- quipu $command --from=lackey wrong
    refuses "'standard input' has no references" -- quipu $command --from=lackey </dev/null
    refuses "cannot write" -- quipu $command --from=lackey -o none/file whole
    refuses "'--format=jsno'" "did you mean 'json'?" -- quipu $command --format=jsno whole
    # no line as long as the buffer is a reference
    { cat whole && head -c 3000000 /dev/zero | tr '\0' x && echo && cat whole; } >long
    ends 0 quipu $command --from=lackey --format=csv long
done
# shapes
for shape in 33K,8,64 32K,7,64 32K,8,48 32K,8,8 32K,8 32K 32K,8,64,1 32K,0,64 0,1,64 -1,1,64 x,8,64 32K,8,64x \
    99999999999999999999,1,64 128G,8,64 1K,32,64 32K,full '' ',,'; do
    for option in --l1i --l1d --l2 --llc; do
        refuses "'$option=$shape'" -- quipu cache --from=lackey $option="$shape" whole
    done
done
refuses "'--l1d=none'" -- quipu cache --from=lackey --l1d=none whole
for shape in 32K,8,64 48K,12,64 1m,full,128 64,1,64; do
    ends 0 quipu cache --from=lackey --l1d=$shape --llc=none --l2=$shape whole
done
# options
refuses "'--by=objekt'" -- quipu cache --by=objekt whole
refuses "'--from=lackey'" "objects" "leave out --by" -- quipu cache --from=lackey --by=object whole
refuses "'--from=lackey'" "leave out --by" -- quipu cache --from=lackey --by=line whole
refuses "'--sort=misess'" -- quipu cache --from=lackey --sort=misess whole
refuses "'--limit=x'" -- quipu cache --limit=x whole
for word in 0 48 8192 64x ''; do
    refuses "'--line=$word'" -- quipu reuse --line="$word" whole
done
refuses "'--window=0'" -- quipu reuse --window=0 whole
refuses "'--to=png'" -- quipu reuse --to=png whole
