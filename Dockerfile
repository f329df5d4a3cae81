# An image with quipu and gcc:
#
#     docker build -t quipu .
#     docker run --rm -v "$PWD:/work" -w /work quipu quipu cc -O2 -g prog.c -o prog
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential debhelper \
    libzydis-dev libzycore-dev libdw-dev libelf-dev libzstd-dev zlib1g-dev libiberty-dev
COPY . /src
RUN make -C /src deb

FROM debian:12
COPY --from=build /src/build/deb/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ make gdb /tmp/quipu_*.deb && \
    rm -rf /tmp/quipu_*.deb /var/lib/apt/lists/*
