# What building and testing needs, nothing of the sources: docker build -t leonardo . && docker run -it -v "$PWD":/src -w /src leonardo make demo
FROM debian:12
COPY tools/setup.sh /tmp/setup.sh
RUN apt-get update && apt-get install -y --no-install-recommends git make ca-certificates && /tmp/setup.sh && rm -rf /var/lib/apt/lists/*
