# ibidem in a container: built in one stage, run in another, by a user without rights, also with a read-only file system.
#
#   docker build -t ibidem .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD:/data" ibidem find articles.jsonl -o out
#
# docs/operations/containers.md explains the choices; tests/test_container.py runs the steps without Docker.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
# Compiled code is made for a kind of processor, and compiled again on others. `generic` runs on all of them.
ARG CPU=generic
ENV NUMBA_CPU_NAME=${CPU} NUMBA_CPU_FEATURES="" PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/ibidem
RUN /opt/ibidem/bin/pip install '.[web]'
# Beside the sources: found by every user, whether or not the file system can be written.
RUN /opt/ibidem/bin/ibidem warmup

FROM python:${PYTHON}-slim
ARG CPU=generic
ENV NUMBA_CPU_NAME=${CPU} NUMBA_CPU_FEATURES="" PATH=/opt/ibidem/bin:${PATH} PYTHONUNBUFFERED=1
COPY --from=build /opt/ibidem /opt/ibidem
RUN useradd --system --uid 10001 --no-create-home ibidem
USER ibidem
WORKDIR /data
ENTRYPOINT ["ibidem"]
CMD ["--help"]
