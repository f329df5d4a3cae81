#!/bin/bash
# options.sh: bad options and outputs of 'quipu export' give one clear error and status 1.
. "$(dirname "$0")/lib.bash"

build_program counted -O1
run_program counted data 5
expect_error 1 "no such format" "$quipu" export --to=svg data
expect_error 1 "--to=FORMAT" "$quipu" export data
expect_error 1 "gone" "$quipu" export --to=lcov gone
expect_error 1 "no/such/file" "$quipu" export --to=lcov -o no/such/file data
expect_error 1 "no/such/file.gz" "$quipu" export --to=lcov -o no/such/file.gz data
for format in callgrind lcov cobertura gcov-json json; do
    expect_error 1 "No space left" "$quipu" export --to=$format -o /dev/full data
    "$quipu" export --to=$format data >plain
    "$quipu" export --to=$format -o packed.gz data
    zcat packed.gz | cmp - plain || fail "the compressed '$format' export is not the plain one"
    grep -q "^  $format " < <("$quipu" export --help) || fail "the help does not name '$format'"
done
QUIPU_DATA=data "$quipu" export --to=json >plain2
cmp plain plain2 || fail "QUIPU_DATA is not where data is looked for"
for command in export diff merge; do
    expect_error 1 "'--sideways': no such option" "$quipu" $command --sideways
    expect_error 1 "its value is missing" "$quipu" $command $([ $command = diff ] && echo --format || echo -o)
    grep -q "^usage: quipu $command " < <("$quipu" $command --help) || fail "'$command --help' does not help"
done
